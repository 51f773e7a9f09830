#include "estimator/c/tensors.h"

#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "estimator/c/status.h"

struct tandem_tensors {
  std::vector<std::pair<std::string, tandem::HostTensor>> tensors;
};

namespace tandem::c {
namespace {

// The types of tandem_dtype have the numbers of DType.
static_assert(static_cast<int>(DType::kFloat32) == TANDEM_FLOAT32 && static_cast<int>(DType::kBool) == TANDEM_BOOL);

bool IsType(int32_t dtype) { return dtype >= TANDEM_FLOAT32 && dtype <= TANDEM_BOOL; }

tandem_tensor View(const std::pair<std::string, HostTensor>& named) {
  const auto& [name, value] = named;
  tandem_tensor tensor = Describe(name, value.dtype(), value.shape());
  tensor.data = value.raw();
  tensor.bytes = static_cast<size_t>(value.byte_size());
  return tensor;
}

// Returns the bytes of a tensor; nothing if its sizes are negative or too large for memory.
std::optional<size_t> BytesOf(const tandem_tensor& tensor) {
  size_t bytes = tandem_dtype_size(tensor.dtype);
  for (int32_t i = 0; i < tensor.rank; ++i) {
    if (tensor.shape[i] < 0 || __builtin_mul_overflow(bytes, static_cast<size_t>(tensor.shape[i]), &bytes)) {
      return std::nullopt;
    }
  }
  return bytes;
}

}  // namespace

tandem_tensor Describe(const std::string& name, DType dtype, const Shape& shape) {
  const auto number = static_cast<int32_t>(dtype);
  return {name.c_str(), IsType(number) ? number : 0, static_cast<int32_t>(shape.size()), shape.data(), nullptr, 0};
}

absl::StatusOr<HostTensor> ToHostTensor(const char* function, const tandem_tensor& tensor) {
  constexpr int kMaxRank = 64;
  TD_RETURN_IF_ERROR(CheckNotNull(function, "the name of an input", tensor.name));
  const auto wrong = [&](auto... what) {
    return absl::InvalidArgumentError(absl::StrCat(function, ": input \"", PrintableLine(tensor.name), "\" ", what...));
  };
  if (!IsType(tensor.dtype)) return wrong("has dtype ", tensor.dtype, ", which is none of tandem_dtype");
  if (tensor.rank < 0 || tensor.rank > kMaxRank) return wrong("has rank ", tensor.rank);
  if (tensor.rank > 0 && tensor.shape == nullptr) return wrong("has no shape");
  Shape shape(tensor.shape, tensor.shape + tensor.rank);
  const std::optional<size_t> bytes = BytesOf(tensor);
  if (!bytes.has_value()) return wrong("has the impossible shape ", ShapeString(shape));
  if (tensor.bytes != *bytes) {
    return wrong("has ", tensor.bytes, " bytes, and ", tandem_dtype_name(tensor.dtype), ShapeString(shape), " has ",
                 *bytes);
  }
  if (tensor.bytes > 0 && tensor.data == nullptr) return wrong("has no data");
  HostTensor value(static_cast<DType>(tensor.dtype), std::move(shape));
  TD_RETURN_IF_ERROR(value.status());
  if (tensor.bytes > 0) std::memcpy(value.raw(), tensor.data, tensor.bytes);
  return value;
}

tandem_tensors* TensorsHandle(NamedTensors tensors) {
  auto handle = std::make_unique<tandem_tensors>();
  for (auto& [name, value] : tensors) handle->tensors.emplace_back(name, std::move(value));
  return handle.release();
}

}  // namespace tandem::c

extern "C" {

size_t tandem_dtype_size(int32_t dtype) {
  return tandem::c::IsType(dtype) ? static_cast<size_t>(tandem::SizeOf(static_cast<tandem::DType>(dtype))) : 0;
}

const char* tandem_dtype_name(int32_t dtype) {
  // The names are literals, which end with a zero byte.
  return tandem::c::IsType(dtype) ? tandem::Name(static_cast<tandem::DType>(dtype)).data() : "";
}

size_t tandem_tensors_size(const tandem_tensors* tensors) { return tensors == nullptr ? 0 : tensors->tensors.size(); }

tandem_status* tandem_tensors_get(const tandem_tensors* tensors, size_t index, tandem_tensor* tensor) {
  return tandem::c::Guarded(__func__, [&, function = __func__]() -> absl::Status {
    TD_RETURN_IF_ERROR(tandem::c::CheckNotNull(function, "tensor", tensor));
    TD_RETURN_IF_ERROR(tandem::c::CheckIndex(function, "tensors", index, tandem_tensors_size(tensors)));
    *tensor = tandem::c::View(tensors->tensors[index]);
    return absl::OkStatus();
  });
}

tandem_status* tandem_tensors_find(const tandem_tensors* tensors, const char* name, tandem_tensor* tensor) {
  return tandem::c::Guarded(__func__, [&, function = __func__]() -> absl::Status {
    TD_RETURN_IF_ERROR(tandem::c::CheckNotNull(function, "tensors", tensors));
    TD_RETURN_IF_ERROR(tandem::c::CheckNotNull(function, "name", name));
    TD_RETURN_IF_ERROR(tandem::c::CheckNotNull(function, "tensor", tensor));
    for (const auto& named : tensors->tensors) {
      if (named.first != name) continue;
      *tensor = tandem::c::View(named);
      return absl::OkStatus();
    }
    const auto append = [](std::string* out, const auto& named) { absl::StrAppend(out, named.first); };
    return absl::NotFoundError(absl::StrCat("there is no tensor \"", tandem::PrintableLine(name), "\"; there are ",
                                            absl::StrJoin(tensors->tensors, ", ", append)));
  });
}

void tandem_tensors_free(tandem_tensors* tensors) { delete tensors; }

}  // extern "C"

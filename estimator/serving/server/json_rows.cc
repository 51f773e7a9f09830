#include "estimator/serving/server/json_rows.h"

#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/count_text.h"
#include "base/status_macros.h"

namespace tandem::serving {

JsonRows::JsonRows(const TensorSignature& signature)
    : signature_(signature),
      row_shape_(signature.shape.begin() + 1, signature.shape.end()),
      row_bytes_(NumElements(row_shape_) * SizeOf(signature.dtype)),
      index_(row_shape_.size()) {}

absl::Status JsonRows::ReadRows(absl::string_view where, JsonReader* json) {
  if (!json->Take('[')) return json->Unexpected(where, "a list of rows");
  if (json->Take(']')) return absl::OkStatus();
  do {
    TD_RETURN_IF_ERROR(ReadRow(absl::StrCat(where, "[", rows_, "]"), json));
  } while (json->Take(','));
  return json->Take(']') ? absl::OkStatus() : json->Unexpected(where, "\",\" or \"]\"");
}

absl::Status JsonRows::ReadRow(absl::string_view where, JsonReader* json) {
  where_ = where;
  TD_RETURN_IF_ERROR(ReadRowOfDType(json));
  ++rows_;
  return absl::OkStatus();
}

absl::Status JsonRows::ReadRowOfDType(JsonReader* json) {
  switch (signature_.dtype) {
    case DType::kFloat32:
      return ReadRowOf<float>(json);
    case DType::kFloat64:
      return ReadRowOf<double>(json);
    case DType::kInt32:
      return ReadRowOf<int32_t>(json);
    case DType::kInt64:
      return ReadRowOf<int64_t>(json);
    case DType::kUInt8:
      return ReadRowOf<uint8_t>(json);
    case DType::kBool:
      return ReadRowOf<bool>(json);
    default:
      break;
  }
  return absl::UnimplementedError(
      absl::StrCat("input \"", signature_.name, "\" is ", Name(signature_.dtype), ", which JSON has no form for"));
}

template <typename T>
absl::Status JsonRows::ReadRowOf(JsonReader* json) {
  const size_t begin = bytes_.size();
  bytes_.resize(begin + static_cast<size_t>(row_bytes_));
  T* next = reinterpret_cast<T*>(bytes_.data() + begin);
  return ReadValues(0, json, &next);
}

template <typename T>
absl::Status JsonRows::ReadValues(size_t dimension, JsonReader* json, T** next) {
  if (dimension == row_shape_.size()) {
    if (!json->ReadValue(*next)) return json->Unexpected(Place(dimension), Name(signature_.dtype));
    ++*next;
    return absl::OkStatus();
  }
  const int64_t size = row_shape_[dimension];
  const auto wanted = [&] { return absl::StrCat("a list of ", CountText(size, "value")); };
  if (!json->Take('[')) return json->Unexpected(Place(dimension), wanted());
  for (int64_t& i = index_[dimension] = 0; i < size; ++i) {
    if (i > 0 && !json->Take(',')) {
      return json->Unexpected(Place(dimension), absl::StrCat("\",\" and the next of ", CountText(size, "value")));
    }
    if (i == 0 && json->Peek() == ']') return json->Unexpected(Place(dimension), wanted());
    TD_RETURN_IF_ERROR(ReadValues(dimension + 1, json, next));
  }
  if (json->Take(']')) return absl::OkStatus();
  return json->Unexpected(Place(dimension), absl::StrCat("the end of ", wanted()));
}

std::string JsonRows::Place(size_t dimension) const {
  std::string place(where_);
  for (size_t i = 0; i < dimension; ++i) absl::StrAppend(&place, "[", index_[i], "]");
  return place;
}

HostTensor JsonRows::Tensor() const {
  Shape shape = signature_.shape;
  shape[0] = rows_;
  HostTensor tensor(signature_.dtype, std::move(shape));
  if (!bytes_.empty()) std::memcpy(tensor.raw(), bytes_.data(), bytes_.size());
  return tensor;
}

}  // namespace tandem::serving

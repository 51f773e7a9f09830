#include "runtime/library_calls/operation.h"

#include "absl/strings/str_cat.h"
#include "base/dtype.h"

namespace tandem {
namespace {

constexpr int64_t kMaxElements = int64_t{1} << 40;

}  // namespace

void LibraryOperands::AddInput(const std::vector<int64_t>& shape, DType type) {
  inputs.push_back(shape);
  input_types.push_back(type);
}

void LibraryOperands::AddWeights(const std::vector<int64_t>& shape, DType type, bool packed) {
  packed ? AddInput({}, DType::kInvalid) : AddInput(shape, type);
}

void LibraryOperands::AddOutput(const std::vector<int64_t>& shape, DType type) {
  outputs.push_back(shape);
  output_types.push_back(type);
}

int64_t CheckedElements(const std::vector<int64_t>& shape) {
  int64_t n = 1;
  for (int64_t d : shape) {
    if (d < 0 || (d > 0 && n > kMaxElements / d)) return -1;
    n *= d;
  }
  return n;
}

absl::Status BadOperation(absl::string_view what) { return absl::InvalidArgumentError(what); }

bool IsPositive(const std::vector<int64_t>& shape) {
  for (int64_t d : shape) {
    if (d <= 0) return false;
  }
  return CheckedElements(shape) > 0;
}

bool IsLibraryType(DType type) { return type == DType::kFloat32 || type == DType::kBFloat16; }

absl::Status CheckTypes(DType a, DType b, DType result) {
  for (DType type : {a, b, result}) {
    if (!IsLibraryType(type)) return BadOperation("types must be Float32 or BFloat16");
  }
  if (a != b) return BadOperation("both operands must have one type");
  if (result == DType::kFloat32 || result == a) return absl::OkStatus();
  return BadOperation("the result must have the operands' type or Float32");
}

absl::Status CheckActivation(format::Activation activation) {
  return Known(activation) ? absl::OkStatus() : BadOperation("unknown activation");
}

absl::Status CannotMultiply(const std::vector<int64_t>& a, const std::vector<int64_t>& b,
                            const std::vector<int64_t>& y) {
  return BadOperation(
      absl::StrCat("cannot multiply ", ShapeString(a), " by ", ShapeString(b), " into ", ShapeString(y)));
}

std::string TensorText(absl::string_view name, const std::vector<int64_t>& shape, DType type) {
  return absl::StrCat(" ", name, "=", ShapeString(shape), " ", Name(type));
}

std::string FlagText(absl::string_view name, bool flag) { return flag ? absl::StrCat(" ", name) : ""; }

double Product(const std::vector<int64_t>& sizes) {
  double product = 1;
  for (int64_t size : sizes) product *= static_cast<double>(size);
  return product;
}

double ProductFlops(const std::vector<int64_t>& a, const std::vector<int64_t>& y) {
  return y.empty() ? 0 : 2 * Product(a) * static_cast<double>(y.back());
}

}  // namespace tandem

// The library operation BatchMatMul: checks and properties of products of many pairs of matrices.
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "runtime/library_calls/operation.h"

namespace tandem {
namespace {

// Checks that the leading dimensions are equal, at least one, and that the matrices fit.
absl::Status CheckShapes(const format::BatchMatMul& c) {
  const size_t rank = c.a_shape.size();
  if (!IsPositive(c.a_shape) || !IsPositive(c.b_shape) || !IsPositive(c.y_shape) || rank < 3 ||
      c.b_shape.size() != rank || c.y_shape.size() != rank) {
    return BadOperation("a_shape, b_shape and y_shape must have equally many positive sizes, at least 3");
  }
  if (rank < 4 && (c.swap_a || c.swap_b || c.swap_y)) return BadOperation("swapped operands need 4 sizes");
  const auto stored = [&](std::vector<int64_t> shape, bool swap, bool transpose) {
    if (swap) std::swap(shape[rank - 3], shape[rank - 2]);
    if (transpose) std::swap(shape[rank - 2], shape[rank - 1]);
    return shape;
  };
  std::vector<int64_t> a = stored(c.a_shape, c.swap_a, c.transpose_a);
  std::vector<int64_t> b = stored(c.b_shape, c.swap_b, c.transpose_b);
  const std::vector<int64_t> y = stored(c.y_shape, c.swap_y, false);
  if (a[rank - 1] != b[rank - 2]) return CannotMultiply(c.a_shape, c.b_shape, c.y_shape);
  a[rank - 1] = b[rank - 1];
  b[rank - 2] = a[rank - 2];
  return a == y && b == y ? absl::OkStatus() : CannotMultiply(c.a_shape, c.b_shape, c.y_shape);
}

}  // namespace

OperationInfo InfoOf(const format::BatchMatMul& c) {
  OperationInfo info;
  info.name = "BatchMatMul";
  info.flops = ProductFlops(c.a_shape, c.y_shape);
  info.weights_shape = c.b_shape;
  info.weights_dtype = c.b_dtype;
  return info;
}

std::string TextOf(const format::BatchMatMul& c) {
  return absl::StrCat("BatchMatMul", TensorText("a", c.a_shape, c.a_dtype), TensorText("b", c.b_shape, c.b_dtype),
                      TensorText("y", c.y_shape, c.y_dtype), FlagText("transpose_a", c.transpose_a),
                      FlagText("transpose_b", c.transpose_b), FlagText("swap_a", c.swap_a),
                      FlagText("swap_b", c.swap_b), FlagText("swap_y", c.swap_y));
}

absl::StatusOr<LibraryOperands> CheckOperation(const format::BatchMatMul& c) {
  TD_RETURN_IF_ERROR(CheckShapes(c));
  TD_RETURN_IF_ERROR(CheckTypes(c.a_dtype, c.b_dtype, c.y_dtype));
  LibraryOperands operands;
  operands.AddInput(c.a_shape, c.a_dtype);
  operands.AddInput(c.b_shape, c.b_dtype);
  operands.AddOutput(c.y_shape, c.y_dtype);
  return operands;
}

}  // namespace tandem

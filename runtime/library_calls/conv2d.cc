#include "runtime/library_calls/conv2d.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/dtype.h"
#include "base/status_macros.h"
#include "runtime/library_calls/operation.h"

namespace tandem {
namespace {

using format::Direction;

constexpr int64_t kMaxStride = int64_t{1} << 40;

bool IsPositive4(const std::vector<int64_t>& shape) { return shape.size() == 4 && IsPositive(shape); }

absl::Status CheckShapes(const format::Conv2D& c) {
  if (!IsPositive4(c.x_shape)) return BadOperation("x_shape must have 4 positive sizes (NHWC)");
  if (!IsPositive4(c.kernel_shape)) return BadOperation("kernel_shape must have 4 positive sizes (HWIO)");
  if (!IsPositive4(c.y_shape)) return BadOperation("y_shape must have 4 positive sizes (NHWC)");
  if (c.strides.size() != 2 || c.pad_low.size() != 2 || c.pad_high.size() != 2) {
    return BadOperation("strides, pad_low and pad_high must have 2 sizes");
  }
  if (c.x_shape[0] != c.y_shape[0] || c.x_shape[3] % c.kernel_shape[2] != 0 || c.y_shape[3] != c.kernel_shape[3]) {
    return BadOperation("batch or channels of x, kernel and y differ");
  }
  if (c.kernel_shape[3] % Groups(c) != 0) {
    return BadOperation("the output's channels are no multiple of the number of groups");
  }
  for (int i = 0; i < 2; ++i) {
    const int64_t k = c.kernel_shape[i];
    if (c.strides[i] < 1 || c.strides[i] > kMaxStride) return BadOperation("strides must be positive");
    if (c.pad_low[i] < 0 || c.pad_low[i] >= k || c.pad_high[i] < 0 || c.pad_high[i] >= k) {
      return BadOperation("pads must be in [0, kernel size)");
    }
    const int64_t room = c.x_shape[i + 1] + c.pad_low[i] + c.pad_high[i] - k;
    if (room < 0 || room / c.strides[i] + 1 != c.y_shape[i + 1]) {
      return BadOperation(absl::StrCat("y_shape[", i + 1, "] is not what x, kernel, strides and pads give"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckEpilogue(const format::Conv2D& c) {
  const format::Epilogue& e = c.epilogue;
  TD_RETURN_IF_ERROR(CheckActivation(e.activation));
  if (e.empty()) return absl::OkStatus();
  if (c.direction != Direction::kForward) return BadOperation("only Conv2D and MatMul take an epilogue");
  return e.is_forward() ? absl::OkStatus() : BadOperation("only MatMul of plain matrices takes this epilogue");
}

}  // namespace

int64_t Groups(const format::Conv2D& c) { return c.x_shape[3] / c.kernel_shape[2]; }

bool IsPointwise(const format::Conv2D& c) { return c.kernel_shape[0] == 1 && c.kernel_shape[1] == 1 && Groups(c) == 1; }

bool IsDensePointwise(const format::Conv2D& c) {
  const std::vector<int64_t> one = {1, 1}, none = {0, 0};
  return IsPointwise(c) && c.strides == one && c.pad_low == none && c.pad_high == none;
}

bool IsStridedPointwise(const format::Conv2D& c) {
  if (!IsPointwise(c) || c.pad_low[0] != 0 || c.pad_low[1] != 0) return false;
  return std::max(c.strides[0], c.strides[1]) > 1 && (c.y_shape[1] - 1) * c.strides[0] < c.x_shape[1] &&
         (c.y_shape[2] - 1) * c.strides[1] < c.x_shape[2];
}

format::Conv2D DensePointwise(const format::Conv2D& conv) {
  format::Conv2D dense = conv;
  dense.x_shape[1] = conv.y_shape[1];
  dense.x_shape[2] = conv.y_shape[2];
  dense.strides = {1, 1};
  dense.pad_high = {0, 0};
  return dense;
}

DType OperandType(const format::Conv2D& c) { return c.direction == Direction::kInputGrad ? c.y_dtype : c.x_dtype; }

DType ResultType(const format::Conv2D& c) {
  if (c.direction == Direction::kForward) return c.y_dtype;
  return c.direction == Direction::kInputGrad ? c.x_dtype : c.kernel_dtype;
}

OperationInfo InfoOf(const format::Conv2D& c) {
  OperationInfo info;
  const std::string direction = c.direction == Direction::kForward ? "" : format::Name(c.direction);
  info.name = "Conv2D" + direction;
  if (!c.kernel_shape.empty()) {
    info.flops = 2 * Product(c.y_shape) * Product(c.kernel_shape) / static_cast<double>(c.kernel_shape.back());
  }
  info.epilogue = c.epilogue;
  info.reduces_batch = c.direction == Direction::kFilterGrad;
  info.weights_shape = c.kernel_shape;
  info.weights_dtype = c.kernel_dtype;
  info.packed = c.packed;
  return info;
}

std::string TextOf(const format::Conv2D& c) {
  return absl::StrCat(InfoOf(c).name, TensorText("x", c.x_shape, c.x_dtype),
                      TensorText("kernel", c.kernel_shape, c.kernel_dtype), TensorText("y", c.y_shape, c.y_dtype),
                      " strides=", ShapeString(c.strides), " pads=", ShapeString(c.pad_low), ShapeString(c.pad_high),
                      FlagText(c.epilogue.Text(), !c.epilogue.empty()), FlagText("packed", c.packed));
}

absl::StatusOr<LibraryOperands> CheckOperation(const format::Conv2D& c) {
  if (!Known(c.direction)) return BadOperation("unknown direction");
  TD_RETURN_IF_ERROR(CheckShapes(c));
  const bool filter_grad = c.direction == Direction::kFilterGrad;
  TD_RETURN_IF_ERROR(CheckTypes(OperandType(c), filter_grad ? c.y_dtype : c.kernel_dtype, ResultType(c)));
  TD_RETURN_IF_ERROR(CheckEpilogue(c));
  LibraryOperands operands;
  if (filter_grad) {
    if (c.packed) return BadOperation("a filter gradient is HWIO and cannot be packed");
    operands.AddInput(c.x_shape, c.x_dtype);
    operands.AddInput(c.y_shape, c.y_dtype);
    operands.AddOutput(c.kernel_shape, c.kernel_dtype);
    return operands;
  }
  const bool forward = c.direction == Direction::kForward;
  operands.AddInput(forward ? c.x_shape : c.y_shape, OperandType(c));
  operands.AddWeights(c.kernel_shape, c.kernel_dtype, c.packed);
  operands.AddOutput(forward ? c.y_shape : c.x_shape, ResultType(c));
  if (c.epilogue.bias) operands.AddInput({c.y_shape[3]}, DType::kFloat32);
  if (c.epilogue.residual) operands.AddInput(c.y_shape, c.y_dtype);
  return operands;
}

}  // namespace tandem

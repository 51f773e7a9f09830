#include "runtime/library_calls/matmul.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "runtime/library_calls/operation.h"

namespace tandem {
namespace {

bool IsMatrix(const std::vector<int64_t>& shape) { return shape.size() >= 2 && IsPositive(shape); }

absl::Status DoNotFit(const format::MatMul& c) { return CannotMultiply(c.a_shape, c.b_shape, c.y_shape); }

// Checks shapes of more than two dimensions, of which all but the last are rows. The rows are those of a and y, or with
// transpose_a those of a and b, over which the product sums.
absl::Status CheckRows(const format::MatMul& c) {
  std::vector<int64_t> rows(c.a_shape.begin(), c.a_shape.end() - 1), y = rows;
  if (c.transpose_a) {
    const std::vector<int64_t> other(c.b_shape.begin(), c.b_shape.end() - 1);
    if (c.transpose_b || rows != other) return DoNotFit(c);
    y = {c.a_shape.back(), c.b_shape.back()};
  } else {
    if (c.b_shape.size() != 2 || c.b_shape[c.transpose_b ? 1 : 0] != c.a_shape.back()) return DoNotFit(c);
    y.push_back(c.b_shape[c.transpose_b ? 0 : 1]);
  }
  return c.y_shape == y ? absl::OkStatus() : DoNotFit(c);
}

absl::Status CheckShapes(const format::MatMul& c) {
  if (!IsMatrix(c.a_shape) || !IsMatrix(c.b_shape) || !IsMatrix(c.y_shape)) {
    return BadOperation("a_shape, b_shape and y_shape must have 2 or more positive sizes");
  }
  if (c.a_shape.size() > 2 || c.b_shape.size() > 2) return CheckRows(c);
  const int64_t m = c.a_shape[c.transpose_a ? 1 : 0], k = c.a_shape[c.transpose_a ? 0 : 1];
  const int64_t kb = c.b_shape[c.transpose_b ? 1 : 0], n = c.b_shape[c.transpose_b ? 0 : 1];
  return k == kb && c.y_shape == std::vector<int64_t>{m, n} ? absl::OkStatus() : DoNotFit(c);
}

bool GoTogether(const format::Epilogue& e) {
  const bool activates = e.activation != format::Activation::kNone;
  const bool sums_operands = e.sums == format::Summed::kA || e.sums == format::Summed::kB;
  if (e.gradient) return activates && !e.bias && !e.saves && !sums_operands;
  if (e.sums != format::Summed::kNone) return sums_operands && !e.bias && !activates && !e.saves;
  return activates || !e.saves;
}

// Checks the epilogue. With more parts than a bias, a residual and a relu, all operands must have one type, and sums
// are only of float32.
absl::Status CheckEpilogue(const format::MatMul& c) {
  const format::Epilogue& e = c.epilogue;
  TD_RETURN_IF_ERROR(CheckActivation(e.activation));
  if (!Known(e.sums)) return BadOperation("unknown sums of an epilogue");
  if (e.residual && (!e.is_forward() || c.reduces_batch)) {
    return BadOperation("only Conv2D and MatMul of a batch add a residual, with no more than a bias and a relu");
  }
  if (e.is_forward()) return absl::OkStatus();
  if (!GoTogether(e)) {
    return BadOperation(absl::StrCat("the parts of the epilogue ", e.Text(), " do not go together"));
  }
  if (c.packed) return BadOperation("only MatMul of plain matrices takes this epilogue");
  if (c.a_dtype != c.y_dtype) return BadOperation("with this epilogue the result must have the operands' type");
  if (e.sums != format::Summed::kNone && c.a_dtype != DType::kFloat32) {
    return BadOperation("only float32 is summed up by an epilogue");
  }
  if ((e.sums == format::Summed::kA || e.sums == format::Summed::kB) && (!c.transpose_a || c.transpose_b)) {
    return BadOperation("operands are summed up only where a is transposed and b is not");
  }
  if (e.gelu() && (e.saves || e.gradient) && c.y_shape.back() % 8 != 0) {
    return BadOperation("the input of GELU needs rows of a multiple of 8 elements");
  }
  return absl::OkStatus();
}

void AddEpilogueOperands(const format::MatMul& c, LibraryOperands& operands) {
  const format::Epilogue& e = c.epilogue;
  const std::vector<int64_t> saved = e.relu() ? ReluMaskShape(c.y_shape) : c.y_shape;
  const DType saved_type = e.relu() ? DType::kUInt8 : c.y_dtype;
  if (e.bias) operands.AddInput({c.y_shape.back()}, DType::kFloat32);
  if (e.gradient) operands.AddInput(saved, saved_type);
  if (e.saves) operands.AddOutput(saved, saved_type);
  if (e.sums == format::Summed::kY || e.sums == format::Summed::kB)
    operands.AddOutput({c.y_shape.back()}, DType::kFloat32);
  if (e.sums == format::Summed::kA) operands.AddOutput({c.a_shape.back()}, DType::kFloat32);
  if (e.residual) operands.AddInput(c.y_shape, c.y_dtype);
}

}  // namespace

int64_t RowsOf(const std::vector<int64_t>& shape) {
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < shape.size(); ++i) rows *= shape[i];
  return rows;
}

std::vector<int64_t> ReluMaskShape(const std::vector<int64_t>& y_shape) {
  std::vector<int64_t> shape = y_shape;
  shape.back() = (shape.back() + 127) / 128 * 16;
  return shape;
}

OperationInfo InfoOf(const format::MatMul& c) {
  OperationInfo info;
  info.name = "MatMul";
  info.flops = ProductFlops(c.a_shape, c.y_shape);
  info.epilogue = c.epilogue;
  info.reduces_batch = c.reduces_batch;
  info.weights_shape = c.b_shape;
  info.weights_dtype = c.b_dtype;
  info.packed = c.packed;
  return info;
}

std::string TextOf(const format::MatMul& c) {
  return absl::StrCat("MatMul", TensorText("a", c.a_shape, c.a_dtype), TensorText("b", c.b_shape, c.b_dtype),
                      TensorText("y", c.y_shape, c.y_dtype), FlagText(c.epilogue.Text(), !c.epilogue.empty()),
                      FlagText("transpose_a", c.transpose_a), FlagText("transpose_b", c.transpose_b),
                      FlagText("packed", c.packed), FlagText("reduces_batch", c.reduces_batch));
}

absl::StatusOr<LibraryOperands> CheckOperation(const format::MatMul& c) {
  TD_RETURN_IF_ERROR(CheckShapes(c));
  TD_RETURN_IF_ERROR(CheckTypes(c.a_dtype, c.b_dtype, c.y_dtype));
  TD_RETURN_IF_ERROR(CheckEpilogue(c));
  LibraryOperands operands;
  operands.AddInput(c.a_shape, c.a_dtype);
  operands.AddWeights(c.b_shape, c.b_dtype, c.packed);
  operands.AddOutput(c.y_shape, c.y_dtype);
  AddEpilogueOperands(c, operands);
  return operands;
}

}  // namespace tandem

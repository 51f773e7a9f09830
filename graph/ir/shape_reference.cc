// Evaluates the ops that move elements, for the reference interpreter.
#include <algorithm>

#include "graph/ir/reference_util.h"
#include "graph/ir/shape.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace tandem::td {

using Operands = absl::Span<const RefTensor* const>;
using Results = std::vector<RefTensor>;

namespace {

// Sets results[0] to the elements of operands[0] at index map(result index); `map` writes the operand's index.
template <typename F>
absl::Status MoveElements(mlir::Value result, Operands operands, const RefContext& context, Results& results, F map) {
  RefTensor r = MakeResult(result.getType(), context.batch);
  const RefTensor& x = *operands[0];
  Shape strides = Strides(x.shape), at(x.shape.size());
  ForEachIndex(r.shape, [&](const Shape& index, int64_t i) {
    map(index, at);
    int64_t k = 0;
    for (size_t d = 0; d < at.size(); ++d) k += at[d] * strides[d];
    r.values[i] = x.values[k];
  });
  results[0] = std::move(r);
  return absl::OkStatus();
}

}  // namespace

absl::Status ConstantOp::evaluate(Operands, const RefContext& context, Results& results) {
  RefTensor r = MakeResult(getOutput().getType(), context.batch);
  auto elements = mlir::dyn_cast<mlir::DenseElementsAttr>(getValue());
  if (!elements) return absl::UnimplementedError("td.constant: only dense constants are supported");
  size_t i = 0;
  if (mlir::isa<mlir::FloatType>(elements.getElementType())) {
    for (const llvm::APFloat& v : elements.getValues<llvm::APFloat>()) {
      llvm::APFloat d = v;
      bool lost = false;
      d.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lost);
      r.values[i++] = d.convertToDouble();
    }
  } else {
    bool is_unsigned = elements.getElementType().isUnsignedInteger() || elements.getElementType().isInteger(1);
    for (const llvm::APInt& v : elements.getValues<llvm::APInt>())
      r.values[i++] = is_unsigned ? static_cast<double>(v.getZExtValue()) : static_cast<double>(v.getSExtValue());
  }
  results[0] = std::move(r);
  return absl::OkStatus();
}

absl::Status IotaOp::evaluate(Operands, const RefContext& context, Results& results) {
  RefTensor r = MakeResult(getOutput().getType(), context.batch);
  int64_t axis = getAxis();
  int64_t offset = axis == 0 && IsBatched(getOutput().getType()) ? context.row_offset : 0;
  ForEachIndex(r.shape,
               [&](const Shape& index, int64_t i) { r.values[i] = static_cast<double>(index[axis] + offset); });
  results[0] = std::move(r);
  return absl::OkStatus();
}

absl::Status BroadcastOp::evaluate(Operands operands, const RefContext& context, Results& results) {
  llvm::ArrayRef<int64_t> dims = getDims();
  return MoveElements(getOutput(), operands, context, results, [&](const Shape& index, Shape& at) {
    for (size_t d = 0; d < at.size(); ++d) at[d] = index[dims[d]];
  });
}

absl::Status ReshapeOp::evaluate(Operands operands, const RefContext& context, Results& results) {
  RefTensor r = MakeResult(getOutput().getType(), context.batch);
  r.values = operands[0]->values;
  results[0] = std::move(r);
  return absl::OkStatus();
}

absl::Status TransposeOp::evaluate(Operands operands, const RefContext& context, Results& results) {
  llvm::ArrayRef<int64_t> permutation = getPermutation();
  return MoveElements(getOutput(), operands, context, results, [&](const Shape& index, Shape& at) {
    for (size_t d = 0; d < at.size(); ++d) at[permutation[d]] = index[d];
  });
}

absl::Status SliceOp::evaluate(Operands operands, const RefContext& context, Results& results) {
  llvm::ArrayRef<int64_t> begin = getBegin();
  return MoveElements(getOutput(), operands, context, results, [&](const Shape& index, Shape& at) {
    for (size_t d = 0; d < at.size(); ++d) at[d] = index[d] + begin[d];
  });
}

absl::Status PadOp::evaluate(Operands operands, const RefContext& context, Results& results) {
  RefTensor r = MakeResult(getOutput().getType(), context.batch);
  const RefTensor& x = *operands[0];
  std::fill(r.values.begin(), r.values.end(), getValue().convertToDouble());
  Shape strides = Strides(r.shape);
  llvm::ArrayRef<int64_t> low = getLow();
  ForEachIndex(x.shape, [&](const Shape& index, int64_t i) {
    int64_t k = 0;
    for (size_t d = 0; d < index.size(); ++d) k += (index[d] + low[d]) * strides[d];
    r.values[k] = x.values[i];
  });
  results[0] = std::move(r);
  return absl::OkStatus();
}

absl::Status ConcatOp::evaluate(Operands operands, const RefContext& context, Results& results) {
  RefTensor r = MakeResult(getOutput().getType(), context.batch);
  Shape strides = Strides(r.shape);
  int64_t axis = getAxis(), offset = 0;
  for (const RefTensor* x : operands) {
    ForEachIndex(x->shape, [&](const Shape& index, int64_t i) {
      int64_t k = offset * strides[axis];
      for (size_t d = 0; d < index.size(); ++d) k += index[d] * strides[d];
      r.values[k] = x->values[i];
    });
    offset += x->shape[axis];
  }
  results[0] = std::move(r);
  return absl::OkStatus();
}

absl::Status OneHotOp::evaluate(Operands operands, const RefContext& context, Results& results) {
  RefTensor r = MakeResult(getOutput().getType(), context.batch);
  int64_t depth = r.shape.back();
  for (size_t i = 0; i < operands[0]->values.size(); ++i) {
    double k = operands[0]->values[i];
    if (k >= 0 && k < static_cast<double>(depth)) r.values[i * depth + static_cast<int64_t>(k)] = 1;
  }
  results[0] = std::move(r);
  return absl::OkStatus();
}

}  // namespace tandem::td

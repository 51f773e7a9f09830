// td.batch_matmul, products of matrices in batches: types, reference semantics and gradient.
#include "graph/ir/build.h"
#include "graph/ir/contract.h"
#include "graph/ir/message.h"
#include "graph/ir/reference_util.h"

namespace tandem::td {

using mlir::emitOptionalError;
using mlir::RankedTensorType;
using mlir::Value;
using mlir::ValueRange;

namespace {

using Dims = llvm::SmallVector<int64_t>;

// With `swap`, converts a shape between [..., rows, h, columns] and [..., h, rows, columns].
Dims Swapped(llvm::ArrayRef<int64_t> shape, bool swap) {
  Dims dims(shape);
  if (swap) std::swap(dims[dims.size() - 3], dims[dims.size() - 2]);
  return dims;
}

// Reads or writes a stored tensor, perhaps transposed or swapped, as a list of matrices.
struct View {
  View(const Shape& stored, bool swap, bool transpose) {
    size_t r = stored.size();
    Shape strides = Strides(stored);
    heads = stored[swap ? r - 2 : r - 3];
    rows = stored[swap ? r - 3 : r - 2];
    columns = stored[r - 1];
    batches = NumElements(absl::MakeConstSpan(stored).first(r - 3));
    batch_stride = heads * rows * columns;
    head_stride = strides[swap ? r - 2 : r - 3];
    row_stride = strides[swap ? r - 3 : r - 2];
    if (transpose) {
      std::swap(rows, columns);
      std::swap(row_stride, column_stride);
    }
  }
  int64_t At(int64_t batch, int64_t head, int64_t row, int64_t column) const {
    return batch * batch_stride + head * head_stride + row * row_stride + column * column_stride;
  }
  int64_t batches, heads, rows, columns;
  int64_t batch_stride, head_stride, row_stride, column_stride = 1;
};

}  // namespace

llvm::LogicalResult BatchMatMulOp::inferReturnTypes(mlir::MLIRContext*, std::optional<mlir::Location> loc,
                                                    ValueRange operands, mlir::DictionaryAttr,
                                                    mlir::OpaqueProperties properties, mlir::RegionRange,
                                                    llvm::SmallVectorImpl<mlir::Type>& types) {
  auto* p = properties.as<Properties*>();
  auto is_set = [](mlir::BoolAttr attr) { return attr && attr.getValue(); };
  const bool ta = is_set(p->transpose_a), tb = is_set(p->transpose_b);
  const bool swaps[] = {is_set(p->swap_a), is_set(p->swap_b)}, swap_output = is_set(p->swap_output);
  RankedTensorType a = TypeOf(operands[0]), b = TypeOf(operands[1]);
  const int64_t rank = a.getRank();
  if (rank < 3 || b.getRank() != rank) {
    return emitOptionalError(loc, "operands ", Str(operands[0]), " and ", Str(operands[1]),
                             " need the same leading dimensions, at least one, before their matrices");
  }
  if (a.getElementType() != b.getElementType()) {
    return emitOptionalError(loc, "operands must have one element type, not ", a.getElementType(), " and ",
                             b.getElementType(), "; cast one of them");
  }
  if (rank < 4 && (swaps[0] || swaps[1] || swap_output)) {
    return emitOptionalError(loc, "has no leading dimension besides the first of ", Str(operands[0]), " to swap");
  }
  Dims x = Swapped(a.getShape(), swaps[0]), y = Swapped(b.getShape(), swaps[1]);
  if (llvm::ArrayRef(x).drop_back(2) != llvm::ArrayRef(y).drop_back(2)) {
    return emitOptionalError(loc, "leading dimensions of ", Str(operands[0]), swaps[0] ? " (swapped)" : "", " and ",
                             Str(operands[1]), swaps[1] ? " (swapped)" : "", " differ");
  }
  if (ta) std::swap(x[rank - 2], x[rank - 1]);
  if (tb) std::swap(y[rank - 2], y[rank - 1]);
  if (x[rank - 1] != y[rank - 2]) {
    return emitOptionalError(loc, "inner sizes of ", Str(operands[0]), ta ? " (transposed)" : "", " and ",
                             Str(operands[1]), tb ? " (transposed)" : "", " differ");
  }
  x[rank - 1] = y[rank - 1];
  types.push_back(RankedTensorType::get(Swapped(x, swap_output), a.getElementType()));
  return mlir::success();
}

PrecisionRule BatchMatMulOp::getPrecisionRule() { return PrecisionRule::kAllow; }

BatchRule BatchMatMulOp::getBatchRule() { return BatchRule::kPerExample; }

int64_t BatchMatMulOp::getFlops() {
  RankedTensorType a = TypeOf(getA());
  int64_t inner = getTransposeA() ? Swapped(a.getShape(), getSwapA())[a.getRank() - 2] : a.getShape().back();
  return 2 * RowElements(getType()) * inner;
}

absl::Status BatchMatMulOp::evaluate(absl::Span<const RefTensor* const> operands, const RefContext& context,
                                     std::vector<RefTensor>& results) {
  const RefTensor &a = *operands[0], &b = *operands[1];
  RefTensor r = MakeResult(getType(), context.batch);
  View x(a.shape, getSwapA(), getTransposeA()), y(b.shape, getSwapB(), getTransposeB());
  View z(r.shape, getSwapOutput(), false);
  for (int64_t n = 0; n < z.batches; ++n) {
    for (int64_t h = 0; h < z.heads; ++h) {
      for (int64_t i = 0; i < z.rows; ++i) {
        for (int64_t j = 0; j < z.columns; ++j) {
          double sum = 0;
          for (int64_t k = 0; k < x.columns; ++k) sum += a.values[x.At(n, h, i, k)] * b.values[y.At(n, h, k, j)];
          r.values[z.At(n, h, i, j)] = sum;
        }
      }
    }
  }
  results[0] = std::move(r);
  return absl::OkStatus();
}

LibraryCallSpec BatchMatMulOp::getLibraryCallSpec() {
  LibraryCallSpec spec{LibraryPrimitive::kBatchMatMul};
  spec.x = getA();
  spec.kernel = getB();
  spec.y = getResult();
  spec.transpose_a = getTransposeA();
  spec.transpose_b = getTransposeB();
  spec.swap_x = getSwapA();
  spec.swap_kernel = getSwapB();
  spec.swap_y = getSwapOutput();
  return spec;
}

// dA = dY B^T and dB = A^T dY, each transposed as its operand is stored; swapped tensors have swapped gradients.
llvm::LogicalResult BatchMatMulOp::buildGradient(mlir::OpBuilder& builder, ValueRange result_grads,
                                                 llvm::SmallVectorImpl<Value>& operand_grads) {
  struct Factor {
    Value value;
    bool swap;
  };
  auto multiply = [&](Factor x, Factor y, bool tx, bool ty, bool swap_output) -> Value {
    return builder.create<BatchMatMulOp>(getLoc(), x.value, y.value, tx, ty, x.swap, y.swap, swap_output).getResult();
  };
  Factor a = {getA(), getSwapA()}, b = {getB(), getSwapB()}, dy = {result_grads[0], getSwapOutput()};
  const bool ta = getTransposeA(), tb = getTransposeB();
  operand_grads[0] = ta ? multiply(b, dy, tb, true, a.swap) : multiply(dy, b, false, !tb, a.swap);
  operand_grads[1] = tb ? multiply(dy, a, true, ta, b.swap) : multiply(a, dy, !ta, false, b.swap);
  return mlir::success();
}

}  // namespace tandem::td

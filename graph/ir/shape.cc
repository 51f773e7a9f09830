// Types, folding and gradients of the ops that move elements.
#include "graph/ir/shape.h"

#include "base/dtype.h"
#include "graph/ir/build.h"
#include "graph/ir/message.h"
#include "mlir/IR/PatternMatch.h"

#define GET_OP_CLASSES
#include "graph/ir/shape.cc.inc"

namespace tandem::td {

using mlir::emitOptionalError;
using mlir::failure;
using mlir::OpFoldResult;
using mlir::RankedTensorType;
using mlir::success;
using mlir::Value;

void TdDialect::registerShapeOps() {
  addOperations<
#define GET_OP_LIST
#include "graph/ir/shape.cc.inc"
      >();
}

namespace {

llvm::LogicalResult CheckSameElementType(mlir::Operation* op, RankedTensorType from, RankedTensorType to) {
  if (from.getElementType() == to.getElementType()) return success();
  return op->emitOpError() << "changes the element type from " << from.getElementType() << " to " << to.getElementType()
                           << ", which only td.cast does";
}

}  // namespace

// td.constant

llvm::LogicalResult ConstantOp::inferReturnTypes(mlir::MLIRContext*, std::optional<mlir::Location>, mlir::ValueRange,
                                                 mlir::DictionaryAttr attributes, mlir::OpaqueProperties properties,
                                                 mlir::RegionRange, llvm::SmallVectorImpl<mlir::Type>& types) {
  types.push_back(properties.as<Properties*>()->value.getType());
  return success();
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

// td.iota

llvm::LogicalResult IotaOp::verify() {
  int64_t rank = TypeOf(getOutput()).getRank();
  if (getAxis() < 0 || getAxis() >= rank)
    return emitOpError() << "axis " << getAxis() << " is not a dimension of " << Str(getOutput().getType());
  return success();
}

// td.broadcast

llvm::LogicalResult BroadcastOp::verify() {
  RankedTensorType from = TypeOf(getInput()), to = TypeOf(getOutput());
  if (failed(CheckSameElementType(*this, from, to))) return failure();
  llvm::ArrayRef<int64_t> dims = getDims();
  if (static_cast<int64_t>(dims.size()) != from.getRank())
    return emitOpError() << "dims " << Str(dims) << " need one entry per dimension of the operand " << Str(from);
  for (int64_t i = 0; i < from.getRank(); ++i) {
    if (dims[i] < (i == 0 ? 0 : dims[i - 1] + 1) || dims[i] >= to.getRank())
      return emitOpError() << "dims " << Str(dims) << " must increase and name dimensions of " << Str(to);
    if (from.getDimSize(i) != to.getDimSize(dims[i]))
      return emitOpError() << "dimension " << i << " of " << Str(from) << " differs from dimension " << dims[i]
                           << " of " << Str(to);
  }
  return success();
}

OpFoldResult BroadcastOp::fold(FoldAdaptor) {
  return getInput().getType() == getOutput().getType() ? getInput() : OpFoldResult();
}

// broadcast(broadcast(x)) is one broadcast.
static llvm::LogicalResult MergeBroadcasts(BroadcastOp op, mlir::PatternRewriter& rewriter) {
  auto inner = op.getInput().getDefiningOp<BroadcastOp>();
  if (!inner) return failure();
  llvm::SmallVector<int64_t> dims;
  for (int64_t d : inner.getDims()) dims.push_back(op.getDims()[d]);
  rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), inner.getInput(), dims);
  return success();
}

void BroadcastOp::getCanonicalizationPatterns(mlir::RewritePatternSet& patterns, mlir::MLIRContext*) {
  patterns.add(MergeBroadcasts);
}

llvm::LogicalResult BroadcastOp::buildGradient(mlir::OpBuilder& b, mlir::ValueRange grads,
                                               llvm::SmallVectorImpl<Value>& operand_grads) {
  operand_grads[0] = BuildSumTo(b, getLoc(), grads[0], getDims(), getInput());
  return success();
}

// td.reshape

llvm::LogicalResult ReshapeOp::verify() {
  RankedTensorType from = TypeOf(getInput()), to = TypeOf(getOutput());
  if (failed(CheckSameElementType(*this, from, to))) return failure();
  if (IsBatched(from) != IsBatched(to))
    return emitOpError() << "from " << Str(from) << " to " << Str(to) << " does not keep the batch as dimension 0";
  int64_t n = 1, m = 1;
  for (int64_t d : from.getShape()) n *= mlir::ShapedType::isDynamic(d) ? 1 : d;
  for (int64_t d : to.getShape()) m *= mlir::ShapedType::isDynamic(d) ? 1 : d;
  if (n != m)
    return emitOpError() << "from " << Str(from) << " to " << Str(to) << " changes the number of elements (" << n
                         << " to " << m << (IsBatched(from) ? " per example)" : ")")
                         << "; choose sizes whose product is " << n;
  return success();
}

// A reshape to the operand's own type folds to the operand; of consecutive reshapes only the last is kept.
OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  if (getInput().getType() == getOutput().getType()) return getInput();
  if (auto inner = getInput().getDefiningOp<ReshapeOp>()) {
    setOperand(inner.getInput());
    return getResult();
  }
  return {};
}

llvm::LogicalResult ReshapeOp::buildGradient(mlir::OpBuilder& b, mlir::ValueRange grads,
                                             llvm::SmallVectorImpl<Value>& operand_grads) {
  operand_grads[0] = BuildReshape(b, getLoc(), grads[0], getInput().getType());
  return success();
}

// td.transpose

llvm::LogicalResult TransposeOp::inferReturnTypes(mlir::MLIRContext*, std::optional<mlir::Location> loc,
                                                  mlir::ValueRange operands, mlir::DictionaryAttr,
                                                  mlir::OpaqueProperties properties, mlir::RegionRange,
                                                  llvm::SmallVectorImpl<mlir::Type>& types) {
  RankedTensorType from = TypeOf(operands[0]);
  llvm::ArrayRef<int64_t> perm = properties.as<Properties*>()->permutation.asArrayRef();
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<bool> seen(from.getRank());
  for (int64_t p : perm) {
    if (p < 0 || p >= from.getRank() || seen[p])
      return emitOptionalError(loc, Str(perm), " is not a permutation of the dimensions of ", Str(from));
    seen[p] = true;
    shape.push_back(from.getDimSize(p));
  }
  if (static_cast<int64_t>(perm.size()) != from.getRank())
    return emitOptionalError(loc, Str(perm), " is not a permutation of the dimensions of ", Str(from));
  if (IsBatched(from) && perm[0] != 0)
    return emitOptionalError(loc, "permutation ", Str(perm), " moves the batch of ", Str(from), " from dimension 0");
  types.push_back(from.clone(shape));
  return success();
}

// Merges two consecutive transposes; removes the identity.
OpFoldResult TransposeOp::fold(FoldAdaptor) {
  llvm::SmallVector<int64_t> perm(getPermutation());
  if (auto inner = getInput().getDefiningOp<TransposeOp>()) {
    for (int64_t& p : perm) p = inner.getPermutation()[p];
    setOperand(inner.getInput());
    setPermutation(perm);
    return getResult();
  }
  for (size_t i = 0; i < perm.size(); ++i) {
    if (perm[i] != static_cast<int64_t>(i)) return {};
  }
  return getInput();
}

llvm::LogicalResult TransposeOp::buildGradient(mlir::OpBuilder& b, mlir::ValueRange grads,
                                               llvm::SmallVectorImpl<Value>& operand_grads) {
  llvm::SmallVector<int64_t> inverse(getPermutation().size());
  for (size_t i = 0; i < inverse.size(); ++i) inverse[getPermutation()[i]] = static_cast<int64_t>(i);
  operand_grads[0] = BuildTranspose(b, getLoc(), grads[0], inverse);
  return success();
}

// td.slice

llvm::LogicalResult SliceOp::inferReturnTypes(mlir::MLIRContext*, std::optional<mlir::Location> loc,
                                              mlir::ValueRange operands, mlir::DictionaryAttr,
                                              mlir::OpaqueProperties properties, mlir::RegionRange,
                                              llvm::SmallVectorImpl<mlir::Type>& types) {
  RankedTensorType from = TypeOf(operands[0]);
  llvm::ArrayRef<int64_t> begin = properties.as<Properties*>()->begin.asArrayRef();
  llvm::ArrayRef<int64_t> size = properties.as<Properties*>()->size.asArrayRef();
  int64_t rank = from.getRank();
  if (static_cast<int64_t>(begin.size()) != rank || static_cast<int64_t>(size.size()) != rank)
    return emitOptionalError(loc, "begin ", Str(begin), " and size ", Str(size), " need one entry per dimension of ",
                             Str(from));
  llvm::SmallVector<int64_t> shape;
  for (int64_t i = 0; i < rank; ++i) {
    if (from.isDynamicDim(i)) {
      if (begin[i] != 0 || size[i] != -1)
        return emitOptionalError(loc, "cannot cut the batch of ", Str(from), ": dimension 0 needs begin 0 and size -1");
      shape.push_back(from.getDimSize(i));
      continue;
    }
    int64_t dim = from.getDimSize(i);
    int64_t n = size[i] == -1 ? dim - begin[i] : size[i];
    if (begin[i] < 0 || begin[i] > dim || n < 1 || n > dim - begin[i])
      return emitOptionalError(loc, "begin ", Str(begin), " and size ", Str(size), " in dimension ", i,
                               " are outside of ", Str(from));
    shape.push_back(n);
  }
  types.push_back(from.clone(shape));
  return success();
}

OpFoldResult SliceOp::fold(FoldAdaptor) {
  return getInput().getType() == getOutput().getType() ? getInput() : OpFoldResult();
}

llvm::LogicalResult SliceOp::buildGradient(mlir::OpBuilder& b, mlir::ValueRange grads,
                                           llvm::SmallVectorImpl<Value>& operand_grads) {
  RankedTensorType from = TypeOf(getInput()), to = TypeOf(getOutput());
  llvm::SmallVector<int64_t> low(getBegin()), high;
  for (int64_t i = 0; i < from.getRank(); ++i)
    high.push_back(from.isDynamicDim(i) ? 0 : from.getDimSize(i) - low[i] - to.getDimSize(i));
  operand_grads[0] = b.create<PadOp>(getLoc(), from, grads[0], low, high, llvm::APFloat(0.0));
  return success();
}

// td.pad

llvm::LogicalResult PadOp::inferReturnTypes(mlir::MLIRContext*, std::optional<mlir::Location> loc,
                                            mlir::ValueRange operands, mlir::DictionaryAttr,
                                            mlir::OpaqueProperties properties, mlir::RegionRange,
                                            llvm::SmallVectorImpl<mlir::Type>& types) {
  RankedTensorType from = TypeOf(operands[0]);
  llvm::ArrayRef<int64_t> low = properties.as<Properties*>()->low.asArrayRef();
  llvm::ArrayRef<int64_t> high = properties.as<Properties*>()->high.asArrayRef();
  int64_t rank = from.getRank();
  if (static_cast<int64_t>(low.size()) != rank || static_cast<int64_t>(high.size()) != rank)
    return emitOptionalError(loc, "low ", Str(low), " and high ", Str(high), " need one entry per dimension of ",
                             Str(from));
  llvm::SmallVector<int64_t> shape(from.getShape());
  for (int64_t i = 0; i < rank; ++i) {
    if (low[i] < 0 || high[i] < 0)
      return emitOptionalError(loc, "low ", Str(low), " and high ", Str(high), " must not be negative");
    if (from.isDynamicDim(i)) {
      if (low[i] != 0 || high[i] != 0)
        return emitOptionalError(loc, "cannot pad the batch of ", Str(from), ": dimension 0 needs low 0 and high 0");
    } else {
      shape[i] += low[i] + high[i];
    }
  }
  types.push_back(from.clone(shape));
  return success();
}

OpFoldResult PadOp::fold(FoldAdaptor) {
  return getInput().getType() == getOutput().getType() ? getInput() : OpFoldResult();
}

llvm::LogicalResult PadOp::buildGradient(mlir::OpBuilder& b, mlir::ValueRange grads,
                                         llvm::SmallVectorImpl<Value>& operand_grads) {
  RankedTensorType from = TypeOf(getInput());
  llvm::SmallVector<int64_t> size;
  for (int64_t d : from.getShape()) size.push_back(mlir::ShapedType::isDynamic(d) ? -1 : d);
  operand_grads[0] = b.create<SliceOp>(getLoc(), from, grads[0], getLow(), size);
  return success();
}

// td.concat

llvm::LogicalResult ConcatOp::inferReturnTypes(mlir::MLIRContext*, std::optional<mlir::Location> loc,
                                               mlir::ValueRange operands, mlir::DictionaryAttr,
                                               mlir::OpaqueProperties properties, mlir::RegionRange,
                                               llvm::SmallVectorImpl<mlir::Type>& types) {
  if (operands.empty()) return emitOptionalError(loc, "needs at least one operand");
  RankedTensorType first = TypeOf(operands[0]);
  int64_t axis = properties.as<Properties*>()->axis.getInt();
  if (axis < 0 || axis >= first.getRank())
    return emitOptionalError(loc, "axis ", axis, " is not a dimension of ", Str(first));
  if (first.isDynamicDim(axis)) return emitOptionalError(loc, "cannot concatenate along the batch of ", Str(first));
  llvm::SmallVector<int64_t> shape(first.getShape());
  for (auto [number, value] : llvm::enumerate(operands.drop_front())) {
    RankedTensorType t = TypeOf(value);
    const bool same_type = t.getElementType() == first.getElementType(), same_rank = t.getRank() == first.getRank();
    bool same = same_type && same_rank;
    for (int64_t i = 0; same && i < t.getRank(); ++i) same = i == axis || t.getDimSize(i) == first.getDimSize(i);
    if (!same) {
      return emitOptionalError(loc, "operand ", number + 1, ", of shape ", Str(t),
                               ", must have the dtype of operand 0, ", Str(first),
                               ", and its size in all dimensions but ", axis, "; ",
                               !same_type   ? "Cast"
                               : !same_rank ? "Reshape"
                                            : "Pad or Slice",
                               " one of them");
    }
    shape[axis] += t.getDimSize(axis);
  }
  types.push_back(first.clone(shape));
  return success();
}

OpFoldResult ConcatOp::fold(FoldAdaptor) { return getInputs().size() == 1 ? getInputs()[0] : OpFoldResult(); }

llvm::LogicalResult ConcatOp::buildGradient(mlir::OpBuilder& b, mlir::ValueRange grads,
                                            llvm::SmallVectorImpl<Value>& operand_grads) {
  int64_t axis = getAxis(), offset = 0;
  for (auto [i, input] : llvm::enumerate(getInputs())) {
    RankedTensorType t = TypeOf(input);
    llvm::SmallVector<int64_t> begin(t.getRank()), size;
    for (int64_t d : t.getShape()) size.push_back(mlir::ShapedType::isDynamic(d) ? -1 : d);
    begin[axis] = offset;
    offset += t.getDimSize(axis);
    operand_grads[i] = b.create<SliceOp>(getLoc(), t, grads[0], begin, size);
  }
  return success();
}

// td.one_hot

llvm::LogicalResult OneHotOp::verify() {
  RankedTensorType from = TypeOf(getIndices()), to = TypeOf(getOutput());
  if (to.getRank() != from.getRank() + 1 || to.getShape().drop_back() != from.getShape() ||
      to.isDynamicDim(to.getRank() - 1))
    return emitOpError() << "from " << Str(from) << " to " << Str(to) << " must add one last static dimension";
  return success();
}

}  // namespace tandem::td

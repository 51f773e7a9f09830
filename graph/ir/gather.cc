#include "graph/ir/gather.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "graph/ir/build.h"
#include "graph/ir/message.h"
#include "graph/ir/reference_util.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

#define GET_OP_CLASSES
#include "graph/ir/gather.cc.inc"

namespace tandem::td {

using mlir::emitOptionalError;
using mlir::RankedTensorType;
using mlir::success;
using mlir::Value;
namespace arith = mlir::arith;

void TdDialect::registerGatherOps() {
  addOperations<
#define GET_OP_LIST
#include "graph/ir/gather.cc.inc"
      >();
}

llvm::LogicalResult GatherOp::inferReturnTypes(mlir::MLIRContext*, std::optional<mlir::Location> loc,
                                               mlir::ValueRange operands, mlir::DictionaryAttr, mlir::OpaqueProperties,
                                               mlir::RegionRange, llvm::SmallVectorImpl<mlir::Type>& types) {
  RankedTensorType params = TypeOf(operands[0]), indices = TypeOf(operands[1]);
  if (params.getRank() < 1) return emitOptionalError(loc, "params ", Str(params), " need at least one dimension");
  if (IsBatched(params)) return emitOptionalError(loc, "params ", Str(params), " must not be batched: rows would mix");
  llvm::SmallVector<int64_t> shape(indices.getShape());
  llvm::append_range(shape, params.getShape().drop_front());
  types.push_back(params.clone(shape));
  return success();
}

BatchRule GatherOp::getBatchRule() { return BatchRule::kPerExample; }
FusionKind GatherOp::getFusionKind() { return FusionKind::kInjective; }

absl::Status GatherOp::evaluate(absl::Span<const RefTensor* const> operands, const RefContext& context,
                                std::vector<RefTensor>& results) {
  RefTensor r = MakeResult(getOutput().getType(), context.batch);
  const RefTensor &params = *operands[0], &indices = *operands[1];
  int64_t rows = params.shape[0];
  int64_t width = rows == 0 ? 0 : static_cast<int64_t>(params.values.size()) / rows;
  for (size_t i = 0; i < indices.values.size(); ++i) {
    double k = indices.values[i];
    if (!(k >= 0 && k < static_cast<double>(rows)))
      return absl::OutOfRangeError(absl::StrCat("gather: index ", k, " is outside of the ", rows, " rows of params"));
    std::copy_n(params.values.begin() + static_cast<int64_t>(k) * width, width, r.values.begin() + i * width);
  }
  results[0] = std::move(r);
  return absl::OkStatus();
}

llvm::LogicalResult GatherOp::buildGradient(mlir::OpBuilder& b, mlir::ValueRange grads,
                                            llvm::SmallVectorImpl<Value>& operand_grads) {
  operand_grads[0] = b.create<ScatterAddOp>(getLoc(), getParams().getType(), grads[0], getIndices());
  return success();
}

Value GatherOp::emitElement(ElementalContext& c, unsigned, mlir::ValueRange indices) {
  mlir::OpBuilder& b = c.builder();
  int64_t n = TypeOf(getIndices()).getRank();
  const int64_t rows = TypeOf(getParams()).getDimSize(0);
  Value k = c.Operand(1, indices.take_front(n));
  Value row = b.create<arith::IndexCastOp>(c.loc(), b.getIndexType(), k);
  Value last = b.create<arith::ConstantIndexOp>(c.loc(), rows - 1);
  row = b.create<arith::MaxSIOp>(c.loc(), row, Value(b.create<arith::ConstantIndexOp>(c.loc(), 0)));
  row = b.create<arith::MinSIOp>(c.loc(), row, last);
  llvm::SmallVector<Value> at = {row};
  llvm::append_range(at, indices.drop_front(n));
  Value element = c.Operand(0, at);
  auto type = mlir::dyn_cast<mlir::FloatType>(element.getType());
  if (!type) return element;
  // As unsigned numbers, negative indices are larger than any valid one, so one comparison checks both bounds.
  const auto bits = llvm::cast<mlir::IntegerType>(k.getType()).getWidth();
  Value end = b.create<arith::ConstantIntOp>(c.loc(), std::min(rows, llvm::maxIntN(bits)), k.getType());
  Value inside = b.create<arith::CmpIOp>(c.loc(), arith::CmpIPredicate::ult, k, end);
  Value none = b.create<arith::ConstantFloatOp>(c.loc(), llvm::APFloat::getQNaN(type.getFloatSemantics()), type);
  return b.create<arith::SelectOp>(c.loc(), inside, element, none);
}

llvm::LogicalResult ScatterAddOp::verify() {
  RankedTensorType updates = TypeOf(getUpdates()), indices = TypeOf(getIndices()), to = TypeOf(getOutput());
  llvm::SmallVector<int64_t> shape(indices.getShape());
  if (to.getRank() > 0) llvm::append_range(shape, to.getShape().drop_front());
  if (to.getRank() == 0 || IsBatched(to) || updates.getShape() != llvm::ArrayRef(shape))
    return emitOpError() << "updates " << Str(updates) << " do not fit indices " << Str(indices) << " and result "
                         << Str(to);
  return success();
}

BatchRule ScatterAddOp::getBatchRule() { return BatchRule::kScatter; }

absl::Status ScatterAddOp::evaluate(absl::Span<const RefTensor* const> operands, const RefContext& context,
                                    std::vector<RefTensor>& results) {
  RefTensor r = MakeResult(getOutput().getType(), context.batch);
  int64_t rows = r.shape[0];
  int64_t width = rows == 0 ? 0 : static_cast<int64_t>(r.values.size()) / rows;
  for (size_t i = 0; i < operands[1]->values.size(); ++i) {
    double k = operands[1]->values[i];
    if (!(k >= 0 && k < static_cast<double>(rows))) continue;
    for (int64_t j = 0; j < width; ++j)
      r.values[static_cast<int64_t>(k) * width + j] += operands[0]->values[i * width + j];
  }
  results[0] = std::move(r);
  return absl::OkStatus();
}

llvm::LogicalResult ScatterAddOp::buildGradient(mlir::OpBuilder& b, mlir::ValueRange grads,
                                                llvm::SmallVectorImpl<Value>& operand_grads) {
  operand_grads[0] = b.create<GatherOp>(getLoc(), grads[0], getIndices());
  return success();
}

}  // namespace tandem::td

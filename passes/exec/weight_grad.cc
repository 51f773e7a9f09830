// exec.weight_grad and exec.conv2d_weight_grad: types and reference semantics, which are td.matmul's and
// td.conv2d_filter_grad's.
#include "passes/exec/weight_grad.h"

#include "passes/exec/algorithm.h"

#define GET_OP_CLASSES
#include "passes/exec/weight_grad.cc.inc"

namespace tandem::exec {

using td::BatchRule;
using td::Conv2DFilterGradOp;
using td::MatMulOp;
using td::RefContext;
using td::RefTensor;
using td::RowElements;
using td::TypeOf;

void ExecDialect::registerWeightGradOps() {
  addOperations<
#define GET_OP_LIST
#include "passes/exec/weight_grad.cc.inc"
      >();
}

llvm::LogicalResult WeightGradOp::inferReturnTypes(mlir::MLIRContext* context, std::optional<mlir::Location> loc,
                                                   mlir::ValueRange operands, mlir::DictionaryAttr attributes,
                                                   mlir::OpaqueProperties, mlir::RegionRange regions,
                                                   llvm::SmallVectorImpl<mlir::Type>& types) {
  MatMulOp::Properties product;
  product.transpose_a = mlir::BoolAttr::get(context, true);
  product.f32_result = mlir::UnitAttr::get(context);
  return MatMulOp::inferReturnTypes(context, loc, operands, attributes, &product, regions, types);
}

BatchRule WeightGradOp::getBatchRule() { return BatchRule::kScatter; }

// Returns the operations for one row of the batch, as the other contractions do.
int64_t WeightGradOp::getFlops() { return 2 * RowElements(getX().getType()) * TypeOf(getDy()).getShape().back(); }

absl::Status WeightGradOp::evaluate(absl::Span<const RefTensor* const> operands, const RefContext& context,
                                    std::vector<RefTensor>& results) {
  return EvaluateAs<MatMulOp>(*this, operands, context, results, getX(), getDy(), /*transpose_a=*/true,
                              /*transpose_b=*/false, /*f32_result=*/true);
}

llvm::LogicalResult Conv2DWeightGradOp::inferReturnTypes(mlir::MLIRContext* context, std::optional<mlir::Location> loc,
                                                         mlir::ValueRange operands, mlir::DictionaryAttr attributes,
                                                         mlir::OpaqueProperties properties, mlir::RegionRange regions,
                                                         llvm::SmallVectorImpl<mlir::Type>& types) {
  Conv2DFilterGradOp::Properties q = FilterGradProperties(*properties.as<Properties*>());
  q.f32_result = mlir::UnitAttr::get(context);
  return Conv2DFilterGradOp::inferReturnTypes(context, loc, operands, attributes, &q, regions, types);
}

BatchRule Conv2DWeightGradOp::getBatchRule() { return BatchRule::kScatter; }

int64_t Conv2DWeightGradOp::getFlops() { return FilterGradFlops(getDy(), getResult()); }

absl::Status Conv2DWeightGradOp::evaluate(absl::Span<const RefTensor* const> operands, const RefContext& context,
                                          std::vector<RefTensor>& results) {
  return EvaluateAs<Conv2DFilterGradOp>(*this, operands, context, results, getX(), getDy(), getSize(), getStrides(),
                                        getPadLow(), getPadHigh(), /*f32_result=*/true);
}

}  // namespace tandem::exec

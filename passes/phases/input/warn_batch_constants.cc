// td-warn-batch-constants: warns of sums over the batch that the user multiplies by a constant 1 / batch
// (passes/Passes.td).
#include <cmath>

#include "graph/ir/binary.h"
#include "graph/ir/build.h"
#include "mlir/IR/Matchers.h"
#include "passes/analysis/batch_axis.h"
#include "passes/base/pass_util.h"
#include "passes/base/passes.h"

namespace tandem {

#define GEN_PASS_DEF_WARNBATCHCONSTANTSPASS
#include "passes/passes.h.inc"

namespace {

// Gets the number that all elements of `v` are; false when it is no splat constant.
bool SplatValue(mlir::Value v, double* number) {
  mlir::Operation* op = v.getDefiningOp();
  if (op && op->getName().getStringRef() == "td.broadcast") v = op->getOperand(0);
  mlir::DenseElementsAttr value;
  if (!mlir::matchPattern(v, mlir::m_Constant(&value)) || !value.isSplat()) return false;
  if (!mlir::isa<mlir::FloatType>(value.getElementType())) return false;
  *number = value.getSplatValue<mlir::APFloat>().convertToDouble();
  return true;
}

bool IsBatchSum(mlir::Value v) {
  mlir::Operation* op = v.getDefiningOp();
  return op && !td::IsBatched(v.getType()) && llvm::any_of(op->getOperandTypes(), td::IsBatched) &&
         BatchRuleOf(op) == td::BatchRule::kBatchSum;
}

class WarnBatchConstantsPass : public impl::WarnBatchConstantsPassBase<WarnBatchConstantsPass> {
 public:
  void runOnOperation() final {
    mlir::func::FuncOp step = StepFunction(getOperation());
    if (!step) return;
    double batch = static_cast<double>(ConfigOf(getOperation()).getBatch());
    double global = batch * static_cast<double>(ConfigOf(getOperation()).getReplicas());
    step.walk([&](mlir::Operation* op) {
      bool divides = mlir::isa<td::DivOp>(op);
      if (!divides && !mlir::isa<td::MulOp>(op)) return;
      for (int i = 0; i < (divides ? 1 : 2); ++i) {
        double number = 0;
        if (!IsBatchSum(op->getOperand(i)) || !SplatValue(op->getOperand(1 - i), &number) || number == 0) continue;
        double divisor = divides ? number : 1 / number;
        if (batch > 1 && (std::abs(divisor - batch) < 1e-3 || std::abs(divisor - global) < 1e-3)) {
          op->emitWarning()
              << "scales a sum over the batch by a constant 1/" << std::lround(divisor)
              << ": a last batch with fewer examples is scaled the same; ReduceMean divides by the examples there are";
        }
      }
    });
  }
};

}  // namespace

}  // namespace tandem

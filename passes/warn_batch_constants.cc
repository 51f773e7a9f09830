// td-warn-batch-constants: points at sums over the batch that the user scales by a constant 1 / batch.
//
// Changes nothing: the constant keeps its meaning. Such a mean is wrong for a short last batch, and with the batch per
// replica as the constant it is `replicas` times too large. The warning names the user's line and the way out
// (ReduceMean).
//
//   %s = td.reduce "sum", %l axes [0] ; %m = td.mul %s, 0.015625   // batch 64: warning
#include "passes/warn_batch_constants.h"

#include <cmath>

#include "graph/ir/binary.h"
#include "graph/ir/build.h"
#include "mlir/IR/Matchers.h"
#include "passes/analysis/batch_axis.h"
#include "passes/pass_util.h"

namespace tandem {
namespace {

// The number that `v` is everywhere; false when it is no splat constant.
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

class WarnBatchConstantsPass : public ModulePass<WarnBatchConstantsPass> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(WarnBatchConstantsPass)
  static constexpr llvm::StringLiteral kName = "td-warn-batch-constants";
  static constexpr llvm::StringLiteral kDescription = "warn of sums over the batch scaled by a constant 1 / batch";

  void runOnOperation() final {
    mlir::func::FuncOp step = StepFunction(getOperation());
    if (!step) return;
    double batch = static_cast<double>(ModuleInt(getOperation(), "td.batch", 0));
    double global = batch * static_cast<double>(ModuleInt(getOperation(), "td.replicas", 1));
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

std::unique_ptr<mlir::Pass> createWarnBatchConstantsPass() { return std::make_unique<WarnBatchConstantsPass>(); }

}  // namespace tandem

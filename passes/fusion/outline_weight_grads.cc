// td-outline-weight-grads, as Passes.td describes it.
#include "graph/ir/contract.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "passes/exec/kernel_kind.h"
#include "passes/exec/weight_grad.h"
#include "passes/pass_util.h"
#include "passes/passes.h"

namespace tandem {

#define GEN_PASS_DEF_OUTLINEWEIGHTGRADSPASS
#include "passes/passes.h.inc"

namespace {

class OutlineWeightGradsPass : public impl::OutlineWeightGradsPassBase<OutlineWeightGradsPass> {
 public:
  void runOnOperation() final {
    mlir::func::FuncOp step = StepFunction(getOperation());
    if (!step) return;
    mlir::SymbolTable symbols(getOperation());
    int64_t lanes = 1, lane_rows = ConfigOf(getOperation()).getBatch();
    for (auto map : step.getOps<exec::MapMicrobatchesOp>()) {
      lanes = map.getLanes() / ConfigOf(getOperation()).getReplicas();
      lane_rows = map.getRowsPerLane();
    }
    auto outline_all = [&](auto ops) {
      for (auto op : llvm::make_early_inc_range(ops)) {
        op.setLanes(lanes);
        op.setLaneRows(lane_rows);
        Outline(op, symbols);
      }
    };
    outline_all(step.getOps<exec::WeightGradOp>());
    outline_all(step.getOps<exec::Conv2DWeightGradOp>());
  }

 private:
  static void Outline(mlir::Operation* op, mlir::SymbolTable& symbols) {
    mlir::OpBuilder b(op->getContext());
    auto type = b.getFunctionType(op->getOperandTypes(), op->getResultTypes());
    auto function = mlir::func::FuncOp::create(op->getLoc(), "weight_grad", type);
    function.setPrivate();
    exec::SetKernelKind(function, exec::KernelKind::kBlock);
    mlir::Block* body = function.addEntryBlock();
    b.setInsertionPointToStart(body);
    mlir::IRMapping map;
    map.map(op->getOperands(), body->getArguments());
    mlir::Operation* inside = b.clone(*op, map);
    b.create<mlir::func::ReturnOp>(op->getLoc(), inside->getResults());
    symbols.insert(function);
    b.setInsertionPoint(op);
    auto launch =
        b.create<exec::LaunchOp>(op->getLoc(), op->getResultTypes(), function.getSymName(), op->getOperands());
    op->replaceAllUsesWith(launch);
    op->erase();
  }
};

}  // namespace

}  // namespace tandem

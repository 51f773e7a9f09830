// td-outline-winograd, as Passes.td describes it.
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "passes/exec/kernel_kind.h"
#include "passes/exec/packed.h"
#include "passes/exec/winograd.h"
#include "passes/pass_util.h"
#include "passes/passes.h"

namespace tandem {

#define GEN_PASS_DEF_OUTLINEWINOGRADPASS
#include "passes/passes.h.inc"

namespace {

class OutlineWinogradPass : public impl::OutlineWinogradPassBase<OutlineWinogradPass> {
 public:
  void runOnOperation() final {
    mlir::func::FuncOp step = StepFunction(getOperation());
    if (!step) return;
    mlir::SymbolTable symbols(getOperation());
    llvm::SmallVector<mlir::Operation*> ops;
    step.walk([&](mlir::Operation* op) {
      if (mlir::isa<exec::WinogradKernelOp, exec::WinogradConv2DOp, exec::WinogradInputGradOp,
                    exec::WinogradFilterGradOp, exec::PackedFilterGradOp>(op)) {
        ops.push_back(op);
      }
    });
    for (mlir::Operation* op : ops) Outline(op, symbols);
  }

 private:
  static void Outline(mlir::Operation* op, mlir::SymbolTable& symbols) {
    mlir::OpBuilder b(op->getContext());
    mlir::Location loc = op->getLoc();
    auto type = b.getFunctionType(op->getOperandTypes(), op->getResultTypes());
    auto function =
        mlir::func::FuncOp::create(loc, mlir::isa<exec::PackedFilterGradOp>(op) ? "packed" : "winograd", type);
    function.setPrivate();
    const bool rows = llvm::any_of(op->getOperandTypes(), td::IsBatched);
    exec::SetKernelKind(function, rows ? exec::KernelKind::kTile : exec::KernelKind::kSplit);
    mlir::Block* body = function.addEntryBlock();
    b.setInsertionPointToStart(body);
    mlir::IRMapping map;
    map.map(op->getOperands(), body->getArguments());
    mlir::Operation* inside = b.clone(*op, map);
    b.create<mlir::func::ReturnOp>(loc, inside->getResults());
    symbols.insert(function);
    b.setInsertionPoint(op);
    auto launch = b.create<exec::LaunchOp>(loc, op->getResultTypes(), function.getSymName(), op->getOperands());
    op->replaceAllUsesWith(launch);
    op->erase();
  }
};

}  // namespace

}  // namespace tandem

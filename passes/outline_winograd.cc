// td-outline-winograd: makes each td.winograd op, and each td.packed_filter_grad, a kernel of its own.
//
// Before: such ops in blocks of @step. After: each is alone in a private func.func, which td.launch runs where
// the op was; td.kernel is "tile" (rows of a shard) or, for the transform of a kernel, "split" (parts of the kernel).
// Nothing fuses with them: their epilogues are theirs already.
//
//   %y, %scratch = td.winograd_conv2d %x, %u ...   =>   %y, %scratch = td.launch @winograd_0(%x, %u)
#include "passes/outline_winograd.h"

#include "graph/ir/packed.h"
#include "graph/ir/structure.h"
#include "graph/ir/winograd.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "passes/pass_util.h"

namespace tandem {
namespace {

class OutlineWinogradPass : public ModulePass<OutlineWinogradPass> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(OutlineWinogradPass)
  static constexpr llvm::StringLiteral kName = "td-outline-winograd";
  static constexpr llvm::StringLiteral kDescription = "make kernels of Winograd convolutions";

  void runOnOperation() final {
    mlir::func::FuncOp step = StepFunction(getOperation());
    if (!step) return;
    mlir::SymbolTable symbols(getOperation());
    llvm::SmallVector<mlir::Operation*> ops;
    step.walk([&](mlir::Operation* op) {
      if (mlir::isa<td::WinogradKernelOp, td::WinogradConv2DOp, td::WinogradInputGradOp, td::WinogradFilterGradOp,
                    td::PackedFilterGradOp>(op)) {
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
        mlir::func::FuncOp::create(loc, mlir::isa<td::PackedFilterGradOp>(op) ? "packed" : "winograd", type);
    function.setPrivate();
    const bool rows = llvm::any_of(op->getOperandTypes(), td::IsBatched);
    function->setAttr("td.kernel", b.getStringAttr(rows ? "tile" : "split"));
    mlir::Block* body = function.addEntryBlock();
    b.setInsertionPointToStart(body);
    mlir::IRMapping map;
    map.map(op->getOperands(), body->getArguments());
    mlir::Operation* inside = b.clone(*op, map);
    b.create<mlir::func::ReturnOp>(loc, inside->getResults());
    symbols.insert(function);
    b.setInsertionPoint(op);
    auto launch = b.create<td::LaunchOp>(loc, op->getResultTypes(), function.getSymName(), op->getOperands());
    op->replaceAllUsesWith(launch);
    op->erase();
  }
};

}  // namespace

std::unique_ptr<mlir::Pass> createOutlineWinogradPass() { return std::make_unique<OutlineWinogradPass>(); }

}  // namespace tandem

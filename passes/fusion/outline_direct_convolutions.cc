// td-outline-direct-convolutions, as Passes.td describes it.
#include "graph/ir/contract.h"
#include "graph/ir/unary.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "passes/channel_bias.h"
#include "passes/exec/direct.h"
#include "passes/exec/kernel_kind.h"
#include "passes/pass_util.h"
#include "passes/passes.h"
#include "passes/small_convolution.h"

namespace tandem {

#define GEN_PASS_DEF_OUTLINEDIRECTCONVOLUTIONSPASS
#include "passes/passes.h.inc"

namespace {

class OutlineDirectConvolutionsPass : public impl::OutlineDirectConvolutionsPassBase<OutlineDirectConvolutionsPass> {
 public:
  void runOnOperation() final {
    mlir::func::FuncOp step = StepFunction(getOperation());
    if (!step) return;
    mlir::SymbolTable symbols(getOperation());
    llvm::SmallVector<exec::DirectConv2DOp> ops;
    step.walk([&](exec::DirectConv2DOp op) {
      if (TapsOf(op.getKernel().getType()) > kMaxFusedTaps) ops.push_back(op);
    });
    for (exec::DirectConv2DOp op : ops) Outline(op, symbols);
  }

 private:
  static void Outline(exec::DirectConv2DOp op, mlir::SymbolTable& symbols) {
    llvm::SmallVector<mlir::Operation*> chain = {op};
    llvm::SmallVector<mlir::Value> operands = {op.getX(), op.getKernel()};
    if (auto add = mlir::dyn_cast_or_null<td::AddOp>(OnlyUser(op))) {
      if (mlir::Value bias = ChannelBiasOf(add, op)) {
        operands.push_back(bias);
        chain.push_back(add->getOperand(add->getOperand(0) == op.getResult() ? 1 : 0).getDefiningOp());
        chain.push_back(add);
      }
    }
    if (auto relu = mlir::dyn_cast_or_null<td::ReluOp>(OnlyUser(chain.back()->getResult(0)))) chain.push_back(relu);
    mlir::Operation* last = chain.back();

    mlir::OpBuilder b(op->getContext());
    auto type = b.getFunctionType(mlir::ValueRange(operands).getTypes(), last->getResultTypes());
    auto function = mlir::func::FuncOp::create(last->getLoc(), "direct_conv", type);
    function.setPrivate();
    exec::SetKernelKind(function, exec::KernelKind::kLoop);
    mlir::Block* body = function.addEntryBlock();
    b.setInsertionPointToStart(body);
    mlir::IRMapping map;
    map.map(operands, body->getArguments());
    for (mlir::Operation* o : chain) b.clone(*o, map);
    b.create<mlir::func::ReturnOp>(last->getLoc(), map.lookup(last->getResult(0)));
    symbols.insert(function);
    b.setInsertionPoint(last);
    auto launch = b.create<exec::LaunchOp>(last->getLoc(), last->getResultTypes(), function.getSymName(), operands);
    last->replaceAllUsesWith(launch);
    for (mlir::Operation* o : llvm::reverse(chain)) {
      if (o->use_empty()) o->erase();
    }
  }
};

}  // namespace

}  // namespace tandem

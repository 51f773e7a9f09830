// td-decompose: replaces composite ops by the simpler ops that they are made of (passes/Passes.td).
#include "graph/ir/interfaces.h"
#include "passes/base/pass_util.h"
#include "passes/base/passes.h"

namespace tandem {

#define GEN_PASS_DEF_DECOMPOSEPASS
#include "passes/passes.h.inc"

namespace {

class DecomposePass : public impl::DecomposePassBase<DecomposePass> {
 public:
  void runOnOperation() final {
    llvm::SmallVector<td::DecomposeOp> ops;
    getOperation().walk([&](td::DecomposeOp op) { ops.push_back(op); });
    for (td::DecomposeOp op : ops) {
      mlir::OpBuilder builder(op);
      llvm::SmallVector<mlir::Value> results;
      op.decompose(builder, results);
      op->replaceAllUsesWith(results);
      op->erase();
    }
  }
};

}  // namespace

}  // namespace tandem

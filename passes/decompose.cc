// td-decompose: takes composite ops apart.
//
// Before: ops that implement DecomposeOp (softmax, cross-entropy, batch moments). After: elementwise ops, reductions
// and index maps only, under the composite op's location, so that fusion sees one kind of thing and batch moments
// become reductions over the batch.
//
//   %y = td.log_softmax %x   =>   max, sub, exp, sum, log, sub
#include "passes/decompose.h"

#include "graph/ir/interfaces.h"
#include "passes/pass_util.h"

namespace tandem {
namespace {

class DecomposePass : public ModulePass<DecomposePass> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DecomposePass)
  static constexpr llvm::StringLiteral kName = "td-decompose";
  static constexpr llvm::StringLiteral kDescription = "take composite ops apart";

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

std::unique_ptr<mlir::Pass> createDecomposePass() { return std::make_unique<DecomposePass>(); }

}  // namespace tandem

// td-separate-aliases: makes a copy of a kernel for each set of operands that its results overwrite (passes/Passes.td).
#include "llvm/ADT/DenseMap.h"
#include "passes/base/pass_util.h"
#include "passes/base/passes.h"
#include "passes/base/step_signature.h"
#include "passes/exec/dialect.h"
#include "passes/exec/kernel_kind.h"
#include "passes/phases/memory/buffer_table.h"

namespace tandem {

#define GEN_PASS_DEF_SEPARATEALIASESPASS
#include "passes/passes.h.inc"

namespace {

// Returns for each result of the kernel the operand that it overwrites, or -1. All members of a grouped launch
// overwrite the same operands, so the first one is looked at.
llvm::SmallVector<int64_t> AliasesOf(mlir::Operation* op, mlir::func::FuncOp kernel) {
  llvm::SmallVector<int64_t> aliases(kernel.getNumResults(), -1);
  for (unsigned r = 0; r < kernel.getNumResults(); ++r) {
    for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
      if (BufferOf(op->getResult(r)) == BufferOf(op->getOperand(i))) aliases[r] = i;
    }
  }
  return aliases;
}

class SeparateAliasesPass : public impl::SeparateAliasesPassBase<SeparateAliasesPass> {
 public:
  void runOnOperation() final {
    mlir::func::FuncOp step = StepFunction(getOperation());
    if (!step) return;
    if (mlir::failed(VerifyLaunches(getOperation(), step)) || mlir::failed(VerifyBuffers(step))) {
      return signalPassFailure();
    }
    // For each kernel the sets of overwritten operands that its launches have, each with the copy of the kernel
    // compiled for it.
    llvm::DenseMap<mlir::Attribute, llvm::SmallVector<std::pair<mlir::Attribute, mlir::Attribute>>> patterns;
    mlir::Builder b(&getContext());
    step.walk([&](exec::CommandOp op) {
      const mlir::FlatSymbolRefAttr name = op.getLaunchedKernel();
      if (!name) return;
      auto kernel = getOperation().lookupSymbol<mlir::func::FuncOp>(name.getAttr());
      mlir::DenseI64ArrayAttr alias = b.getDenseI64ArrayAttr(AliasesOf(op, kernel));
      auto& known = patterns[name];
      for (auto [a, symbol] : known) {
        if (a == alias) return op->setAttr("kernel", symbol);
      }
      if (!known.empty()) {
        mlir::func::FuncOp copy = kernel.clone();
        copy.setName((name.getValue() + "_" + llvm::Twine(known.size())).str());
        getOperation().insert(kernel, copy);
        kernel = copy;
      }
      exec::SetAliases(kernel, alias);
      mlir::Attribute symbol = mlir::FlatSymbolRefAttr::get(kernel.getSymNameAttr());
      known.push_back({alias, symbol});
      op->setAttr("kernel", symbol);
    });
  }
};

}  // namespace

}  // namespace tandem

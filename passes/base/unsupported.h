// Errors of passes that are about the user's graph, not about the compiler.
#ifndef TANDEM_PASSES_BASE_UNSUPPORTED_H_
#define TANDEM_PASSES_BASE_UNSUPPORTED_H_

#include "mlir/IR/BuiltinOps.h"

namespace tandem {

// A pass calls this when it cannot continue because the user's graph has something that no program can have. The
// compilation then ends in Unimplemented instead of Internal. The error that the pass emits says what to do.
inline void MarkUnsupported(mlir::Operation* op) {
  op->getParentOfType<mlir::ModuleOp>()->setAttr("exec.unsupported", mlir::UnitAttr::get(op->getContext()));
}

inline bool IsMarkedUnsupported(mlir::ModuleOp module) { return module->hasAttr("exec.unsupported"); }

}  // namespace tandem

#endif  // TANDEM_PASSES_BASE_UNSUPPORTED_H_

// The configuration of a library call, between its attribute form (exec.library_call) and its table in the executable.
#ifndef TANDEM_PASSES_LIBRARY_CONFIG_H_
#define TANDEM_PASSES_LIBRARY_CONFIG_H_

#include "passes/exec/dialect.h"
#include "runtime/executable_generated.h"

namespace tandem {

exec::LibraryConfigAttr LibraryConfigToAttr(mlir::MLIRContext* context, const fb::LibraryCallT& call);
fb::LibraryCallT LibraryCallOf(exec::LibraryCallOp op);

}  // namespace tandem

#endif  // TANDEM_PASSES_LIBRARY_CONFIG_H_

// Converts library calls between their form in the IR (exec.library_call) and their table in the executable.
#ifndef TANDEM_PASSES_EXEC_LIBRARY_CALL_H_
#define TANDEM_PASSES_EXEC_LIBRARY_CALL_H_

#include "mlir/IR/Builders.h"
#include "passes/exec/dialect.h"
#include "runtime/format/index.h"

namespace tandem {

// Builds an exec.library_call of `call`, whose operation must be set.
exec::LibraryCallOp BuildLibraryCall(mlir::OpBuilder& builder, mlir::Location loc, mlir::TypeRange results,
                                     const format::LibraryCall& call, mlir::ValueRange operands);
format::LibraryCall LibraryCallOf(exec::LibraryCallOp op);

}  // namespace tandem

#endif  // TANDEM_PASSES_EXEC_LIBRARY_CALL_H_

// The exec dialect: the ops that a compiled step consists of (docs/developers/internals.md).
#ifndef TANDEM_PASSES_EXEC_DIALECT_H_
#define TANDEM_PASSES_EXEC_DIALECT_H_

#include "base/precision.h"
#include "graph/ir/attributes.h"
#include "graph/ir/interfaces.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/exec/command.h"
#include "runtime/format/index.h"

#include "passes/exec/dialect.h.inc"

#include "passes/exec/enums.h.inc"
#include "passes/exec/format_enums.h.inc"

#include "passes/exec/command.h.inc"

namespace tandem::exec {

// Name of the module's attribute with its CompileConfigAttr.
inline constexpr llvm::StringLiteral kConfigAttr = "exec.config";

// Name of the module's attribute with the PlacedPartAttrs of all variables, if parameter servers keep them.
inline constexpr llvm::StringLiteral kPlacementAttr = "exec.placement";

// Defaults of a configuration: rows of a replica, and bytes of an all-reduce bucket and of the first bucket.
inline constexpr int64_t kDefaultBatch = 32;
inline constexpr int64_t kDefaultBucketBytes = int64_t{25} << 20, kDefaultFirstBucketBytes = int64_t{1} << 20;

}  // namespace tandem::exec

#define GET_ATTRDEF_CLASSES
#include "passes/exec/attributes.h.inc"

#define GET_OP_CLASSES
#include "passes/exec/ops.h.inc"

#endif  // TANDEM_PASSES_EXEC_DIALECT_H_

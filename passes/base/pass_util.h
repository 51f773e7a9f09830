// Small helpers shared by the passes.
#ifndef TANDEM_PASSES_BASE_PASS_UTIL_H_
#define TANDEM_PASSES_BASE_PASS_UTIL_H_

#include <cstdint>
#include <optional>
#include <string>

#include "graph/ir/dialect.h"
#include "graph/ir/signature.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/exec/dialect.h"

namespace tandem {

// Returns the step function, or null before phase `input` has made it.
inline mlir::func::FuncOp StepFunction(mlir::ModuleOp module) {
  return module.lookupSymbol<mlir::func::FuncOp>("step");
}

// Returns the configuration of the compilation, an attribute of the module.
inline exec::CompileConfigAttr ConfigOf(mlir::ModuleOp module) { return exec::CompileConfigAttr::of(module); }

// Returns a builder that inserts right after the op that computes `value`, in front of `map`, so that a value that
// nothing else reads is not kept for longer than necessary.
mlir::OpBuilder BehindValue(exec::MapMicrobatchesOp map, mlir::Value value);

// Erases the ops of the map's body that nothing reads, the operands of the map that its body does not read, and the ops
// outside that computed only those operands.
void EraseUnusedOperands(exec::MapMicrobatchesOp map);

// Name of the attribute of a launch (an array of strings) with the names of its results, for launches whose results are
// not named like the kernel's values.
inline constexpr llvm::StringLiteral kLaunchNames = "exec.names";

// Returns the number that all elements of `value` are, if it is a splat constant or a broadcast of one.
std::optional<double> SplatOf(mlir::Value value);

// Returns an op's scoped name: the NameLoc inside its location, or "" when there is none.
std::string LocationName(mlir::Location loc);
// Prefix of the names of the ops that BuildGradients makes (graph/gradients.h).
inline constexpr char kGradientScope[] = "gradients/";
// True if BuildGradients made the op, or a pass made it from such an op.
bool IsGradient(mlir::Operation* op);
// Returns the scoped name of the op that computes `value`; for a result of a microbatch map, of the op that computes
// the value that its body yields.
std::string ValueName(mlir::Value value);
// Gets the user's file and line out of a location; false when it has none.
bool LocationFileLine(mlir::Location loc, std::string* file, int* line);

// Bytes of one batch row (RowBytes, batched types) or of the whole value (StaticBytes).
int64_t RowBytes(mlir::Type type);
int64_t StaticBytes(mlir::Type type);

}  // namespace tandem

#endif  // TANDEM_PASSES_BASE_PASS_UTIL_H_

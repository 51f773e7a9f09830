// Small helpers shared by the passes.
#ifndef TANDEM_PASSES_PASS_UTIL_H_
#define TANDEM_PASSES_PASS_UTIL_H_

#include <optional>
#include <string>

#include "graph/ir/dialect.h"
#include "graph/ir/signature.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/exec/dialect.h"

namespace tandem {

// The step function, or null (phase `input` makes it).
inline mlir::func::FuncOp StepFunction(mlir::ModuleOp module) {
  return module.lookupSymbol<mlir::func::FuncOp>("step");
}

// What steers the compilation.
inline exec::CompileConfigAttr ConfigOf(mlir::ModuleOp module) { return exec::CompileConfigAttr::of(module); }

// In front of `map`, right behind what computes `value` there: a value that nothing else reads is not kept for longer
// than it has to be.
mlir::OpBuilder BehindValue(exec::MapMicrobatchesOp map, mlir::Value value);

// Erases ops of the body that nothing reads, takes operands that the body does not read off the map, and erases what
// made them for nothing else.
void EraseUnusedOperands(exec::MapMicrobatchesOp map);

// The attribute of a launch with the names of its results, where they are not those of the kernel's values: an array of
// strings.
inline constexpr llvm::StringLiteral kLaunchNames = "exec.names";

// The number that every element of `value` is, where the program says so: a splat constant or its broadcast.
std::optional<double> SplatOf(mlir::Value value);

// The op's scoped name: the NameLoc inside its location, "" when there is none.
std::string LocationName(mlir::Location loc);
// What the names of ops begin with that BuildGradients makes (graph/gradients.h).
inline constexpr char kGradientScope[] = "gradients/";
// Whether BuildGradients made the op, or a pass from one that it made.
bool IsGradient(mlir::Operation* op);
// The scoped name of what computes `value`: for a result of a microbatch map, of the value that its body yields.
std::string ValueName(mlir::Value value);
// The user's file and line inside a location; false when there is none.
bool LocationFileLine(mlir::Location loc, std::string* file, int* line);

}  // namespace tandem

#endif  // TANDEM_PASSES_PASS_UTIL_H_

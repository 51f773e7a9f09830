// Translates a step of td ops, as phase `input` leaves it, to a StableHLO module.
#ifndef TANDEM_PASSES_STABLEHLO_TRANSLATE_STEP_H_
#define TANDEM_PASSES_STABLEHLO_TRANSLATE_STEP_H_

#include <vector>

#include "absl/status/statusor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "passes/stablehlo/model.h"
#include "passes/stablehlo/translate_options.h"
#include "passes/translation/program_values.h"

namespace tandem::stablehlo {

struct TranslatedStep {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<Weight> weights;  // as in Model
};

// Before: a step function whose arguments are inputs, step scalars and variables (graph/ir/signature.h).
// After: a module with @main, whose ops are of the dialect `stablehlo`; `step` is changed as WalkStep says.
//
//   func.func @step(%x: tensor<?x2xf32> {td.input = "x"}, %w: tensor<2xf32> {td.variable = @w})
//       -> (tensor<?x2xf32> {td.output = "y"}) {
//     %0 = td.broadcast %w dims [1] : tensor<2xf32> -> tensor<?x2xf32>
//     %1 = td.mul %x, %0 : tensor<?x2xf32>
//     return %1 : tensor<?x2xf32>
//   }
// becomes, with 8 rows,
//   func.func @main(%arg0: tensor<8x2xf32> {tandem.input = "x"}, %arg1: tensor<2xf32> {tandem.variable = "w"})
//       -> (tensor<8x2xf32> {tandem.output = "y"}) {
//     %0 = "stablehlo.broadcast_in_dim"(%arg1) {broadcast_dimensions = array<i64: 1>}
//         : (tensor<2xf32>) -> tensor<8x2xf32>
//     %1 = "stablehlo.multiply"(%arg0, %0) : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x2xf32>
//     return %1 : tensor<8x2xf32>
//   }
// The context must allow unregistered dialects.
absl::StatusOr<TranslatedStep> TranslateStep(mlir::func::FuncOp step, const translation::ProgramValues& values,
                                             const TranslateOptions& options);

}  // namespace tandem::stablehlo

#endif  // TANDEM_PASSES_STABLEHLO_TRANSLATE_STEP_H_

// Translates the graph of a program for predictions to a StableHLO module. Free of MLIR.
#ifndef TANDEM_PASSES_STABLEHLO_TRANSLATE_H_
#define TANDEM_PASSES_STABLEHLO_TRANSLATE_H_

#include "absl/status/statusor.h"
#include "passes/stablehlo/model.h"
#include "passes/stablehlo/translate_options.h"
#include "passes/translation/program_values.h"
#include "runtime/executable/executable.h"

namespace tandem::stablehlo {

// Translates the graph as it is before phase `precision`, with the element types that model_fn chose, to a function
// @main of the inputs and then the weights, with the user's lines as locations.
//
// Errors: those of WalkStep (passes/translation/walk_step.h); FailedPrecondition if the executable has no such graph,
// DataLoss (exit code 65) if it cannot be read.
absl::StatusOr<Model> TranslateProgram(const Executable& executable, const translation::ProgramValues& values,
                                       const TranslateOptions& options);

}  // namespace tandem::stablehlo

#endif  // TANDEM_PASSES_STABLEHLO_TRANSLATE_H_

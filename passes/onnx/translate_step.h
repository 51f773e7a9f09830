// Translates a step of td ops, as phase `input` leaves it, to an ONNX model.
#ifndef TANDEM_PASSES_ONNX_TRANSLATE_STEP_H_
#define TANDEM_PASSES_ONNX_TRANSLATE_STEP_H_

#include "absl/status/statusor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/onnx/model.h"
#include "passes/onnx/translate_options.h"
#include "passes/translation/program_values.h"

namespace tandem::onnx {

// Changes `step`: composite ops that ONNX lacks are replaced by simpler ones (td::DecomposeOp). Errors are those of
// TranslateProgram.
absl::StatusOr<Model> TranslateStep(mlir::func::FuncOp step, const translation::ProgramValues& values,
                                    const TranslateOptions& options = {});

}  // namespace tandem::onnx

#endif  // TANDEM_PASSES_ONNX_TRANSLATE_STEP_H_

// Translates the graph of a program for predictions to an ONNX model. Free of MLIR.
#ifndef TANDEM_PASSES_ONNX_TRANSLATE_H_
#define TANDEM_PASSES_ONNX_TRANSLATE_H_

#include "absl/status/statusor.h"
#include "passes/onnx/model.h"
#include "passes/onnx/translate_options.h"
#include "passes/translation/program_values.h"
#include "runtime/executable/executable.h"

namespace tandem::onnx {

// Translates the graph as it is before phase `precision`, with the element types that model_fn chose, to opset 17.
//
// Errors: FailedPrecondition if the executable has no such graph, DataLoss (exit code 65) if it cannot be read;
// Unimplemented, with the op's name and the user's file and line, for an op without a form in ONNX and for a step
// scalar without a value; InvalidArgument for an output that is called like an input.
absl::StatusOr<Model> TranslateProgram(const Executable& executable, const translation::ProgramValues& values,
                                       const TranslateOptions& options = {});

}  // namespace tandem::onnx

#endif  // TANDEM_PASSES_ONNX_TRANSLATE_H_

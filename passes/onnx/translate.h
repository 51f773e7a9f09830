// Translates the graph of a program for predictions to an ONNX model. Free of MLIR.
#ifndef TANDEM_PASSES_ONNX_TRANSLATE_H_
#define TANDEM_PASSES_ONNX_TRANSLATE_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/host_tensor.h"
#include "passes/onnx/model.h"
#include "passes/onnx/translate_options.h"
#include "runtime/executable/executable.h"

namespace tandem::onnx {

// What a translation needs besides the graph: values of variables and step scalars, and the outputs to export.
struct ProgramValues {
  // Returns a variable's value by name.
  std::function<absl::StatusOr<HostTensor>(const std::string& name)> variable;
  std::map<std::string, double> scalars;  // values of step scalars by name
  std::vector<std::string> outputs;       // names of the outputs to export, in the model's order
};

// Translates the graph as it is before phase `precision`, with the element types that model_fn chose, to opset 17.
//
// Errors: FailedPrecondition if the executable has no such graph, DataLoss (exit code 65) if it cannot be read;
// Unimplemented, with the op's name and the user's file and line, for an op without a form in ONNX and for a step
// scalar without a value; InvalidArgument for an output that is called like an input.
absl::StatusOr<Model> TranslateProgram(const Executable& executable, const ProgramValues& values,
                                       const TranslateOptions& options = {});

}  // namespace tandem::onnx

#endif  // TANDEM_PASSES_ONNX_TRANSLATE_H_

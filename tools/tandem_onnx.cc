// tandem-onnx EXPORT_DIR --output=model.onnx: turns an exported model into an ONNX file.
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "base/flag_table.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "base/tool_program.h"
#include "estimator/onnx/export_onnx.h"
#include "tools/tool_functions.h"

namespace tandem {
namespace {

struct OnnxFlags : FlagTable {
  Flag<std::string> output{this, "output", "", "The ONNX file to write (required)."};
  Flag<bool> fold_batch_norm{
      this, "fold_batch_norm", false,
      "Scale the weights of convolutions, so that batch normalizations behind them are no ops of their own."};
  Flag<bool> external_data{
      this, "external_data", false,
      "Write large weights to a file of their own, OUTPUT.data. Models of 2 GiB and more do so in any case."};
};

absl::Status ToOnnx(const OnnxFlags& flags, const std::vector<std::string>& arguments) {
  const std::string output = *flags.output;
  if (arguments.size() != 1 || output.empty()) {
    return absl::InvalidArgumentError(
        "usage: tandem-onnx EXPORT_DIR --output=model.onnx [--fold_batch_norm] [--external_data]; --help explains "
        "them");
  }
  TD_RETURN_IF_ERROR(ExportOnnx(arguments[0], output,
                                {.fold_batch_norm = *flags.fold_batch_norm, .external_data = *flags.external_data}));
  absl::PrintF("%s: opset 17\n", PrintableLine(output));
  return absl::OkStatus();
}

}  // namespace

int TandemOnnx(int argc, char** argv) {
  return RunToolProgram<OnnxFlags>(argc, argv, "an exported model (EXPORT_DIR) as an ONNX file.", ToOnnx);
}

}  // namespace tandem

// tandem-onnx EXPORT_DIR --output=model.onnx: turns an exported model into an ONNX file.
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_format.h"
#include "base/printable.h"
#include "base/program.h"
#include "base/status_macros.h"
#include "estimator/onnx/export_onnx.h"

ABSL_FLAG(std::string, output, "", "The ONNX file to write (required).");
ABSL_FLAG(bool, fold_batch_norm, false,
          "Scale the weights of convolutions, so that batch normalizations behind them are no ops of their own.");
ABSL_FLAG(bool, external_data, false,
          "Write large weights to a file of their own, OUTPUT.data. Models of 2 GiB and more do so in any case.");

namespace tandem {
namespace {

absl::Status ToOnnx(const std::vector<std::string>& arguments) {
  const std::string output = absl::GetFlag(FLAGS_output);
  if (arguments.size() != 1 || output.empty()) {
    return absl::InvalidArgumentError(
        "usage: tandem-onnx EXPORT_DIR --output=model.onnx [--fold_batch_norm] [--external_data]; --help explains "
        "them");
  }
  TD_RETURN_IF_ERROR(ExportOnnx(
      arguments[0], output,
      {.fold_batch_norm = absl::GetFlag(FLAGS_fold_batch_norm), .external_data = absl::GetFlag(FLAGS_external_data)}));
  absl::PrintF("%s: opset 17\n", PrintableLine(output));
  return absl::OkStatus();
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  return tandem::RunProgram(argc, argv, "an exported model (EXPORT_DIR) as an ONNX file.", tandem::ToOnnx);
}

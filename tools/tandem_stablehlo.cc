// tandem-stablehlo EXPORT_DIR --output=model.mlir: turns an exported model into StableHLO text.
#include <cstdint>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_format.h"
#include "base/printable.h"
#include "base/program.h"
#include "base/status_macros.h"
#include "estimator/stablehlo/export_stablehlo.h"

ABSL_FLAG(std::string, output, "", "The file to write (required). The weights are in OUTPUT.safetensors.");
ABSL_FLAG(int64_t, rows, 1, "The number of rows that the module computes.");
ABSL_FLAG(bool, constants, false, "Write the weights into the text; for models with less than 64 MiB of them.");

namespace tandem {
namespace {

absl::Status ToStableHlo(const std::vector<std::string>& arguments) {
  const std::string output = absl::GetFlag(FLAGS_output);
  if (arguments.size() != 1 || output.empty()) {
    return absl::InvalidArgumentError(
        "usage: tandem-stablehlo EXPORT_DIR --output=model.mlir [--rows=1] [--constants]; --help explains them");
  }
  const int64_t rows = absl::GetFlag(FLAGS_rows);
  TD_RETURN_IF_ERROR(
      ExportStableHlo(arguments[0], output, {.rows = rows, .constants = absl::GetFlag(FLAGS_constants)}));
  absl::PrintF("%s: StableHLO for %d rows\n", PrintableLine(output), rows);
  return absl::OkStatus();
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  return tandem::RunProgram(argc, argv, "an exported model (EXPORT_DIR) as StableHLO text.", tandem::ToStableHlo);
}

// tandem-stablehlo EXPORT_DIR --output=model.mlir: turns an exported model into StableHLO text.
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "base/flag_table.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "base/tool_program.h"
#include "estimator/stablehlo/export_stablehlo.h"
#include "tools/tool_functions.h"

namespace tandem {
namespace {

struct StablehloFlags : FlagTable {
  Flag<std::string> output{this, "output", "", "The file to write (required). The weights are in OUTPUT.safetensors."};
  Flag<int64_t> rows{this, "rows", 1, "The number of rows that the module computes."};
  Flag<bool> constants{this, "constants", false,
                       "Write the weights into the text; for models with less than 64 MiB of them."};
};

absl::Status ToStableHlo(const StablehloFlags& flags, const std::vector<std::string>& arguments) {
  const std::string output = *flags.output;
  if (arguments.size() != 1 || output.empty()) {
    return absl::InvalidArgumentError(
        "usage: tandem-stablehlo EXPORT_DIR --output=model.mlir [--rows=1] [--constants]; --help explains them");
  }
  const int64_t rows = *flags.rows;
  TD_RETURN_IF_ERROR(ExportStableHlo(arguments[0], output, {.rows = rows, .constants = *flags.constants}));
  absl::PrintF("%s: StableHLO for %d rows\n", PrintableLine(output), rows);
  return absl::OkStatus();
}

}  // namespace

int TandemStablehlo(int argc, char** argv) {
  return RunToolProgram<StablehloFlags>(argc, argv, "an exported model (EXPORT_DIR) as StableHLO text.", ToStableHlo);
}

}  // namespace tandem

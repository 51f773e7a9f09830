#include "samples/common_flags.h"

#include "absl/flags/flag.h"
#include "base/status_macros.h"

ABSL_FLAG(std::string, trace, "",
          "Write a Chrome trace of some steps to this file: what every thread did when, how fast, and what limits it. "
          "For chrome://tracing and ui.perfetto.dev.");
ABSL_FLAG(std::string, trace_steps, "10-14", "FIRST-LAST of the steps in the trace, counted from 0 in this process.");
ABSL_FLAG(
    std::string, precision, "float32",
    "Of arithmetic: float32, strict_float32 (no Winograd), or mixed_bfloat16 (convolutions and matmuls; variables "
    "stay float32).");

namespace tandem {

absl::Status ApplyCommonFlags(RunConfig* config) {
  TD_ASSIGN_OR_RETURN(config->precision, PrecisionFromName(absl::GetFlag(FLAGS_precision)));
  config->trace = absl::GetFlag(FLAGS_trace);
  config->trace_steps = absl::GetFlag(FLAGS_trace_steps);
  return absl::OkStatus();
}

}  // namespace tandem

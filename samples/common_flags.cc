#include "samples/common_flags.h"

#include "absl/flags/flag.h"

ABSL_FLAG(std::string, trace, "",
          "Write a Chrome trace of some steps to this file: what every thread did when, how fast, and what limits it. "
          "For chrome://tracing and ui.perfetto.dev.");
ABSL_FLAG(std::string, trace_steps, "10-14", "FIRST-LAST of the steps in the trace, counted from 0 in this process.");

namespace tandem {

void ApplyCommonFlags(RunConfig* config) {
  config->trace = absl::GetFlag(FLAGS_trace);
  config->trace_steps = absl::GetFlag(FLAGS_trace_steps);
}

}  // namespace tandem

// The tools that tandem_run_tool (tandem_c.h) runs.
#ifndef TANDEM_ESTIMATOR_C_TOOL_RUNNER_H_
#define TANDEM_ESTIMATOR_C_TOOL_RUNNER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace tandem::c {

// Runs the tool with its arguments and returns its exit code. NotFound for an unknown tool.
using ToolRunner = absl::StatusOr<int> (*)(const std::string& name, const std::vector<std::string>& arguments);

// Sets the tools of this process. A library that has tools calls it before anybody can call tandem_run_tool; the
// library for programs that serve has none.
void SetToolRunner(ToolRunner runner);

}  // namespace tandem::c

#endif  // TANDEM_ESTIMATOR_C_TOOL_RUNNER_H_

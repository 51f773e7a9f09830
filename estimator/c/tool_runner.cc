#include "estimator/c/tool_runner.h"

#include <atomic>
#include <mutex>

#include "base/status_macros.h"
#include "estimator/c/status.h"

namespace tandem::c {
namespace {

std::atomic<ToolRunner> tool_runner = nullptr;

absl::StatusOr<int> RunOneTool(const std::string& name, const std::vector<std::string>& arguments) {
  static std::mutex& mutex = *new std::mutex();
  const ToolRunner runner = tool_runner.load();
  if (runner == nullptr) return absl::UnimplementedError("tandem_run_tool: this library has no tools");
  std::lock_guard<std::mutex> lock(mutex);
  return runner(name, arguments);
}

}  // namespace

void SetToolRunner(ToolRunner runner) { tool_runner = runner; }

}  // namespace tandem::c

extern "C" tandem_status* tandem_run_tool(const char* name, size_t num_arguments, const char* const* arguments,
                                          int32_t* exit_code) {
  return tandem::c::Guarded(__func__, [&, function = __func__]() -> absl::Status {
    TD_RETURN_IF_ERROR(tandem::c::CheckNotNull(function, "name", name));
    TD_RETURN_IF_ERROR(tandem::c::CheckNotNull(function, "exit_code", exit_code));
    if (num_arguments > 0) TD_RETURN_IF_ERROR(tandem::c::CheckNotNull(function, "arguments", arguments));
    std::vector<std::string> copies;
    for (size_t i = 0; i < num_arguments; ++i) {
      TD_RETURN_IF_ERROR(tandem::c::CheckNotNull(function, "an argument", arguments[i]));
      copies.emplace_back(arguments[i]);
    }
    TD_ASSIGN_OR_RETURN(*exit_code, tandem::c::RunOneTool(name, copies));
    return absl::OkStatus();
  });
}

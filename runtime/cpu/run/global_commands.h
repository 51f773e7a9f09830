// Runs commands of global sections: for all devices, cut into tasks that any thread may take.
#ifndef TANDEM_RUNTIME_CPU_RUN_GLOBAL_COMMANDS_H_
#define TANDEM_RUNTIME_CPU_RUN_GLOBAL_COMMANDS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/cpu/commands/cpu_command.h"
#include "runtime/cpu/step/step_state.h"
#include "runtime/threads/thread_pool.h"

namespace tandem {

// Returns the number of devices that run `command`. Only the first one runs it if the command writes variables of which
// all devices share one copy; otherwise all devices run it.
int DevicesThatRun(const StepState& state, const CpuCommand& command);

// Runs the pieces of a command on all devices.
absl::Status RunTasks(GlobalRun& run, const CpuCommand& command, ThreadPool& pool);

// Runs one command on all devices and returns when it is done. With `others`, it runs only the work that block updates
// leave to the command (block_updates.h). Returns false if a value that the command checks is a NaN or infinity.
absl::StatusOr<bool> RunGlobalCommand(const StepState& state, const CpuCommand& command, ThreadPool& pool,
                                      bool others = false);

// Runs several commands at the same time. The field `together` of the first command's table is their number.
absl::Status RunTogether(const StepState& state, absl::Span<const std::unique_ptr<CpuCommand>> commands,
                         ThreadPool& pool);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_RUN_GLOBAL_COMMANDS_H_

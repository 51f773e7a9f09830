// Compares expected and measured times of a program's commands.
#ifndef TANDEM_TOOLS_COSTS_COSTS_H_
#define TANDEM_TOOLS_COSTS_COSTS_H_

#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "passes/analysis/machine_model.h"
#include "runtime/executable/executable.h"
#include "tools/costs/measurement.h"

namespace tandem {

// Returns the machine model in a file that tandem-calibrate wrote, or the built-in model of this name. If the argument
// is empty, returns the model that the executable was compiled with, or else the built-in model that is most similar to
// this machine. Also returns the errors of ParseMachineModel.
absl::StatusOr<MachineModel> ChooseMachineModel(const std::string& name_or_file, const Executable& executable);

// Returns one object per command that does work, in the order of the program, and sums over the whole:
//   {"machine", "threads", "rows",                    // of all replicas together
//    "expected_us", "limit_us",                       // of a run: from the model; without overheads
//    "measured_us", "runs", "of_limit", "idle_share", // with a measurement: the median run; limit / measured;
//                                                     // the threads' time outside of all commands
//    "undisturbed_us",                                // all calls at their median time, shared by the threads
//    "commands": [{"id", "section", "kind", "name", "detail", "source",
//               "calls", "flops", "bytes",            // calls in a run; per call, with all rows of a microbatch
//               "expected_us", "limit_us", "bound",   // per call
//               "measured_us", "mean_us",             // with a measurement: the median call, and the mean
//               "gflops", "gbps", "of_limit",         // of the median call: achieved, and limit / measured
//               "share"}]}                            // of the threads' time
// A global command counts once for all devices. Without a measurement "share" is the share of the expected time.
nlohmann::ordered_json CostsJson(const Executable& executable, const MachineModel& machine, int threads,
                                 const Measurement* measurement);

// Formats the result of CostsJson as a table, the most expensive commands first.
std::string CostsText(const nlohmann::ordered_json& costs);

}  // namespace tandem

#endif  // TANDEM_TOOLS_COSTS_COSTS_H_

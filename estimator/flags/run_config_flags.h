// Flags that all samples have.
#ifndef TANDEM_ESTIMATOR_FLAGS_RUN_CONFIG_FLAGS_H_
#define TANDEM_ESTIMATOR_FLAGS_RUN_CONFIG_FLAGS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "tandem/base/api.h"
#include "tandem/estimator/config/run_config.h"

namespace TANDEM_API tandem {

// Sets the fields for --precision, --target, --tf32, --strategy, --cross_device_ops, --accumulate_batches,
// --check_steps_every, --communication, --communication_dtype, --deadline_secs, --gpu_plans, --deterministic,
// --compile_only, --trace and --trace_steps. Call it after train_distribute is set. InvalidArgument for unknown names.
absl::Status ApplyRunConfigFlags(RunConfig* config);

// Returns the strategy for the value of a flag --devices, see StrategyFromFlag. With --compile_only for GPUs "auto" is
// one GPU, whatever this machine has.
DistributionStrategy DevicesFromFlag(const std::string& devices);

// Checks before the work begins that the output files named by flags can be written. `files` has flags, such as
// "--eval_json", and their values; empty values are skipped. Files may be in model_dir, which is created. Errors: those
// of CheckOutputFile (base/output_file.h).
absl::Status CheckOutputFiles(const RunConfig& config, const std::vector<std::pair<std::string, std::string>>& files);

// The help text of a program's flag --devices.
inline constexpr char kDevicesHelp[] =
    "Devices, separated by commas, cpu:0,cpu:1 or gpu:0,gpu:1; each holds a replica of the model. auto: all GPUs, or "
    "two CPU devices where there are none.";

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_FLAGS_RUN_CONFIG_FLAGS_H_

// Flags that all samples have.
#ifndef TANDEM_ESTIMATOR_FLAGS_RUN_CONFIG_FLAGS_H_
#define TANDEM_ESTIMATOR_FLAGS_RUN_CONFIG_FLAGS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "estimator/run_config.h"

namespace tandem {

// Sets what --precision, --target, --tf32, --strategy, --cross_device_ops, --accumulate_batches, --communication,
// --deadline_secs, --gpu_plans, --deterministic, --compile_only, --trace and --trace_steps say; to be called behind
// the setting of train_distribute. InvalidArgument for names that are unknown.
absl::Status ApplyRunConfigFlags(RunConfig* config);

// The strategy for the value of a flag --devices, see StrategyFromFlag. With --compile_only for GPUs "auto" is one GPU,
// whatever this machine has.
DistributionStrategy DevicesFromFlag(const std::string& devices);

// Whether the files whose names flags gave can be written, found out before the work whose results go there; `files`:
// flags, such as "--eval_json", and their values, of which empty ones are none. They may lie in model_dir, which is
// made. Errors: those of CheckOutputFile (base/output_file.h).
absl::Status CheckOutputFiles(const RunConfig& config, const std::vector<std::pair<std::string, std::string>>& files);

// For the flag's help.
inline constexpr char kDevicesHelp[] =
    "Devices, separated by commas, cpu:0,cpu:1 or gpu:0,gpu:1; each holds a replica of the model. auto: all GPUs, or "
    "two CPU devices where there are none.";

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_FLAGS_RUN_CONFIG_FLAGS_H_

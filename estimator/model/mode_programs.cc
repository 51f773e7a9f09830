#include "estimator/model/mode_programs.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "base/processors.h"
#include "base/status_macros.h"
#include "base/user_cache.h"
#include "runtime/device_classes/device_classes.h"

namespace tandem {

absl::StatusOr<std::string> TargetOf(const RunConfig& config, const DistributionStrategy& strategy) {
  if (!config.target.empty()) {
    TD_ASSIGN_OR_RETURN(const std::string device_class, DeviceClassOfTarget(config.target));
    const bool gpu = device_class == "gpu";
    if (gpu == strategy.gpu()) return config.target;
    return absl::InvalidArgumentError(absl::StrCat("target \"", config.target, "\" is not for ", strategy.devices[0],
                                                   "; name ", gpu ? "GPUs" : "CPUs", " as devices or another target"));
  }
  if (!strategy.gpu()) return "cpu:native";
  if (config.compile_only) {
    return absl::InvalidArgumentError("compile_only for GPUs needs a target, for example \"cuda:sm_90\"");
  }
  TD_ASSIGN_OR_RETURN(const std::vector<DeviceInfo> gpus, ListDevices("gpu"));
  int sm = gpus[0].compute_capability;
  for (size_t i = 0; i < gpus.size(); ++i) {
    if (std::count(strategy.devices.begin(), strategy.devices.end(), absl::StrCat("gpu:", i)) > 0) {
      sm = std::min(sm, gpus[i].compute_capability);
    }
  }
  return GpuTargetName(sm);
}

absl::StatusOr<std::unique_ptr<ModeProgram>> ModePrograms::Build(const Request& request) const {
  Params params = params_;
  params.SetPlacement(request.placement);
  return ModeProgram::Build(model_fn_, request.mode, params, request.components, labels_, request.replicas);
}

absl::StatusOr<ModeProgram*> ModePrograms::FindOrBuild(const std::string& key, const Request& request, bool* is_new) {
  const auto found = programs_.find(key);
  if (is_new != nullptr) *is_new = found == programs_.end();
  if (found != programs_.end()) return found->second.get();
  TD_ASSIGN_OR_RETURN(std::unique_ptr<ModeProgram> program, Build(request));
  return (programs_[key] = std::move(program)).get();
}

std::vector<const ModeProgram*> ModePrograms::All() const {
  std::vector<const ModeProgram*> programs;
  for (const auto& entry : programs_) programs.push_back(entry.second.get());
  return programs;
}

absl::StatusOr<CompileOptions> ModePrograms::OptionsFor(const Place& place) {
  if (!pool_) {
    const int threads = std::max(1, UsableProcessors() / place.processes_here);
    TD_ASSIGN_OR_RETURN(pool_, ThreadPool::Create(config_.threads > 0 ? config_.threads : threads));
  }
  CompileOptions options;
  TD_ASSIGN_OR_RETURN(options.target, TargetOf(config_, place.strategy));
  options.devices = place.devices;
  options.batch_per_replica = place.batch;
  options.part = place.part;
  options.cross_device_ops = place.strategy.cross_device_ops;
  options.communication_dtype = config_.communication_dtype;
  options.lanes = config_.lanes;
  options.microbatch_rows = config_.microbatch_rows;
  options.precision = config_.precision;
  options.tf32 = config_.tf32;
  options.memory_limit = config_.memory_limit;
  options.cache_required = config_.compile_only;  // with compile_only the files in the cache are the only result
  options.precision_lists = config_.mixed_precision_lists;
  options.threads = pool_->num_threads();
  if (config_.compile_cache) {
    options.cache_dir = config_.compile_cache_dir;
    // A temporary model_dir is new in every process, so a cache in it would always be empty. The user's cache is used
    // instead.
    if (options.cache_dir.empty() && temporary_model_dir_ && !config_.compile_only) {
      if (!user_cache_.has_value()) user_cache_ = UserProgramCache();
      options.cache_dir = *user_cache_;
    }
    if (options.cache_dir.empty()) options.cache_dir = JoinPath(config_.model_dir, "compiled");
  }
  return options;
}

}  // namespace tandem

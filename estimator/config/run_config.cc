#include "estimator/config/run_config.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "base/threads.h"
#include "cluster/resolver.h"
#include "estimator/config/warnings.h"
#include "estimator/trace/trace_steps.h"
#include "runtime/commands/lane_count.h"

namespace tandem {
namespace {

constexpr double kDefaultCheckpointSecs = 600;

std::string StrategyString(const DistributionStrategy& strategy) {
  const std::string& ops = strategy.cross_device_ops;
  return absl::StrCat(strategy.name, "(", absl::StrJoin(strategy.devices, ", "),
                      ops.empty() ? "" : absl::StrCat("; ", ops), ")");
}

std::string KeepBestString(const std::optional<KeepBest>& keep_best) {
  if (!keep_best.has_value()) return "none";
  const std::string evaluation = keep_best->evaluation.empty() ? "" : absl::StrCat(" of ", keep_best->evaluation);
  return absl::StrCat(keep_best->count, " by ", Name(OrMin(keep_best->direction)), " ", keep_best->metric, evaluation);
}

// `zero` says what a value of 0 does, for the message.
void CheckNotNegative(const char* name, double value, const char* zero, std::vector<std::string>* problems) {
  if (value < 0 || !std::isfinite(value)) {
    problems->push_back(absl::StrCat(name, " must not be negative, got ", value, "; 0 ", zero));
  }
}

}  // namespace

absl::Status RunConfig::Validate() const {
  std::vector<std::string> problems;
  if (save_checkpoints_steps.has_value() && save_checkpoints_secs.has_value()) {
    problems.push_back(absl::StrCat("save_checkpoints_steps and save_checkpoints_secs cannot be both set, got ",
                                    *save_checkpoints_steps, " and ", *save_checkpoints_secs, "; choose one"));
  }
  CheckNotNegative("save_checkpoints_steps", save_checkpoints_steps.value_or(0), "turns checkpoints off", &problems);
  CheckNotNegative("save_checkpoints_secs", save_checkpoints_secs.value_or(0), "turns checkpoints off", &problems);
  CheckNotNegative("keep_checkpoint_max", keep_checkpoint_max, "keeps all", &problems);
  CheckNotNegative("keep_checkpoint_every_n_hours", keep_checkpoint_every_n_hours, "keeps none of them", &problems);
  if (keep_best.has_value()) {
    if (keep_best->metric.empty()) {
      problems.push_back("keep_best: metric is empty; name one, for example \"loss\"");
    } else if (std::string problem = DirectionProblem(keep_best->metric, keep_best->direction); !problem.empty()) {
      problems.push_back("keep_best: " + problem);
    }
    if (keep_best->count < 1) {
      problems.push_back(absl::StrCat("keep_best: count must be at least 1, got ", keep_best->count));
    }
    if (!checkpoints_enabled()) {
      problems.push_back(
          "keep_best keeps checkpoints, and they are off; set save_checkpoints_steps or save_checkpoints_secs");
    }
  }
  CheckNotNegative("log_step_count_steps", log_step_count_steps, "turns the lines off", &problems);
  CheckNotNegative("save_summary_steps", save_summary_steps, "writes no event files", &problems);
  CheckNotNegative("check_steps_every", static_cast<double>(check_steps_every), "makes no step twice", &problems);
  if (check_steps_every > 0 && train_strategy().gpu()) {
    problems.push_back("check_steps_every makes steps twice on CPUs only, and train_distribute names GPUs; leave it 0");
  }
  if (check_steps_every > 0 && train_strategy().updates == ClusterUpdates::kServers) {
    problems.push_back(
        "check_steps_every makes a step twice, and parameter servers would take both updates; leave it 0");
  }
  CheckNotNegative("threads", threads, "takes the number of cores", &problems);
  if (threads >= 0) {
    if (absl::Status status = CheckThreadCount("threads", threads); !status.ok()) {
      problems.emplace_back(status.message());
    }
  }
  CheckNotNegative("lanes", lanes, "lets the compiler choose", &problems);
  CheckNotNegative("microbatch_rows", microbatch_rows, "lets the compiler choose", &problems);
  CheckNotNegative("memory_limit", memory_limit, "is no limit", &problems);
  CheckNotNegative("stall_warning_secs", stall_warning_secs, "names nothing", &problems);
  if (!(deadline_secs > 0)) {  // refuses NaN; infinity is allowed
    problems.push_back(
        absl::StrCat("deadline_secs must be positive, got ", deadline_secs, "; infinity waits for ever"));
  }
  if (accumulate_batches < 1) {
    problems.push_back(absl::StrCat("accumulate_batches must be at least 1, got ", accumulate_batches));
  }
  if (max_staleness.has_value() && *max_staleness < 0) {
    problems.push_back(
        absl::StrCat("max_staleness must not be negative, got ", *max_staleness, "; leave it out for no bound"));
  }
  if (communication_dtype != DType::kFloat32 && communication_dtype != DType::kBFloat16) {
    problems.push_back(
        absl::StrCat("communication_dtype must be kFloat32 or kBFloat16, got ", Name(communication_dtype)));
  } else if (communication_dtype == DType::kBFloat16 && precision == Precision::kStrictFloat32) {
    problems.push_back(
        "communication_dtype is bfloat16, and precision strict_float32 rounds nothing to it; choose one");
  }
  if (tf32 && precision == Precision::kStrictFloat32) {
    problems.push_back("tf32 is set, and precision strict_float32 rounds nothing to it; choose one");
  }
  if (!(peer_deadline_secs > 0)) {
    problems.push_back(absl::StrCat("peer_deadline_secs must be positive, got ", peer_deadline_secs));
  }
  if (tls.has_value() && !WhatIsMissing(*tls).empty()) {
    problems.push_back(absl::StrCat("tls has ", WhatIsMissing(*tls), "; certificate, key and ca go together"));
  }
  for (const auto& [field, strategy] :
       {std::make_pair("train_distribute", &train_distribute), std::make_pair("eval_distribute", &eval_distribute)}) {
    if (!strategy->has_value()) continue;
    if (absl::Status status = (*strategy)->Validate(); !status.ok()) {
      problems.push_back(absl::StrCat(field, ": ", status.message()));
    }
  }
  for (const auto& [field, strategy] :
       {std::make_pair("train_distribute", train_strategy()), std::make_pair("eval_distribute", eval_strategy())}) {
    // For GPUs the compiler reports that lanes cannot be set; a list without devices was reported above.
    if (lanes <= 0 || strategy.gpu() || strategy.devices.empty()) continue;
    if (absl::Status status = CheckLaneCount(lanes, strategy.num_replicas()); !status.ok()) {
      problems.push_back(absl::StrCat(status.message(), " (", field, ")"));
      break;
    }
  }
  if (eval_strategy().gpu() != train_strategy().gpu()) {
    problems.push_back("train_distribute and eval_distribute must be both CPUs or both GPUs: they share the variables");
  }
  if (compile_only && !compile_cache)
    problems.push_back("compile_only needs compile_cache: programs are written there");
  if (eval_strategy().num_replicas() > train_strategy().num_replicas()) {
    problems.push_back(absl::StrCat("eval_distribute has ", eval_strategy().num_replicas(), " devices and ",
                                    "train_distribute ", train_strategy().num_replicas(),
                                    ": variables live on the devices of train_distribute only; name the others there"));
  }
  if (warm_start_from.has_value()) {
    for (std::string& problem : warm_start_from->Problems()) problems.push_back(std::move(problem));
  }
  if (absl::Status status = ParseTraceSteps(trace_steps).status(); !status.ok()) {
    problems.push_back(std::string(status.message()));
  }
  if (std::string problem = SilenceProblem(silence); !problem.empty()) problems.push_back(std::move(problem));
  if (problems.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("RunConfig: ", absl::StrJoin(problems, "; ")));
}

absl::Status RunConfig::CheckDevices() const {
  if (compile_only) return absl::OkStatus();
  TD_RETURN_IF_ERROR(train_strategy().CheckPresent());
  return eval_strategy().CheckPresent();
}

absl::StatusOr<std::optional<Cluster>> RunConfig::ResolvedCluster() const {
  if (!cluster.has_value()) return ResolveCluster(Environment::OfProcess());
  TD_RETURN_IF_ERROR(CheckCluster(*cluster));
  return cluster;
}

absl::StatusOr<std::optional<TlsFiles>> RunConfig::ResolvedTls() const {
  return tls.has_value() ? tls : TlsFilesOf(Environment::OfProcess());
}

absl::StatusOr<int> RunConfig::TotalReplicas() const {
  TD_ASSIGN_OR_RETURN(const std::optional<Cluster> workers, ResolvedCluster());
  const int64_t processes = workers.has_value() ? std::max(workers->world_size, workers->full_world_size) : 1;
  return train_strategy().num_replicas() * static_cast<int>(processes);
}

absl::StatusOr<RunConfig> RunConfig::WithDevicesOfMissingWorkers() const {
  TD_ASSIGN_OR_RETURN(std::optional<Cluster> workers, ResolvedCluster());
  if (!workers.has_value() || workers->full_world_size <= workers->world_size) return *this;
  // On GPUs missing workers cannot be replaced: the Estimator returns an error.
  if (train_strategy().gpu()) return *this;
  const int64_t share = workers->full_world_size / workers->world_size;
  RunConfig config = *this;
  workers->full_world_size = workers->world_size;
  config.cluster = std::move(workers);
  const auto with_others = [share](DistributionStrategy strategy) {
    if (!strategy.multi_worker || strategy.gpu()) return strategy;
    const auto devices = static_cast<int64_t>(strategy.devices.size()) * share;
    strategy.devices.clear();
    for (int64_t i = 0; i < devices; ++i) strategy.devices.push_back(absl::StrCat("cpu:", i));
    return strategy;
  };
  config.train_distribute = with_others(train_strategy());
  if (eval_distribute.has_value()) config.eval_distribute = with_others(*eval_distribute);
  return config;
}

bool RunConfig::checkpoints_enabled() const { return checkpoint_steps() > 0 || checkpoint_secs() > 0; }

int64_t RunConfig::checkpoint_steps() const { return save_checkpoints_steps.value_or(0); }

double RunConfig::checkpoint_secs() const {
  if (save_checkpoints_steps.has_value()) return 0;
  return save_checkpoints_secs.value_or(kDefaultCheckpointSecs);
}

std::vector<std::pair<std::string, std::string>> RunConfig::Fields() const {
  return {
      {"model_dir", model_dir},
      {"seed", absl::StrCat(seed.value_or(0))},
      {"save_checkpoints_steps", absl::StrCat(checkpoint_steps())},
      {"save_checkpoints_secs", absl::StrCat(checkpoint_secs())},
      {"keep_checkpoint_max", absl::StrCat(keep_checkpoint_max)},
      {"keep_best", KeepBestString(keep_best)},
      {"keep_checkpoint_every_n_hours", absl::StrCat(keep_checkpoint_every_n_hours)},
      {"log_step_count_steps", absl::StrCat(log_step_count_steps)},
      {"save_summary_steps", absl::StrCat(save_summary_steps)},
      {"record_bits", absl::StrCat(record_bits)},
      {"check_steps_every", absl::StrCat(check_steps_every)},
      {"train_distribute", StrategyString(train_strategy())},
      {"eval_distribute", StrategyString(eval_strategy())},
      {"communication", absl::StrCat(Name(communication))},
      {"communication_dtype", absl::StrCat(Name(communication_dtype))},
      {"peer_deadline_secs", absl::StrCat(peer_deadline_secs)},
      {"tls", tls.has_value() ? tls->certificate : "of the environment"},
      {"max_staleness", max_staleness.has_value() ? absl::StrCat(*max_staleness) : "none"},
      {"auto_shard", absl::StrCat(Name(auto_shard))},
      {"accumulate_batches", absl::StrCat(accumulate_batches)},
      {"threads", absl::StrCat(threads)},
      {"lanes", absl::StrCat(lanes)},
      {"microbatch_rows", absl::StrCat(microbatch_rows)},
      {"precision", absl::StrCat(Name(precision))},
      {"target", absl::StrCat(target.empty() ? "of the devices" : target)},
      {"tf32", absl::StrCat(tf32)},
      {"deadline_secs", absl::StrCat(deadline_secs)},
      {"gpu_plans", absl::StrCat(gpu_plans.empty() ? "the libraries'" : gpu_plans)},
      {"deterministic", absl::StrCat(deterministic)},
      {"memory_limit", absl::StrCat(memory_limit)},
      {"warm_start_from", warm_start_from.has_value() ? warm_start_from->path : "none"},
  };
}

std::string RunConfig::ToString() const {
  std::vector<std::string> fields;
  for (const auto& [name, value] : Fields()) fields.push_back(absl::StrCat(name, ": ", value));
  return absl::StrCat("{", absl::StrJoin(fields, ", "), "}");
}

}  // namespace tandem

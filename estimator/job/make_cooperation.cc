#include "estimator/job/make_cooperation.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/exit_code.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "cluster/cluster.h"
#include "estimator/job/parameter_server_task.h"
#include "estimator/job/served_worker.h"
#include "estimator/job/synchronous_workers.h"

namespace tandem {
namespace {

absl::Status Refuse(const Cluster& cluster, absl::string_view what) {
  return WithExitCode(absl::InvalidArgumentError(absl::StrCat("cluster: ", cluster.Text(), ": ", what)), kExitUsage);
}

void TagLog(const Cluster& cluster) {
  SetLogTag(absl::StrCat("[", Name(cluster.task.type), " ", cluster.task.index, "] "));
}

absl::Status CheckServed(const Cluster& cluster, const RunConfig& config) {
  for (const DistributionStrategy& strategy : {config.train_strategy(), config.eval_strategy()}) {
    if (!strategy.multi_worker || strategy.updates == ClusterUpdates::kTogether) {
      return Refuse(cluster, absl::StrCat("it has tasks of type ps, and ", strategy.name,
                                          " has no use for them; use ParameterServerStrategy, or leave them out"));
    }
    if (strategy.gpu()) return Refuse(cluster, "parameter servers are for workers with CPUs so far");
  }
  return cluster.world_size < 1 ? Refuse(cluster, "there is no worker") : absl::OkStatus();
}

absl::Status CheckSynchronous(const Cluster& cluster, const RunConfig& config) {
  for (const DistributionStrategy& strategy : {config.train_strategy(), config.eval_strategy()}) {
    if (!strategy.multi_worker) {
      return Refuse(cluster,
                    absl::StrCat(strategy.name, " is for one process; use MultiWorkerMirroredStrategy, or take the ",
                                 "description of the cluster out of the environment"));
    }
    if (strategy.gpu() && cluster.full_world_size > cluster.world_size) {
      return Refuse(cluster,
                    absl::StrCat("there are ", cluster.world_size, " of ", cluster.full_world_size,
                                 " workers, and a GPU does not take the replicas of missing ones over; start all of "
                                 "them (tandem-launch without --min_workers), or use CPUs"));
    }
    if (config.communication == Communication::kNccl && !strategy.gpu()) {
      return Refuse(cluster, absl::StrCat("communication nccl is for GPUs, and the devices are ",
                                          absl::StrJoin(strategy.devices, ","), "; use auto"));
    }
  }
  return config.train_strategy().num_replicas() == config.eval_strategy().num_replicas()
             ? absl::OkStatus()
             : Refuse(cluster, "train_distribute and eval_distribute must have as many devices");
}

absl::StatusOr<std::unique_ptr<Cooperation>> MakeServed(const Cluster& cluster, const Cooperation::Context& context) {
  TD_RETURN_IF_ERROR(CheckServed(cluster, context.config));
  const bool is_server = cluster.task.type == TaskType::kParameterServer;
  if (is_server || !cluster.is_chief()) {
    TagLog(cluster);
    SetMinLogSeverity(LogSeverity::kWarning);
  }
  if (is_server) return std::make_unique<ParameterServerTask>(cluster, context);
  return std::make_unique<ServedWorker>(cluster, context);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Cooperation>> MakeCooperation(RunConfig* config, const Cooperation::Context& context) {
  TD_ASSIGN_OR_RETURN(const std::optional<Cluster> found, config->ResolvedCluster());
  const DistributionStrategy strategy = config->train_strategy();
  const bool wants_servers = strategy.updates == ClusterUpdates::kServers;
  if (!found.has_value()) {
    if (wants_servers) {
      TD_LOG(INFO) << strategy.name << ": there is no cluster, so this process trains alone.";
    }
    return std::make_unique<Cooperation>();
  }
  const Cluster& cluster = *found;
  const bool is_evaluator = cluster.task.type == TaskType::kEvaluator;
  if (is_evaluator) {
    TagLog(cluster);
    TD_LOG(INFO) << "cluster: " << cluster.Text();
    return std::make_unique<Cooperation>(is_evaluator, /*has_evaluator=*/true);
  }
  TD_ASSIGN_OR_RETURN(config->tls, config->ResolvedTls());
  if (cluster.addresses.contains(TaskType::kParameterServer)) return MakeServed(cluster, context);
  if (wants_servers) {
    return Refuse(cluster, absl::StrCat(strategy.name, " needs tasks of type ps, and the cluster has none"));
  }
  if (cluster.world_size == 1) {
    return std::make_unique<Cooperation>(is_evaluator, cluster.addresses.contains(TaskType::kEvaluator));
  }
  TD_RETURN_IF_ERROR(CheckSynchronous(cluster, *config));
  if (!cluster.is_chief()) TagLog(cluster);
  return std::make_unique<SynchronousWorkers>(cluster, context);
}

}  // namespace tandem

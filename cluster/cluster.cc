#include "cluster/cluster.h"

#include "absl/strings/str_cat.h"

namespace tandem {

absl::string_view Name(TaskType type) {
  switch (type) {
    case TaskType::kChief:
      return "chief";
    case TaskType::kWorker:
      return "worker";
    case TaskType::kParameterServer:
      return "ps";
    case TaskType::kEvaluator:
      return "evaluator";
  }
  return "";
}

std::string Cluster::Text() const {
  std::string text = absl::StrCat(Name(task.type), " ", task.index);
  if (rank >= 0) absl::StrAppend(&text, ", rank ", rank, " of ", world_size);
  if (local_rank >= 0) absl::StrAppend(&text, ", local rank ", local_rank);
  if (local_rank >= 0 && local_world_size > 0) absl::StrAppend(&text, " of ", local_world_size);
  if (!coordinator.empty()) absl::StrAppend(&text, ", rank 0 at ", coordinator);
  return absl::StrCat(text, ", by ", source);
}

absl::Status CheckCluster(const Cluster& cluster) {
  const auto wrong = [](const auto&... what) {
    return absl::InvalidArgumentError(absl::StrCat("RunConfig.cluster: ", what...));
  };
  const int64_t size = cluster.world_size, full = cluster.full_world_size;
  const bool trains = cluster.task.type == TaskType::kChief || cluster.task.type == TaskType::kWorker;
  if (size < 1 || size > kMaxProcesses) return wrong("world_size is ", size, "; it must be 1 to ", kMaxProcesses);
  if (cluster.rank < (trains ? 0 : -1) || cluster.rank >= size) {
    return wrong("rank is ", cluster.rank, " and world_size ", size, "; ranks count from 0 on");
  }
  if (full != 0 && (full < size || full > kMaxProcesses || full % size != 0)) {
    return wrong("full_world_size is ", full, "; it must be 0 or a multiple of world_size, ", size);
  }
  if (cluster.local_rank < -1 || (cluster.local_world_size > 0 && cluster.local_rank >= cluster.local_world_size)) {
    return wrong("local_rank is ", cluster.local_rank, " and local_world_size ", cluster.local_world_size,
                 "; ranks count from 0 on");
  }
  if (cluster.task.index < 0) return wrong("task.index is ", cluster.task.index, "; tasks count from 0 on");
  const auto addresses = cluster.addresses.find(cluster.task.type);
  if (addresses != cluster.addresses.end() && cluster.task.index >= static_cast<int64_t>(addresses->second.size())) {
    return wrong("task.index is ", cluster.task.index, ", and addresses has ", addresses->second.size(), " of type ",
                 Name(cluster.task.type));
  }
  return absl::OkStatus();
}

}  // namespace tandem

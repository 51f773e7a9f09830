// Cluster: the processes that take part in a training, and which of them this process is.
#ifndef TANDEM_CLUSTER_CLUSTER_H_
#define TANDEM_CLUSTER_CLUSTER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "tandem/base/api.h"

namespace TANDEM_API tandem {

// The largest world_size.
inline constexpr int64_t kMaxProcesses = 1 << 20;

// The role of a process. A chief is a worker that also saves and logs.
enum class TaskType { kChief, kWorker, kParameterServer, kEvaluator };

// Returns the name as in TF_CONFIG: "chief", "worker", "ps", "evaluator".
absl::string_view Name(TaskType type);

// One process of a cluster.
struct Task {
  TaskType type = TaskType::kChief;
  int64_t index = 0;  // number of the task among those of its type, from 0 on
};

// What a launcher has told this process, or a program sets in RunConfig.cluster.
struct Cluster {
  // The source of this description: "TF_CONFIG", "torchrun (RANK, WORLD_SIZE)".
  std::string source;
  Task task;
  // This process's number among the processes that train together (the chief, then the workers in their order), and the
  // count of these processes. Parameter servers and evaluators do not count, and have rank -1.
  int64_t rank = 0, world_size = 1;
  // The number of processes with which the training was started, if it continues with fewer: a multiple of world_size.
  // Each process then runs the replicas of several processes, so that steps have the same global batch. Otherwise
  // world_size, or 0.
  int64_t full_world_size = 0;
  // This process's number among those of the job on this host, and their count; -1 and 0 if unknown.
  int64_t local_rank = -1, local_world_size = 0;
  // HOST:PORT at which rank 0 listens for the other processes; empty if unknown.
  std::string coordinator;
  // The launcher's name for this start of all processes, which no other processes have; empty if unknown.
  std::string job;
  // HOST:PORT of every task, by type and index; set by TF_CONFIG only.
  std::map<TaskType, std::vector<std::string>> addresses;

  // True if this process saves checkpoints and logs progress.
  bool is_chief() const { return rank == 0; }
  // Returns, for example, "worker 1, rank 2 of 4, rank 0 at 10.0.0.1:2222, by TF_CONFIG".
  std::string Text() const;
};

// Checks a cluster that a program has described by itself. InvalidArgument for mistakes that no launcher makes: a rank
// that is not below world_size, or a task without an address where other tasks of its type have one.
absl::Status CheckCluster(const Cluster& cluster);

}  // namespace tandem

#endif  // TANDEM_CLUSTER_CLUSTER_H_

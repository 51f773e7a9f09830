// Cluster: the processes that take part in a training, and which of them this one is.
#ifndef TANDEM_CLUSTER_CLUSTER_H_
#define TANDEM_CLUSTER_CLUSTER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tandem {

// Of world_size.
inline constexpr int64_t kMaxProcesses = 1 << 20;

// What a process does. A chief is a worker that also saves and logs.
enum class TaskType { kChief, kWorker, kParameterServer, kEvaluator };

// As TF_CONFIG has it: "chief", "worker", "ps", "evaluator".
absl::string_view Name(TaskType type);

struct Task {
  TaskType type = TaskType::kChief;
  int64_t index = 0;  // among those of its type
};

struct Cluster {
  // Who said so: "TF_CONFIG", "torchrun (RANK, WORLD_SIZE)".
  std::string source;
  Task task;
  // Among the processes that train together, which are the chief, then the workers in their order. Parameter servers
  // and evaluators are not among them and have rank -1.
  int64_t rank = 0, world_size = 1;
  // The processes that the training was begun with, where it goes on with fewer: a multiple of world_size. Each then
  // takes the replicas of several, so that steps have the same global batch. Else world_size, or 0.
  int64_t full_world_size = 0;
  // Among those on this host; -1 and 0 where nobody says.
  int64_t local_rank = -1, local_world_size = 0;
  // Where processes meet, HOST:PORT; empty where nobody says.
  std::string coordinator;
  // The launcher's name for this start of all processes, the same on them and on no others; empty where nobody says.
  std::string job;
  // HOST:PORT of every task, by type and index; only TF_CONFIG has them.
  std::map<TaskType, std::vector<std::string>> addresses;

  // Whether this process saves checkpoints and logs progress.
  bool is_chief() const { return rank == 0; }
  // "worker 1 of 3 (rank 2 of 4), chief at 10.0.0.1:2222, by TF_CONFIG".
  std::string Text() const;
};

// InvalidArgument for what a program gives and no launcher would: a rank that is none of world_size, a task without an
// address where others have one.
absl::Status CheckCluster(const Cluster& cluster);

}  // namespace tandem

#endif  // TANDEM_CLUSTER_CLUSTER_H_

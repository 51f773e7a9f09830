// Layout: the tasks of a group of processes, and the environment of each task.
#ifndef TANDEM_TOOLS_LAUNCH_LAYOUT_H_
#define TANDEM_TOOLS_LAUNCH_LAYOUT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "cluster/cluster.h"

namespace tandem {

// The environment variables that tell each process its task.
enum class Variables { kTfConfig, kTorchrun };

// With parameter servers, worker 0 is a task of type chief, and the other workers count from 0 again, as Estimators'
// jobs do. Without them all are of type worker, as with MultiWorkerMirroredStrategy.
struct Layout {
  Variables variables = Variables::kTfConfig;
  int64_t workers = 1;  // including the chief
  int64_t parameter_servers = 0;
  bool evaluator = false;
  // Number of workers of the first start if this one has fewer: the others then do the work of the missing ones. 0: the
  // same number.
  int64_t full_workers = 0;
};

// Returns "worker 1".
std::string Label(const Task& task);

// Return the next smaller, or larger, number of workers that can share the work of `full` workers evenly; 0 if there is
// none.
int64_t FewerWorkers(int64_t workers, int64_t full);
int64_t MoreWorkers(int64_t workers, int64_t full);

// Returns chief and workers by rank, then parameter servers, then the evaluator.
std::vector<Task> TasksOf(const Layout& layout);

// Returns the number of ports for TaskEnvironment: one for each task with TF_CONFIG, one in total for torchrun's
// variables.
int64_t NumPorts(const Layout& layout);

// Returns the environment of task number `index` of TasksOf(layout), with `ports` of this host for meeting the others:
// the inherited environment without variables of other launchers, which would contradict ours.
std::map<std::string, std::string> TaskEnvironment(const std::map<std::string, std::string>& inherited,
                                                   const Layout& layout, absl::Span<const int> ports, int64_t index,
                                                   int64_t restarts);

}  // namespace tandem

#endif  // TANDEM_TOOLS_LAUNCH_LAYOUT_H_

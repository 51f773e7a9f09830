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

// Which environment variables tell each process its task: TF_CONFIG, or those of torchrun.
enum class Variables { kTfConfig, kTorchrun };

// The numbers of tasks of each type. With parameter servers, worker 0 is a task of type chief, and the other workers
// are counted from 0 again, as in jobs of TensorFlow's Estimator. Without parameter servers all are of type worker, as
// with MultiWorkerMirroredStrategy.
struct Layout {
  Variables variables = Variables::kTfConfig;
  int64_t workers = 1;  // number of workers, including the chief
  int64_t parameter_servers = 0;
  bool evaluator = false;
  // If this start has fewer workers than the first one, the number of workers of the first start, whose work these
  // workers share. 0 means the same number.
  int64_t full_workers = 0;
};

// Returns a task's type and index: "worker 1".
std::string Label(const Task& task);

// These return the next smaller, or next larger, number of workers among which the work of `full` workers can be
// divided evenly; 0 if there is none.
int64_t FewerWorkers(int64_t workers, int64_t full);
int64_t MoreWorkers(int64_t workers, int64_t full);

// Returns the tasks in this order: chief and workers by rank, then parameter servers, then the evaluator.
std::vector<Task> TasksOf(const Layout& layout);

// Returns how many ports TaskEnvironment needs: one for each task with TF_CONFIG, one in total with torchrun's
// variables.
int64_t NumPorts(const Layout& layout);

// Returns the environment of task number `index` of TasksOf(layout): the inherited environment, without the variables
// of other launchers, and the variables that describe the task. The tasks connect to each other at `ports` of this
// host.
std::map<std::string, std::string> TaskEnvironment(const std::map<std::string, std::string>& inherited,
                                                   const Layout& layout, absl::Span<const int> ports, int64_t index,
                                                   int64_t restarts);

}  // namespace tandem

#endif  // TANDEM_TOOLS_LAUNCH_LAYOUT_H_

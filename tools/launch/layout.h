// Layout: the tasks of a group of processes, and what the environment tells each of them.
#ifndef TANDEM_TOOLS_LAUNCH_LAYOUT_H_
#define TANDEM_TOOLS_LAUNCH_LAYOUT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "cluster/cluster.h"

namespace tandem {

// By which variables the processes are told who they are.
enum class Variables { kTfConfig, kTorchrun };

// With parameter servers worker 0 is a task of type chief, and the other workers count from 0 again: the jobs that
// estimators have. Without them all are of type worker, as users of MultiWorkerMirroredStrategy write it.
struct Layout {
  Variables variables = Variables::kTfConfig;
  int64_t workers = 1;  // with the chief
  int64_t parameter_servers = 0;
  bool evaluator = false;
  // Of the first start, where this one has fewer: the others take what those that are missing had. 0: as many.
  int64_t full_workers = 0;
};

// "worker 1".
std::string Label(const Task& task);

// The next smaller, or larger, number of workers that can share the work of `full` evenly; 0 where there is none.
int64_t FewerWorkers(int64_t workers, int64_t full);
int64_t MoreWorkers(int64_t workers, int64_t full);

// Chief and workers by rank, then parameter servers, then the evaluator.
std::vector<Task> TasksOf(const Layout& layout);

// How many ports TaskEnvironment needs: one for each task with TF_CONFIG, one for all with torchrun's variables.
int64_t NumPorts(const Layout& layout);

// The variables of task number `index` of TasksOf(layout), which meets the others at `ports` of this host: what the
// launcher inherited, without what other launchers say, which the task would have to compare with ours.
std::map<std::string, std::string> TaskEnvironment(const std::map<std::string, std::string>& inherited,
                                                   const Layout& layout, absl::Span<const int> ports, int64_t index,
                                                   int64_t restarts);

}  // namespace tandem

#endif  // TANDEM_TOOLS_LAUNCH_LAYOUT_H_

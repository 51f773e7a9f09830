// ServedTask: base class of the tasks of a job with parameter servers: the servers and the workers.
#ifndef TANDEM_ESTIMATOR_JOB_SERVED_TASK_H_
#define TANDEM_ESTIMATOR_JOB_SERVED_TASK_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "estimator/job/cluster_task.h"

namespace tandem {

// The tasks work together in training only: each process makes evaluations and predictions by itself.
class ServedTask : public ClusterTask {
 public:
  using ClusterTask::ClusterTask;

  bool asynchronous() const override { return true; }
  int processes_here() const override;
  Cooperation& In(Mode mode) override { return mode == Mode::kTrain ? *this : alone(); }
  StepPart PartOfStep() const override;

 protected:
  const std::vector<std::string>& servers() const;
  // Returns, for example, "worker 1 at host, pid 123".
  std::string WhoIs() const;
  // Returns facts about the build, the model and the input, by name, that must be the same on all tasks.
  std::map<std::string, std::string> FactsOf(const ModeProgram& program, const BatchDealer& dealer) const;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_JOB_SERVED_TASK_H_

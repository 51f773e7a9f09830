// ClusterTask: base class of the tasks of a cluster that train a model together, workers and parameter servers.
#ifndef TANDEM_ESTIMATOR_JOB_CLUSTER_TASK_H_
#define TANDEM_ESTIMATOR_JOB_CLUSTER_TASK_H_

#include <cstdint>

#include "cluster/cluster.h"
#include "estimator/job/cooperation.h"

namespace tandem {

class ClusterTask : public Cooperation {
 public:
  ClusterTask(const Cluster& cluster, const Context& context)
      : Cooperation(/*is_evaluator=*/false, cluster.addresses.contains(TaskType::kEvaluator)),
        cluster_(cluster),
        context_(context) {}

  bool is_chief() const override { return cluster_.is_chief(); }
  int64_t rank() const override { return cluster_.rank; }

 protected:
  const Cluster& cluster() const { return cluster_; }
  const Context& context() const { return context_; }
  // Returns the cooperation to use in calls that this process makes without the other tasks.
  Cooperation& alone() { return alone_; }

 private:
  const Cluster cluster_;
  const Context context_;
  Cooperation alone_;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_JOB_CLUSTER_TASK_H_

// JoinedWorkers: connects this process to the other workers of a cluster.
#ifndef TANDEM_ESTIMATOR_WORKERS_JOINED_WORKERS_H_
#define TANDEM_ESTIMATOR_WORKERS_JOINED_WORKERS_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cluster/cluster.h"
#include "cluster/member.h"
#include "cluster/tls_files.h"
#include "estimator/config/run_config.h"
#include "estimator/workers/worker_group.h"
#include "runtime/collectives/process_group.h"

namespace tandem {

class JoinedWorkers {
 public:
  // Waits for the other workers and connects to them. The Estimators of a process share one connection, which ends with
  // the process. Errors: those of Member::Join and ConnectProcessGroup; FailedPrecondition if the process is connected
  // to another cluster already.
  static absl::StatusOr<std::shared_ptr<JoinedWorkers>> Join(const Cluster& cluster, const RunConfig& config);
  ~JoinedWorkers();

  const Cluster& cluster() const { return member_->cluster(); }
  WorkerGroup& workers() { return *workers_; }
  // The number of workers on this machine, this one included.
  int workers_here() const { return workers_here_; }
  // The number of workers on this machine with a lower rank than this one.
  int workers_here_before() const { return workers_here_before_; }

  // Call it with the result of work that the workers do together. After an error, tells the others, so that none waits
  // for this process. If a lost worker caused the error, the result says which one.
  absl::Status Ended(const absl::Status& status);

 private:
  JoinedWorkers() = default;
  absl::Status Connect(const RunConfig& config);

  double deadline_seconds_ = 0;
  Communication communication_ = Communication::kAuto;
  std::optional<TlsFiles> tls_;
  int workers_here_ = 1, workers_here_before_ = 0;
  std::unique_ptr<Member> member_;
  std::unique_ptr<ProcessGroup> group_;
  std::unique_ptr<WorkerGroup> workers_;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_WORKERS_JOINED_WORKERS_H_

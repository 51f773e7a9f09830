// ParameterServerTask: a process that keeps variables for the workers of a job.
#ifndef TANDEM_ESTIMATOR_JOB_PARAMETER_SERVER_TASK_H_
#define TANDEM_ESTIMATOR_JOB_PARAMETER_SERVER_TASK_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/job/served_task.h"

namespace tandem {

class ServerState;
struct ServerOptions;

class ParameterServerTask : public ServedTask {
 public:
  using ServedTask::ServedTask;

  bool is_server() const override { return true; }
  // Returns the same share as on worker 0, so that the server gets the same facts about the input as the workers and
  // can compare them.
  Share ShareOf(Mode mode) const override;
  absl::Status Serve(const ModeProgram& program, const BatchDealer& dealer, std::shared_ptr<ThreadPool> pool) override;
  bool has_served() const override { return has_served_; }

 private:
  const std::string& address() const { return servers()[cluster().task.index]; }
  ServerOptions OptionsFor(const ModeProgram& program, const BatchDealer& dealer) const;
  // Waits until the chief says that the job is done. Returns an error if a signal or the absence of workers ends the
  // wait.
  absl::Status WaitForEnd(ServerState& state) const;

  bool has_served_ = false;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_JOB_PARAMETER_SERVER_TASK_H_

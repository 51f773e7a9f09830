// ServedWorker: a worker that makes steps of its own, on variables that parameter servers keep.
#ifndef TANDEM_ESTIMATOR_JOB_SERVED_WORKER_H_
#define TANDEM_ESTIMATOR_JOB_SERVED_WORKER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/job/served_task.h"
#include "estimator/parameter_server/served_variables.h"

namespace tandem {

class OwnBatches;
class ServedInput;

class ServedWorker : public ServedTask {
 public:
  ServedWorker(const Cluster& cluster, const Context& context);
  // On the chief: tells the servers that the job is over, with its result, so that they end.
  ~ServedWorker() override;

  Share ShareOf(Mode mode) const override;
  std::unique_ptr<WorkerInput> MakeInput(const Share& share, BatchDealer* dealer) override;
  absl::Status Ended(const absl::Status& status) override;
  void ConfigureLoop(LoopOptions* loop, std::function<uint64_t()> scalars) override;

  std::unique_ptr<StepRunner> MakeRunner(ModeProgram& program) override;
  // Sets this worker's variables and step to those of the servers or, if the servers have none yet, waits until the
  // chief has sent them its own.
  absl::Status BeginTraining(ModeProgram& program, WorkerInput& input, StepLoop& loop) override;
  // Tells the servers that this worker makes no more steps. The chief also waits until the other workers make none,
  // after asking them to stop if `reason` is a stop request or a signal, and then reads the final values.
  absl::StatusOr<StopReason> EndSteps(StopReason reason) override;
  // Reads all values and their step from the servers into memory. Other workers may change the servers' values
  // meanwhile.
  absl::Status PrepareSave(int64_t* step) override;
  std::string WorkersText() const override;

 private:
  friend class ServedInput;

  absl::Status ReadAll();
  // Connects to the servers and begins the loop. A chief that sends the servers their first values begins its loop
  // before it sends them.
  absl::Status Meet(ModeProgram& program, StepLoop& loop);
  // Sets this worker's input to the position that belongs to the values which it has read from the servers.
  absl::Status RestoreInput(OwnBatches& batches);
  // Sets the step of the values in memory to the step that the servers' values have.
  absl::Status TakeStep();
  // On the chief: waits until no other worker makes steps. Returns `reason`, or kSignal if a signal ended the wait.
  absl::StatusOr<StopReason> WaitForOthers(StopReason reason);

  std::unique_ptr<ServedVariables> variables_;
  ServedVariables::Positions first_positions_;  // input positions of all workers, which the chief sends to the servers
  absl::Status result_;                         // result of the chief's work so far, sent to the servers at the end
  bool met_ = false;                            // true: the servers have the values of the running training
  int64_t training_ = 0;                        // number of this process's current training, counted from 1
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_JOB_SERVED_WORKER_H_

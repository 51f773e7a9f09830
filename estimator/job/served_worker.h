// ServedWorker: a worker whose variables parameter servers keep. It makes steps of its own.
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
  // On the chief: ends the servers, with the result of the job.
  ~ServedWorker() override;

  Share ShareOf(Mode mode) const override;
  std::unique_ptr<WorkerInput> MakeInput(const Share& share, BatchDealer* dealer) override;
  absl::Status Ended(const absl::Status& status) override;
  void ConfigureLoop(LoopOptions* loop, std::function<uint64_t()> scalars) override;

  std::unique_ptr<StepRunner> MakeRunner(ModeProgram& program) override;
  // Takes the servers' values and step or, if they have none, gives them the chief's.
  absl::Status BeginTraining(ModeProgram& program, WorkerInput& input, StepLoop& loop) override;
  // Tells the servers that this worker makes no more steps, for that reason. The chief also waits for the others and
  // reads the final values.
  absl::StatusOr<StopReason> EndSteps(StopReason reason) override;
  // Reads all values and their step from the servers. Other workers may change the servers' values meanwhile.
  absl::Status PrepareSave(int64_t* step) override;
  std::string WorkersText() const override;

 private:
  friend class ServedInput;

  absl::Status ReadAll();
  // Connects to the servers; begins the loop of a chief that gives them its values.
  absl::Status Meet(ModeProgram& program, StepLoop& loop);
  // Goes on in this worker's input from where the servers' values leave it.
  absl::Status RestoreInput(OwnBatches& batches);
  // Notes that the values in memory are those of the servers' step.
  absl::Status TakeStep();
  // On the chief: waits until no other worker makes steps. Returns `reason`, or kSignal if a signal ended the wait.
  absl::StatusOr<StopReason> WaitForOthers(StopReason reason);

  std::unique_ptr<ServedVariables> variables_;
  ServedVariables::Positions first_positions_;  // of all workers, that the chief gives to the servers
  absl::Status result_;                         // of the chief's work so far, sent to the servers at the end
  bool met_ = false;                            // the servers have the values of the running training
  int64_t training_ = 0;                        // number of the training, from 1 on
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_JOB_SERVED_WORKER_H_

// MonitoredTrainingSession: a training whose steps come from a loop of one's own (tf.train.MonitoredTrainingSession).
//
//   TD_ASSIGN_OR_RETURN(auto session, MonitoredTrainingSession::Start(estimator, TrainInput, {.max_steps = 1000}));
//   while (!session->ShouldStop()) {
//     TD_ASSIGN_OR_RETURN(const RunValues values, session->Run());
//     ... values.Number("loss") ...
//   }
//   TD_RETURN_IF_ERROR(session->Close());
#ifndef TANDEM_ESTIMATOR_MONITORED_TRAINING_SESSION_H_
#define TANDEM_ESTIMATOR_MONITORED_TRAINING_SESSION_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/estimator.h"
#include "estimator/session_run_hook.h"

namespace tandem {

class Training;

// All that Estimator::Train does happens around the steps: checkpoints, hooks, logs, event files, signals, and what the
// workers of a cluster do together. All of them run such a loop, which ends after the same step. Not thread-safe.
class MonitoredTrainingSession {
 public:
  // Brings the model to where training goes on, as Estimator::Train does, with its errors. `fetches`: names of tensors,
  // such as "dense/Relu", that Run gives besides "loss" and "global_step". The estimator must outlive the session, and
  // train nothing else meanwhile; it may evaluate and predict, between the same steps on all workers.
  // FailedPrecondition of all calls when the estimator is gone.
  static absl::StatusOr<std::unique_ptr<MonitoredTrainingSession>> Start(Estimator& estimator, const InputFn& input_fn,
                                                                         const TrainOptions& options = {},
                                                                         const std::vector<std::string>& fetches = {});
  // Without Close the training ends as after an error: hooks have no End, and no last checkpoint is saved.
  ~MonitoredTrainingSession();
  MonitoredTrainingSession(const MonitoredTrainingSession&) = delete;
  MonitoredTrainingSession& operator=(const MonitoredTrainingSession&) = delete;

  // Whether there is no step left: the input has ended, steps or max_steps are reached, a hook or another worker has
  // asked for the end, or a signal has come. Otherwise prepares the next step, which Run is to make. False after an
  // error, which Run then returns.
  bool ShouldStop();
  // One step. FailedPrecondition when there is none left. After an error all further calls give the same.
  absl::StatusOr<RunValues> Run();
  // Saves a checkpoint of the last step besides the rule for them; it is there when this returns. All workers of a
  // cluster may call it: the chief saves. Between Run and ShouldStop: FailedPrecondition where the next step is
  // prepared, since its batches are drawn; where checkpoints are off; and after Close.
  absl::Status Save();
  // The end, also where steps are left: End of all hooks, of which one saves. A step that ShouldStop has prepared is
  // made before, since its batches are drawn. Cancelled, as Train's, when a signal has ended the loop.
  // FailedPrecondition when it is closed already.
  absl::Status Close();

  int64_t global_step() const;

 private:
  MonitoredTrainingSession(const Estimator& estimator, std::unique_ptr<Training> training,
                           const std::vector<std::string>& fetches);
  // Prepares the next step, if there is one.
  absl::Status Prepare();
  // What the training does, for which other workers wait; between such calls the user may evaluate.
  absl::Status InTraining(const std::function<absl::Status()>& call);

  enum class State { kBetweenSteps, kPrepared, kNoStepLeft, kClosed };
  const std::shared_ptr<Estimator::Impl> impl_;  // which the training needs to its end
  const std::weak_ptr<const bool> alive_;        // the estimator's
  std::unique_ptr<Training> training_;           // null when there was nothing to train, and after Close
  std::set<std::string> fetches_;
  State state_ = State::kBetweenSteps;
  absl::Status status_;  // the first error
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_MONITORED_TRAINING_SESSION_H_

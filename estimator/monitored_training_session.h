// MonitoredTrainingSession: a training whose steps are made by the user's own loop (tf.train.MonitoredTrainingSession).
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
#include "tandem/base/api.h"
#include "tandem/estimator/estimator.h"
#include "tandem/estimator/loop/session_run_hook.h"

namespace tandem {

class Training;

}  // namespace tandem

namespace TANDEM_API tandem {

// Around the steps happens all that Estimator::Train does: checkpoints, hooks, logs, event files, signals, and what the
// workers of a cluster do together. All workers must run such a loop; it ends after the same step on all of them. Not
// thread-safe.
class MonitoredTrainingSession {
 public:
  // Prepares the model for training, as Estimator::Train does, with the same errors. `fetches` are names of tensors,
  // such as "dense/Relu", that Run returns besides "loss" and "global_step". The estimator must outlive the session,
  // and train nothing else meanwhile; it may evaluate and predict, between the same steps on all workers. All calls
  // return FailedPrecondition if the estimator is gone.
  static absl::StatusOr<std::unique_ptr<MonitoredTrainingSession>> Start(Estimator& estimator, const InputFn& input_fn,
                                                                         const TrainOptions& options = {},
                                                                         const std::vector<std::string>& fetches = {});
  // Without Close the training ends like after an error: End of hooks is not called, and no last checkpoint is saved.
  ~MonitoredTrainingSession();
  MonitoredTrainingSession(const MonitoredTrainingSession&) = delete;
  MonitoredTrainingSession& operator=(const MonitoredTrainingSession&) = delete;

  // Returns true if there is no step left: the input has ended, steps or max_steps are reached, a hook or another
  // worker has asked to stop, or a signal has come. Otherwise prepares the next step for Run and returns false. Also
  // returns false after an error, which Run then returns.
  bool ShouldStop();
  // Makes one step. FailedPrecondition if there is none left. After an error all further calls return the same error.
  absl::StatusOr<RunValues> Run();
  // Saves a checkpoint of the last step, in addition to the regular ones, and waits until it is written. All workers of
  // a cluster may call it: the chief saves. Call it between Run and ShouldStop: FailedPrecondition after ShouldStop has
  // prepared the next step, since its batches are drawn; also if checkpoints are off, and after Close.
  absl::Status Save();
  // Ends the training, even if steps are left: calls End of all hooks, one of which saves. If ShouldStop has prepared a
  // step, makes it first, since its batches are drawn. Cancelled, as from Train, if a signal has ended the loop.
  // FailedPrecondition if it is closed already.
  absl::Status Close();

  // Training steps finished so far.
  int64_t global_step() const;

 private:
  MonitoredTrainingSession(const Estimator& estimator, std::unique_ptr<Training> training,
                           const std::vector<std::string>& fetches);
  // Prepares the next step, if there is one.
  absl::Status Prepare();
  // Makes a call of the training in which other workers take part. Between such calls the user may evaluate.
  absl::Status InTraining(const std::function<absl::Status()>& call);

  enum class State { kBetweenSteps, kPrepared, kNoStepLeft, kClosed };
  const std::shared_ptr<Estimator::Impl> impl_;  // shared with the estimator, since the training needs it to its end
  const std::weak_ptr<const bool> alive_;        // expires with the estimator
  std::unique_ptr<Training> training_;           // null if there was nothing to train, and after Close
  std::set<std::string> fetches_;
  State state_ = State::kBetweenSteps;
  absl::Status status_;  // the first error
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_MONITORED_TRAINING_SESSION_H_

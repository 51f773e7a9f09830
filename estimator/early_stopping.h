// Hooks that end a training early because of its evaluations, with tf.estimator's names.
//
//   TrainSpec train{.input_fn = TrainInput, .max_steps = 100000,
//                   .hooks = {StopIfNoDecrease(estimator, "loss", 5000)}};
#ifndef TANDEM_ESTIMATOR_EARLY_STOPPING_H_
#define TANDEM_ESTIMATOR_EARLY_STOPPING_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "tandem/base/api.h"
#include "tandem/estimator/estimator.h"
#include "tandem/estimator/evaluation/eval_result.h"
#include "tandem/estimator/loop/session_run_hook.h"

namespace TANDEM_API tandem {

struct EarlyStoppingOptions {
  // Evaluations before this global step are ignored.
  int64_t min_steps = 0;
  // The name of the evaluations: EvalSpec.name.
  std::string evaluation = "";
  // A hook checks after every evaluation that its own process makes. It checks for evaluations of another process every
  // run_every_secs seconds or, if it is set, at every multiple of run_every_steps steps.
  double run_every_secs = 60;
  std::optional<int64_t> run_every_steps = std::nullopt;
};

// Returns a short reason to stop, or "" to go on. The argument maps global steps to those evaluations so far that can
// be compared with each other (ReadEvalHistory): of weights that were trained here, and not of another checkpoint or of
// assigned values; over the whole input if there are any such, otherwise over as many steps as the last one. A rule
// should depend on nothing else, so that an interrupted run stops at the same step as one that was not interrupted.
using StopRule = std::function<absl::StatusOr<std::string>(const std::map<int64_t, EvalResult>&)>;

// Returns a hook that reads the recorded evaluations (metrics.jsonl in Estimator::eval_dir) up to the current global
// step, when training starts and then as the options say, and ends training when the rule returns a reason. The reason
// goes to the log and to model_dir/DONE. A job that was stopped this way and is started again with the hook makes no
// step. In a cluster the chief reads the evaluations, and all workers end with the same step. The hooks below work the
// same way.
//
// The estimator must outlive the trainings with the hook: FailedPrecondition if it is gone. Wrong arguments (numbers
// out of range, a null rule, a metric that the evaluations do not have) are an InvalidArgument error of the Train that
// runs the hook.
std::shared_ptr<SessionRunHook> MakeEarlyStoppingHook(const Estimator& estimator, StopRule rule,
                                                      EarlyStoppingOptions options = {});

// Stop when no evaluation in the last max_steps_without_decrease (or _increase) steps was better than the best one
// before. NaN is no improvement.
std::shared_ptr<SessionRunHook> StopIfNoDecrease(const Estimator& estimator, const std::string& metric,
                                                 int64_t max_steps_without_decrease, EarlyStoppingOptions options = {});
std::shared_ptr<SessionRunHook> StopIfNoIncrease(const Estimator& estimator, const std::string& metric,
                                                 int64_t max_steps_without_increase, EarlyStoppingOptions options = {});

// Stop when an evaluation has a value below (StopIfLower) or above (StopIfHigher) the threshold.
std::shared_ptr<SessionRunHook> StopIfLower(const Estimator& estimator, const std::string& metric, double threshold,
                                            EarlyStoppingOptions options = {});
std::shared_ptr<SessionRunHook> StopIfHigher(const Estimator& estimator, const std::string& metric, double threshold,
                                             EarlyStoppingOptions options = {});

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_EARLY_STOPPING_H_

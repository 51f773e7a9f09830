// Hooks that end training by what evaluations have found, with tf.estimator's names.
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
#include "estimator/estimator.h"
#include "estimator/eval_result.h"
#include "estimator/session_run_hook.h"

namespace tandem {

struct EarlyStoppingOptions {
  // Evaluations of earlier steps are passed over.
  int64_t min_steps = 0;
  // The name of the evaluations: EvalSpec.name.
  std::string evaluation = "";
  // A hook looks after every evaluation of its own process. Those of an evaluator in another process it looks for every
  // so many seconds or, where it is set, at every multiple of so many steps.
  double run_every_secs = 60;
  std::optional<int64_t> run_every_steps = std::nullopt;
};

// Why to stop, in a few words; empty to go on. Gets the evaluations so far by global step: of the model's own weights,
// of the whole input where there are such. It should depend on nothing else, so that a run that goes on stops where one
// that was not interrupted does.
using StopRule = std::function<absl::StatusOr<std::string>(const std::map<int64_t, EvalResult>&)>;

// What all hooks here do: they read the evaluations on record (metrics.jsonl in Estimator::eval_dir) up to the current
// global step, when training starts and then as the options say, and end it when the rule says why. The reason goes to
// the log and to model_dir/DONE. A job that was stopped so and is started again with the hook makes no step. In a
// cluster the chief reads, and all workers end with the same step.
//
// The estimator must outlive the trainings with the hook: FailedPrecondition without it. InvalidArgument, from the
// Train that runs it: numbers that cannot be, a null rule, a metric that the evaluations do not have.
std::shared_ptr<SessionRunHook> MakeEarlyStoppingHook(const Estimator& estimator, StopRule rule,
                                                      EarlyStoppingOptions options = {});

// No evaluation in the last so many steps was better than the best one before. Values that are NaN are no improvement.
std::shared_ptr<SessionRunHook> StopIfNoDecrease(const Estimator& estimator, const std::string& metric,
                                                 int64_t max_steps_without_decrease, EarlyStoppingOptions options = {});
std::shared_ptr<SessionRunHook> StopIfNoIncrease(const Estimator& estimator, const std::string& metric,
                                                 int64_t max_steps_without_increase, EarlyStoppingOptions options = {});

// An evaluation has a value below (above) the threshold.
std::shared_ptr<SessionRunHook> StopIfLower(const Estimator& estimator, const std::string& metric, double threshold,
                                            EarlyStoppingOptions options = {});
std::shared_ptr<SessionRunHook> StopIfHigher(const Estimator& estimator, const std::string& metric, double threshold,
                                             EarlyStoppingOptions options = {});

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_EARLY_STOPPING_H_

// TrainAndEvaluate: trains to the end, with evaluations in between.
#ifndef TANDEM_ESTIMATOR_TRAIN_AND_EVALUATE_H_
#define TANDEM_ESTIMATOR_TRAIN_AND_EVALUATE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tandem/base/api.h"
#include "tandem/estimator/estimator.h"
#include "tandem/estimator/evaluation/reduce_on_plateau.h"
#include "tandem/estimator/exporter.h"

namespace TANDEM_API tandem {

// How TrainAndEvaluate trains.
struct TrainSpec {
  InputFn input_fn;
  // Train until this global step; if not set, until the input ends.
  std::optional<int64_t> max_steps = std::nullopt;
  HookList hooks = {};
  std::vector<std::shared_ptr<CheckpointSaverListener>> saving_listeners = {};
  // Lowers learning rates when evaluations stop getting better; with several EvalSpecs it names the one to follow. Not
  // with an evaluator in a process of its own.
  std::optional<ReduceOnPlateau> reduce_on_plateau = std::nullopt;

  absl::Status Validate() const;
};

// How and when TrainAndEvaluate evaluates.
struct EvalSpec {
  InputFn input_fn;
  // Batches per replica; if not set, the whole input, once. (tf.estimator's default is 100 steps.)
  std::optional<int64_t> steps = std::nullopt;
  // Its results go to eval_<name> in model_dir. Each of several evaluations needs a different name.
  std::string name = "";
  HookList hooks = {};
  // For an evaluator in a process of its own: seconds to wait before its first evaluation.
  double start_delay_secs = 120;
  // The least number of seconds from the start of one evaluation to the start of the next.
  double throttle_secs = 600;
  // Exporters to run after evaluations and at the end; they write to model_dir/export/<name>/.
  ExporterList exporters = {};
  // Evaluate by steps instead of after checkpoints; set at most one of the two. Evaluates whenever the global step is a
  // multiple of every_steps, or at the step that takes the last example of each every_epochs-th epoch. An epoch is one
  // pass over what the last Repeat of the training's input repeats; InvalidArgument if its length is known only after
  // reading it (data/epoch.h). throttle_secs does not apply, and checkpoints may be off.
  std::optional<int64_t> every_steps = std::nullopt;
  std::optional<int64_t> every_epochs = std::nullopt;
  bool use_moving_average = true;  // use moving averages in place of weights that have one

  // True if every_steps or every_epochs is set.
  bool by_steps() const { return every_steps.has_value() || every_epochs.has_value(); }

  absl::Status Validate() const;
};

// Trains until max_steps or the end of the input. Evaluates after every checkpoint but the one that training starts
// from, unless the last evaluation began less than throttle_secs ago; and always evaluates the final step, once. With
// every_steps or every_epochs, only the steps decide, and the values in memory are evaluated.
// Training that is already at max_steps is not repeated. Its final checkpoint is evaluated unless a result is recorded
// with the name and `steps` of `eval_spec`, of this model's own weights, and not stopped by a hook.
// Mode eval is built before the first step, and features that use its metrics are checked: only mistakes that depend on
// the data are found later.
// At the end model_dir/DONE says at which step training ended and why. A job that was interrupted after its last step,
// because its input had ended, is not trained again either: only the rest of the job is done. If a job is done and is
// called again, it trains another pass of such an input.
//
// In a cluster all workers call it. If there is a task of type evaluator, that task evaluates every new checkpoint, at
// most once in throttle_secs, until DONE exists and the last checkpoint is evaluated. Training does not wait for it,
// and the workers' result is empty.
//
// Returns the result of the last evaluation. A signal before the evaluation of the final step is done ends the call
// like a signal during training. A later signal also ends it with that error, but only after exporters are done and
// DONE is written. Checkpoints must be on, unless evaluations go by steps. Errors: see Estimator.
absl::StatusOr<EvalResult> TrainAndEvaluate(Estimator& estimator, const TrainSpec& train_spec,
                                            const EvalSpec& eval_spec);

// The last result of each evaluation, by its name.
using EvalResults = std::map<std::string, EvalResult>;

// TrainAndEvaluate with several evaluations, such as of validation and test data. Each has its own input, steps, hooks,
// schedule, recorded results and exporters; those of one step are made in the order of the list. KeepBest,
// EarlyStoppingOptions and ReduceOnPlateau name the evaluation to follow in their field `evaluation`. InvalidArgument,
// before the first step, if one of several evaluations has no name or the name of another, and for such a field that
// looks like a misspelling of one of the names.
absl::StatusOr<EvalResults> TrainAndEvaluate(Estimator& estimator, const TrainSpec& train_spec,
                                             const std::vector<EvalSpec>& eval_specs);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_TRAIN_AND_EVALUATE_H_

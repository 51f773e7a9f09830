// TrainAndEvaluate: training with evaluations between, to the end.
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
#include "estimator/estimator.h"
#include "estimator/exporter.h"
#include "estimator/reduce_on_plateau.h"

namespace tandem {

struct TrainSpec {
  InputFn input_fn;
  // Until the global step is this; without it until the input ends.
  std::optional<int64_t> max_steps = std::nullopt;
  HookList hooks = {};
  std::vector<std::shared_ptr<CheckpointSaverListener>> saving_listeners = {};
  // Lowers learning rates by the evaluations of EvalSpec, of several those that it names. Not with an evaluator in a
  // process of its own.
  std::optional<ReduceOnPlateau> reduce_on_plateau = std::nullopt;

  absl::Status Validate() const;
};

struct EvalSpec {
  InputFn input_fn;
  // Batches per replica; without a number the whole input, once. (tf.estimator's default is 100 steps.)
  std::optional<int64_t> steps = std::nullopt;
  // Its results go to eval_<name> in model_dir. Of several evaluations each has one of its own.
  std::string name = "";
  HookList hooks = {};
  // For an evaluator in a process of its own: how long it waits before its first evaluation.
  double start_delay_secs = 120;
  // The least time from the start of one evaluation to the start of the next.
  double throttle_secs = 600;
  // What is exported after evaluations and at the end, to model_dir/export/<name>/.
  ExporterList exporters = {};
  // Evaluations by steps in place of checkpoints and seconds, at most one of the two: whenever the global step is a
  // multiple of every_steps, or at the step that takes the last example of each every_epochs-th epoch. An epoch is a
  // pass over what the last Repeat of the training's input repeats; InvalidArgument where its length is known only when
  // it was read (data/epoch.h). throttle_secs does not apply, and checkpoints may be off.
  std::optional<int64_t> every_steps = std::nullopt;
  std::optional<int64_t> every_epochs = std::nullopt;
  bool use_moving_average = true;  // as of EvaluateOptions

  // Whether evaluations go by steps.
  bool by_steps() const { return every_steps.has_value() || every_epochs.has_value(); }

  absl::Status Validate() const;
};

// Trains until max_steps or the end of the input. The rule for evaluations: after every checkpoint but the one that
// training starts from, unless the last evaluation began less than throttle_secs ago; and the final step always, once.
// With every_steps or every_epochs the steps alone say when, and the values in memory are evaluated.
// Training already at max_steps is not repeated, and its final checkpoint is evaluated unless that is on record: with
// the name and `steps` of `eval_spec`, of this model's own weights, and not stopped by a hook.
// Mode eval is built before the first step, and what goes by its metrics is checked: of mistakes in evaluations only
// those are found later that the data make.
// At the end model_dir/DONE says at which step training ended and why. A job that was interrupted behind its last step,
// where its input had ended, is not trained again either: what was left is done. One that is done and is called again
// trains another pass of such an input.
//
// In a cluster all workers call it. Where there is a task of type evaluator, that evaluates every new checkpoint, at
// most once in throttle_secs, until DONE is there and the last one is evaluated; training does not wait for it, and the
// workers' result is empty.
//
// Returns the result of the last evaluation. A signal that comes before that of the final step is done ends the call as
// one during training does; a later one too, when exporters are done and DONE is written. Checkpoints must be on,
// unless evaluations go by steps. Errors: see Estimator.
absl::StatusOr<EvalResult> TrainAndEvaluate(Estimator& estimator, const TrainSpec& train_spec,
                                            const EvalSpec& eval_spec);

// The last result of each evaluation, by its name.
using EvalResults = std::map<std::string, EvalResult>;

// The same with several evaluations, such as of validation and test data. Each has its own input, steps, hooks, rule
// for when, results on record and exporters; those of one step are made in the order of the list. What goes by
// evaluations says by its field `evaluation` which it means: KeepBest, EarlyStoppingOptions, ReduceOnPlateau.
// InvalidArgument, before the first step, for one of several that has no name or that of another, and for a name that
// is none of these and near to one.
absl::StatusOr<EvalResults> TrainAndEvaluate(Estimator& estimator, const TrainSpec& train_spec,
                                             const std::vector<EvalSpec>& eval_specs);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_TRAIN_AND_EVALUATE_H_

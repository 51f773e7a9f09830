// The hooks that make an Estimator train and evaluate as Keras does. Internal to estimator/keras.
#ifndef TANDEM_ESTIMATOR_KERAS_FIT_HOOK_H_
#define TANDEM_ESTIMATOR_KERAS_FIT_HOOK_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/evaluation/metric_accumulator.h"
#include "estimator/keras/callback_list.h"
#include "estimator/keras/compiled_model.h"
#include "estimator/keras/logs.h"
#include "estimator/loop/session_run_hook.h"

namespace tandem::keras {

// Groups steps into epochs and makes the logs, validates and calls the callbacks for each. The checkpoints of a Fit
// with a directory store its state, which has the states of the callbacks and the History.
class FitHook : public SessionRunHook {
 public:
  struct Options {
    int64_t epochs = 1, initial_epoch = 0;
    std::optional<int64_t> steps_per_epoch;
    int64_t validation_freq = 1;
    bool in_directory = false;
    // True if training ends without an error when the loss is NaN or infinite.
    bool ends_at_nan = false;
    // Evaluates the validation data and returns its logs, whose names lack the prefix "val_". Null if there are no such
    // data.
    std::function<absl::StatusOr<Logs>()> validate;
  };
  FitHook(CompiledModel* model, CallbackList* callbacks, History* history, Options options)
      : model_(model), callbacks_(callbacks), history_(history), options_(std::move(options)) {}

  std::string name() const override { return "keras::Fit"; }
  std::string checkpoint_key() const override { return options_.in_directory ? "keras_fit" : ""; }
  absl::Status Begin(HookContext& context) override;
  absl::Status AfterCreateSession(RunContext& context) override;
  std::vector<std::string> BeforeRun(RunContext& context) override;
  absl::Status AfterRun(RunContext& context, const RunValues& values) override;
  absl::StatusOr<HookState> SaveState() override;
  absl::Status RestoreState(const HookState& state) override;

  // True if the run that Fit went on with had all its epochs already. Then no step was made, and Train's error must be
  // ignored.
  bool had_finished() const { return had_finished_; }
  const Logs& logs() const { return logs_; }  // logs of the last batch or epoch

 private:
  absl::Status EndEpoch(RunContext& context);
  // Handles a step that was not finite: fails or, with ends_at_nan, ends the training without an error.
  absl::Status AfterNonFinite(RunContext& context, const RunValues& values);
  // Applies what callbacks have asked for: weights that they have set, and a request to stop.
  absl::Status ApplyChanges(RunContext& context);

  CompiledModel* const model_;
  CallbackList* const callbacks_;
  History* const history_;
  const Options options_;
  std::optional<MetricAccumulator> metrics_;
  int64_t epoch_ = 0, batch_ = 0;
  bool restored_ = false, had_finished_ = false;
  bool epoch_begun_ = false;
  NamedTensors restored_metrics_;
  std::map<std::string, CallbackState> restored_states_;
  Logs logs_;
};

// Calls callbacks around the batches of an evaluation.
class TestHook : public SessionRunHook {
 public:
  // `batches` is the number of batches, if it is known in advance. If it is not, OnTestBatchBegin is called only after
  // the batch, because the run loop learns only from drawing a batch whether there is one.
  TestHook(CompiledModel* model, CallbackList* callbacks, std::optional<int64_t> batches)
      : model_(model), callbacks_(callbacks), batches_(batches) {}
  std::string name() const override { return "keras::Evaluate"; }
  absl::Status Begin(HookContext& context) override;
  std::vector<std::string> BeforeRun(RunContext& context) override;
  absl::Status AfterRun(RunContext& context, const RunValues& values) override;

 private:
  CompiledModel* const model_;
  CallbackList* const callbacks_;
  const std::optional<int64_t> batches_;
  std::optional<MetricAccumulator> metrics_;
  int64_t batch_ = 0;
};

}  // namespace tandem::keras

#endif  // TANDEM_ESTIMATOR_KERAS_FIT_HOOK_H_

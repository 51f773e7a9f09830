// ReduceOnPlateau: lowers learning rates when evaluations stop getting better.
#ifndef TANDEM_ESTIMATOR_EVALUATION_REDUCE_ON_PLATEAU_H_
#define TANDEM_ESTIMATOR_EVALUATION_REDUCE_ON_PLATEAU_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tandem/base/api.h"
#include "tandem/estimator/config/metric_direction.h"
#include "tandem/estimator/evaluation/eval_result.h"
#include "tandem/estimator/hooks/checkpoint_saver_hook.h"
#include "tandem/estimator/loop/session_run_hook.h"
#include "tandem/estimator/loop/step_scalar_settings.h"

namespace TANDEM_API tandem {

// Keras' ReduceLROnPlateau, driven by the evaluations of TrainAndEvaluate. All learning rates of the model that are
// numbers, not schedules, are multiplied by `factor` when `metric` has not improved by more than `min_delta` for
// `patience` evaluations.
struct ReduceOnPlateau {
  std::string metric = "loss";
  // Whether smaller or larger values are better. If not set, kMin for "loss"; must be set for any other metric.
  std::optional<MetricDirection> direction = std::nullopt;
  double factor = 0.1;  // factor of the learning rates, between 0 and 1
  int64_t patience = 10;
  double min_delta = 1e-4;
  // The number of evaluations after a reduction that are not counted.
  int64_t cooldown = 0;
  double min_learning_rate = 0;
  // The name of the evaluation to follow (EvalSpec.name). May be empty if there is only one.
  std::string evaluation = "";

  // InvalidArgument for a number out of its range, and for a missing direction.
  absl::Status Validate() const;
};

// The counters of the rule, which are part of every checkpoint.
class PlateauState {
 public:
  // Call after an evaluation; returns true if rates are to be reduced.
  bool Observe(const ReduceOnPlateau& rule, int64_t global_step, double value);

  // Returns the step of the last evaluation that was observed; -1 if there was none.
  int64_t seen() const { return seen_; }
  // True if the checkpoint that has this state was to be evaluated after it was saved. If the process ended before
  // that, the evaluation is made when training goes on.
  bool due() const { return due_; }
  void set_due(bool due) { due_ = due; }

  std::string ToJson() const;
  static absl::StatusOr<PlateauState> FromJson(absl::string_view json);

 private:
  double best_ = std::numeric_limits<double>::quiet_NaN();  // NaN before the first evaluation
  int64_t wait_ = 0, cooldown_ = 0, seen_ = -1;
  bool due_ = false;
};

// Applies the rule during a training. Every worker has such a hook, and all hooks observe the same evaluations.
class PlateauHook : public SessionRunHook {
 public:
  struct Options {
    ReduceOnPlateau rule;
    StepScalarSettings* scalars = nullptr;  // the step scalars of the training
    // Returns the recorded evaluation of the checkpoint of that step, if there is one; the same on all workers.
    std::function<absl::StatusOr<std::optional<EvalResult>>(int64_t global_step)> recorded;
    // Evaluates the current weights and calls Observe on all workers. Empty if another worker evaluates, or if nobody
    // does.
    std::function<absl::Status()> evaluate;
  };
  explicit PlateauHook(Options options) : options_(std::move(options)) {}

  std::string name() const override { return "ReduceOnPlateau"; }
  std::string checkpoint_key() const override { return "reduce_on_plateau"; }
  absl::StatusOr<HookState> SaveState() override { return HookState{.text = state_.ToJson()}; }
  absl::Status RestoreState(const HookState& state) override;
  // Observes the recorded evaluation of the checkpoint that training goes on from. It was made after the checkpoint was
  // saved, so the state in the checkpoint does not include it. FailedPrecondition if all learning rates of the model
  // are schedules, so that none is a number.
  absl::Status AfterCreateSession(RunContext& context) override;
  // Makes an evaluation that was due when the checkpoint was saved.
  std::vector<std::string> BeforeRun(RunContext& context) override;

  // Call after an evaluation. InvalidArgument if it has no number with the metric's name.
  absl::Status Observe(const EvalResult& result);
  // Call before a checkpoint is saved; `will_be_evaluated` says if it will be evaluated afterwards.
  void BeforeSave(bool will_be_evaluated);

 private:
  Options options_;
  PlateauState state_;
  bool evaluate_first_ = false;
};

// Tells the hook when checkpoints are saved.
class PlateauListener : public CheckpointSaverListener {
 public:
  // `evaluated` returns true if the checkpoint that is being saved will be evaluated afterwards, unless the process
  // ends before. The weights that training starts with are never evaluated.
  PlateauListener(std::shared_ptr<PlateauHook> hook, std::function<bool()> evaluated)
      : hook_(std::move(hook)), evaluated_(std::move(evaluated)) {}
  bool WaitsFor(int64_t) override { return false; }
  absl::Status Begin(int64_t start_step) override {
    start_step_ = start_step;
    return absl::OkStatus();
  }
  absl::Status BeforeSave(int64_t global_step) override {
    hook_->BeforeSave(global_step != start_step_ && evaluated_());
    return absl::OkStatus();
  }

 private:
  int64_t start_step_ = -1;
  const std::shared_ptr<PlateauHook> hook_;
  const std::function<bool()> evaluated_;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_EVALUATION_REDUCE_ON_PLATEAU_H_

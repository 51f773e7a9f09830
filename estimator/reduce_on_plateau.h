// ReduceOnPlateau: lower learning rates when evaluations stop getting better.
#ifndef TANDEM_ESTIMATOR_REDUCE_ON_PLATEAU_H_
#define TANDEM_ESTIMATOR_REDUCE_ON_PLATEAU_H_

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
#include "estimator/eval_result.h"
#include "estimator/hooks/checkpoint_saver_hook.h"
#include "estimator/metric_direction.h"
#include "estimator/session_run_hook.h"
#include "estimator/step_scalar_settings.h"

namespace tandem {

// Keras' ReduceLROnPlateau, by the evaluations of TrainAndEvaluate. All rates of the model that are numbers are
// multiplied by `factor` when `metric` has not got better for `patience` evaluations. Better is by more than
// `min_delta`.
struct ReduceOnPlateau {
  std::string metric = "loss";
  // Which values are the better ones. For "loss" kMin unless it is set; for another metric it must be.
  std::optional<MetricDirection> direction = std::nullopt;
  double factor = 0.1;  // in (0, 1)
  int64_t patience = 10;
  double min_delta = 1e-4;
  // Evaluations after a reduction that are not counted.
  int64_t cooldown = 0;
  double min_learning_rate = 0;
  // The evaluations with this name (EvalSpec.name) count. May be empty where there is only one.
  std::string evaluation = "";

  absl::Status Validate() const;
};

// The rule's memory, a part of every checkpoint.
class PlateauState {
 public:
  // After an evaluation: whether rates are to be reduced.
  bool Observe(const ReduceOnPlateau& rule, int64_t global_step, double value);

  // Of the last evaluation seen; -1: none.
  int64_t seen() const { return seen_; }
  // Whether the checkpoint that has this state is evaluated after it was saved, unless something ends the process
  // first.
  bool due() const { return due_; }
  void set_due(bool due) { due_ = due; }

  std::string ToJson() const;
  static absl::StatusOr<PlateauState> FromJson(absl::string_view json);

 private:
  double best_ = std::numeric_limits<double>::quiet_NaN();  // NaN: none
  int64_t wait_ = 0, cooldown_ = 0, seen_ = -1;
  bool due_ = false;
};

// Applies the rule inside of a training. All workers have one and give it the same evaluations.
class PlateauHook : public SessionRunHook {
 public:
  struct Options {
    ReduceOnPlateau rule;
    StepScalarSettings* scalars = nullptr;  // of the training
    // The evaluation that is on record for the checkpoint of that step; on all workers the same.
    std::function<absl::StatusOr<std::optional<EvalResult>>(int64_t global_step)> recorded;
    // Evaluates the weights of now and calls Observe on all workers. Empty where another worker does it, or nobody.
    std::function<absl::Status()> evaluate;
  };
  explicit PlateauHook(Options options) : options_(std::move(options)) {}

  std::string name() const override { return "ReduceOnPlateau"; }
  std::string checkpoint_key() const override { return "reduce_on_plateau"; }
  absl::StatusOr<HookState> SaveState() override { return HookState{.text = state_.ToJson()}; }
  absl::Status RestoreState(const HookState& state) override;
  // FailedPrecondition where no rate is a number. What the checkpoint that training goes on from led to when it was
  // evaluated, after it was saved, is done again.
  absl::Status AfterCreateSession(RunContext& context) override;
  std::vector<std::string> BeforeRun(RunContext& context) override;

  // After an evaluation. InvalidArgument where it has no number of the metric's name.
  absl::Status Observe(const EvalResult& result);
  // Before a checkpoint is saved that will be evaluated or not.
  void BeforeSave(bool will_be_evaluated);

 private:
  Options options_;
  PlateauState state_;
  bool evaluate_first_ = false;
};

// Tells the hook of saves.
class PlateauListener : public CheckpointSaverListener {
 public:
  // `evaluated`: whether what is saved now is evaluated where nothing ends the process first, but for the weights that
  // training starts with.
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

#endif  // TANDEM_ESTIMATOR_REDUCE_ON_PLATEAU_H_

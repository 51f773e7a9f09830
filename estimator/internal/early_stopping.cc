#include "estimator/early_stopping.h"

#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "base/user_code.h"
#include "estimator/config/metric_direction.h"
#include "estimator/evaluation/eval_log.h"
#include "estimator/evaluation/follows_evaluations.h"
#include "estimator/evaluation/metric_value.h"

namespace tandem {
namespace {

class EarlyStoppingHook : public SessionRunHook, public FollowsEvaluations {
 public:
  // `metric` is the name of the metric that the rule uses; empty if it is not known. `arguments` is an InvalidArgument
  // error if the function that made the hook was called with wrong arguments.
  EarlyStoppingHook(const Estimator& estimator, std::string name, std::string metric, StopRule rule,
                    EarlyStoppingOptions options, absl::Status arguments)
      : estimator_(estimator),
        alive_(estimator.alive()),
        name_(std::move(name)),
        metric_(std::move(metric)),
        rule_(std::move(rule)),
        options_(std::move(options)),
        arguments_(std::move(arguments)) {}

  std::string name() const override { return name_; }
  const std::string& followed_evaluation() const override { return options_.evaluation; }

  absl::Status Begin(HookContext& context) override {
    TD_RETURN_IF_ERROR(arguments_);
    TD_RETURN_IF_ERROR(CheckAlive());
    if (!rule_) return absl::InvalidArgumentError("no rule is given");
    if (options_.min_steps < 0) {
      return absl::InvalidArgumentError(absl::StrCat("min_steps must not be negative, got ", options_.min_steps));
    }
    if (options_.run_every_steps.has_value() ? *options_.run_every_steps <= 0 : !(options_.run_every_secs > 0)) {
      return absl::InvalidArgumentError("run_every_secs and run_every_steps must be positive");
    }
    const std::vector<std::string>* metrics = context.evaluation_metrics(options_.evaluation);
    return metrics == nullptr || metric_.empty() ? absl::OkStatus() : CheckMetricName(metric_, *metrics);
  }

  absl::Status AfterCreateSession(RunContext& context) override {
    TD_RETURN_IF_ERROR(CheckAlive());
    error_ = absl::OkStatus();
    return Look(context);
  }

  // If the check fails, requests a stop instead of returning the error at once, so that the steps so far are saved. End
  // then returns the error.
  absl::Status AfterRun(RunContext& context, const RunValues&) override {
    TD_RETURN_IF_ERROR(CheckAlive());
    if (!Due(context.global_step())) return absl::OkStatus();
    error_ = Look(context);
    if (!error_.ok()) context.RequestStop();
    return absl::OkStatus();
  }

  absl::Status End(RunContext&) override { return error_; }

 private:
  absl::Status CheckAlive() const {
    if (!alive_.expired()) return absl::OkStatus();
    return absl::FailedPreconditionError(
        "the Estimator that it was made for, whose evaluations it reads, is gone; keep that one, or make the hook for "
        "this one");
  }

  double Now() const { return estimator_.config().file_env()->MonotonicSeconds(); }

  bool Due(int64_t step) const {
    if (!estimator_.is_chief()) return false;  // only the chief is sure to see model_dir
    if (estimator_.evaluations() != seen_) return true;
    return options_.run_every_steps.has_value() ? step % *options_.run_every_steps == 0
                                                : Now() >= looked_ + options_.run_every_secs;
  }

  absl::Status Look(RunContext& context) {
    if (!estimator_.is_chief()) return absl::OkStatus();
    seen_ = estimator_.evaluations();
    looked_ = Now();
    TD_ASSIGN_OR_RETURN(EvalHistory history,
                        ReadEvalHistory(estimator_.config().file_env(), estimator_.eval_dir(options_.evaluation)));
    // Ignores evaluations of later steps: an earlier run may have made and evaluated steps after its last checkpoint,
    // and this run goes on from that checkpoint.
    std::erase_if(history.results, [&](const auto& entry) {
      return entry.first > context.global_step() || entry.first < options_.min_steps;
    });
    TD_ASSIGN_OR_RETURN(const std::string why, CallUserCode([&] { return rule_(history.results); }));
    if (why.empty()) return absl::OkStatus();
    TD_LOG(INFO) << "Early stopping at global step " << context.global_step() << ": " << why << ".";
    context.RequestStop(absl::StrCat("early stopping: ", why));
    return absl::OkStatus();
  }

  const Estimator& estimator_;
  const std::weak_ptr<const bool> alive_;
  const std::string name_, metric_;
  const StopRule rule_;
  const EarlyStoppingOptions options_;
  const absl::Status arguments_;
  absl::Status error_;
  int64_t seen_ = 0;  // number of this process's evaluations at the last check
  double looked_ = 0;
};

absl::Status NoMetric() {
  return absl::InvalidArgumentError("the name of the metric is empty; give one of the evaluations, such as \"loss\"");
}

// Returns the metric's value for each result. Skips results without the metric, which were recorded before the model
// had it. It is an error if the newest result lacks the metric and this process has made evaluations.
absl::StatusOr<std::map<int64_t, double>> ValuesOf(const std::map<int64_t, EvalResult>& results,
                                                   const Estimator& estimator, const std::string& metric,
                                                   const std::string& name) {
  std::map<int64_t, double> values;
  for (const auto& [step, result] : results) {
    const bool newest = step == results.rbegin()->first && estimator.evaluations() > 0;
    if (!newest && !result.Has(metric)) continue;
    TD_ASSIGN_OR_RETURN(values[step], MetricOf(result, metric, name));
  }
  return values;
}

std::shared_ptr<SessionRunHook> StopIfNoImprovement(const Estimator& estimator, const std::string& name,
                                                    MetricDirection direction, const std::string& metric,
                                                    int64_t max_steps, EarlyStoppingOptions options) {
  const char* what = direction == MetricDirection::kMin ? "decrease" : "increase";
  absl::Status arguments;
  if (max_steps <= 0) {
    arguments =
        absl::InvalidArgumentError(absl::StrCat("max_steps_without_", what, " must be positive, got ", max_steps));
  }
  if (metric.empty()) arguments = NoMetric();
  StopRule rule = [=, &estimator](const std::map<int64_t, EvalResult>& results) -> absl::StatusOr<std::string> {
    TD_ASSIGN_OR_RETURN(const auto values, ValuesOf(results, estimator, metric, name));
    std::optional<std::pair<int64_t, double>> best;
    for (const auto& [step, value] : values) {
      if (!best.has_value() || IsBetter(value, best->second, direction)) best = {step, value};
      if (step - best->first >= max_steps) {
        return absl::StrCat("no ", what, " of \"", metric, "\" in ", step - best->first, " steps (limit ", max_steps,
                            "); the best is ", best->second, " at step ", best->first);
      }
    }
    return std::string();
  };
  return std::make_shared<EarlyStoppingHook>(estimator, name, metric, std::move(rule), std::move(options), arguments);
}

std::shared_ptr<SessionRunHook> StopAtThreshold(const Estimator& estimator, const std::string& name,
                                                MetricDirection direction, const std::string& metric, double threshold,
                                                EarlyStoppingOptions options) {
  absl::Status arguments;
  if (std::isnan(threshold)) arguments = absl::InvalidArgumentError("the threshold must be a number, got NaN");
  if (metric.empty()) arguments = NoMetric();
  StopRule rule = [=, &estimator](const std::map<int64_t, EvalResult>& results) -> absl::StatusOr<std::string> {
    TD_ASSIGN_OR_RETURN(const auto values, ValuesOf(results, estimator, metric, name));
    for (const auto& [step, value] : values) {
      if (direction == MetricDirection::kMin ? value < threshold : value > threshold) {
        return absl::StrCat("\"", metric, "\" is ", value, " at step ", step, ", which is ",
                            direction == MetricDirection::kMin ? "lower" : "higher", " than ", threshold);
      }
    }
    return std::string();
  };
  return std::make_shared<EarlyStoppingHook>(estimator, name, metric, std::move(rule), std::move(options), arguments);
}

}  // namespace

std::shared_ptr<SessionRunHook> MakeEarlyStoppingHook(const Estimator& estimator, StopRule rule,
                                                      EarlyStoppingOptions options) {
  return std::make_shared<EarlyStoppingHook>(estimator, "EarlyStoppingHook", /*metric=*/"", std::move(rule),
                                             std::move(options), absl::OkStatus());
}

std::shared_ptr<SessionRunHook> StopIfNoDecrease(const Estimator& estimator, const std::string& metric,
                                                 int64_t max_steps_without_decrease, EarlyStoppingOptions options) {
  return StopIfNoImprovement(estimator, "StopIfNoDecrease", MetricDirection::kMin, metric, max_steps_without_decrease,
                             std::move(options));
}

std::shared_ptr<SessionRunHook> StopIfNoIncrease(const Estimator& estimator, const std::string& metric,
                                                 int64_t max_steps_without_increase, EarlyStoppingOptions options) {
  return StopIfNoImprovement(estimator, "StopIfNoIncrease", MetricDirection::kMax, metric, max_steps_without_increase,
                             std::move(options));
}

std::shared_ptr<SessionRunHook> StopIfLower(const Estimator& estimator, const std::string& metric, double threshold,
                                            EarlyStoppingOptions options) {
  return StopAtThreshold(estimator, "StopIfLower", MetricDirection::kMin, metric, threshold, std::move(options));
}

std::shared_ptr<SessionRunHook> StopIfHigher(const Estimator& estimator, const std::string& metric, double threshold,
                                             EarlyStoppingOptions options) {
  return StopAtThreshold(estimator, "StopIfHigher", MetricDirection::kMax, metric, threshold, std::move(options));
}

}  // namespace tandem

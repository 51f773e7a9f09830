#include "estimator/evaluation/step_evaluator.h"

#include <numeric>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace tandem {
namespace {

// Returns how many intervals `steps` steps have finished. The product of two 64-bit numbers needs 128 bits.
__int128 Finished(const EvalInterval& interval, int64_t steps) {
  return static_cast<__int128>(steps) * interval.per / interval.steps;
}

}  // namespace

absl::StatusOr<EvalInterval> EvalInterval::OfEpochs(int64_t epochs, const EpochLength& epoch, int64_t batches) {
  int64_t elements = 0, per = 0;
  if (__builtin_mul_overflow(epochs, epoch.elements, &elements) || __builtin_mul_overflow(epoch.per, batches, &per)) {
    return absl::InvalidArgumentError(
        absl::StrCat(epochs, " epochs of ", epoch.elements, " elements are more than can be counted"));
  }
  const int64_t common = std::gcd(elements, per);
  return EvalInterval{.steps = elements / common, .per = per / common};
}

bool EvalInterval::Due(int64_t global_step) const {
  return global_step > 0 && Finished(*this, global_step) > Finished(*this, global_step - 1);
}

std::string EvalInterval::ToString() const {
  const double each = static_cast<double>(steps) / static_cast<double>(per);
  return absl::StrCat(each, each == 1 ? " step" : " steps");
}

absl::Status StepEvaluator::Evaluate(RunContext& context) {
  evaluated_step_ = context.global_step();
  TD_ASSIGN_OR_RETURN(const bool stop, options_.evaluate(evaluated_step_));
  if (stop) context.RequestStop();
  return absl::OkStatus();
}

absl::Status StepEvaluator::AfterCreateSession(RunContext& context) {
  const int64_t start = context.global_step();
  evaluated_step_ = start;
  if (!options_.interval.Due(start) || Signalled()) return absl::OkStatus();
  TD_ASSIGN_OR_RETURN(const bool recorded, options_.recorded(start));
  return recorded ? absl::OkStatus() : Evaluate(context);
}

absl::Status StepEvaluator::AfterRun(RunContext& context, const RunValues& values) {
  const bool due = values.finite && options_.interval.Due(context.global_step());
  return due && !Signalled() ? Evaluate(context) : absl::OkStatus();
}

absl::Status StepEvaluator::End(RunContext& context) {
  return context.global_step() == evaluated_step_ || Signalled() ? absl::OkStatus() : Evaluate(context);
}

}  // namespace tandem

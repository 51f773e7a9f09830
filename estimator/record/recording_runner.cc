#include "estimator/record/recording_runner.h"

#include <cmath>

#include "base/status_macros.h"

namespace tandem {

absl::StatusOr<StepOutcome> RecordingRunner::Run(const StepRequest& request) {
  const auto number = request.scalars.find("global_step");
  const int64_t step = number != request.scalars.end() ? number->second.integer() : 0;
  StepBits bits{.input = sampler_.OfInput(*request.round, step)};
  TD_ASSIGN_OR_RETURN(StepOutcome outcome, runner_.Run(request));
  const auto loss = outcome.values.find("loss");
  if (!outcome.finite || loss == outcome.values.end() || loss->second.empty()) return outcome;
  bits.loss = loss->second.dtype() == DType::kFloat64 ? static_cast<float>(*loss->second.data<double>())
                                                      : *loss->second.data<float>();
  if (!std::isfinite(bits.loss)) return outcome;
  bits.variables = sampler_.OfVariables(step);
  TD_RETURN_IF_ERROR(on_step_(step, bits));
  return outcome;
}

}  // namespace tandem

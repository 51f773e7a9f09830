#include "estimator/parameter_server/served_runner.h"

#include <vector>

#include "base/status_macros.h"

namespace tandem {

absl::StatusOr<StepOutcome> ServedRunner::Run(const StepRequest& request) {
  StepRequest of_worker = request;
  const std::vector<std::string>& sent = variables_.sent();
  of_worker.fetches.insert(of_worker.fetches.end(), sent.begin(), sent.end());
  TD_ASSIGN_OR_RETURN(StepOutcome outcome, worker_.Run(of_worker));
  if (outcome.finite) {
    TD_RETURN_IF_ERROR(variables_.Exchange(outcome.values, request.scalars));
    outcome.global_step = variables_.step();
  }
  for (const std::string& name : sent) outcome.values.erase(name);
  return outcome;
}

}  // namespace tandem

// ServedRunner: the steps of a worker whose variables parameter servers keep.
#ifndef TANDEM_ESTIMATOR_PARAMETER_SERVER_SERVED_RUNNER_H_
#define TANDEM_ESTIMATOR_PARAMETER_SERVER_SERVED_RUNNER_H_

#include <string>
#include <vector>

#include "estimator/parameter_server/served_variables.h"
#include "estimator/session_runner.h"
#include "estimator/step_runner.h"

namespace tandem {

// A step of `worker`, which runs the worker's part, and then the exchange with the servers: the outcome has their
// number of updates. A step that is not finite is not sent.
class ServedRunner : public StepRunner {
 public:
  // Both must outlive this; `variables` has begun.
  ServedRunner(SessionRunner* worker, ServedVariables* variables)
      : worker_(*worker), variables_(*variables), sent_(variables->sent()) {}

  absl::StatusOr<StepOutcome> Run(const StepRequest& request) override;
  absl::StatusOr<std::string> FindNonFinite(const StepRequest& request) override {
    return worker_.FindNonFinite(request);
  }

 private:
  SessionRunner& worker_;
  ServedVariables& variables_;
  const std::vector<std::string> sent_;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_PARAMETER_SERVER_SERVED_RUNNER_H_

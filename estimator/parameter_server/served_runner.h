// ServedRunner: makes the steps of a worker whose variables are kept by parameter servers.
#ifndef TANDEM_ESTIMATOR_PARAMETER_SERVER_SERVED_RUNNER_H_
#define TANDEM_ESTIMATOR_PARAMETER_SERVER_SERVED_RUNNER_H_

#include <string>

#include "estimator/loop/session_runner.h"
#include "estimator/loop/step_runner.h"
#include "estimator/parameter_server/served_variables.h"

namespace tandem {

// Makes a step: `worker` computes the worker's part, and `variables` sends the results to the servers and reads the new
// values. The outcome's global step is the servers' number of updates. A step that is not finite is not sent.
class ServedRunner : public StepRunner {
 public:
  // Both arguments must outlive this object. Before the first step, ServedVariables::Begin must have connected
  // `variables` to the servers.
  ServedRunner(SessionRunner* worker, ServedVariables* variables) : worker_(*worker), variables_(*variables) {}

  absl::StatusOr<StepOutcome> Run(const StepRequest& request) override;
  absl::StatusOr<std::string> FindNonFinite(const StepRequest& request) override {
    return worker_.FindNonFinite(request);
  }

 private:
  SessionRunner& worker_;
  ServedVariables& variables_;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_PARAMETER_SERVER_SERVED_RUNNER_H_

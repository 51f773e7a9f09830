// SessionRunner: the runtime's Session behind the loop's StepRunner.
#ifndef TANDEM_ESTIMATOR_SESSION_RUNNER_H_
#define TANDEM_ESTIMATOR_SESSION_RUNNER_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "data/element.h"
#include "estimator/step_runner.h"
#include "runtime/session.h"

namespace tandem {

// Finds inputs and outputs by name, and gives scalars that a request does not set their defaults.
class SessionRunner : public StepRunner {
 public:
  // `components`: what a Round's tensors are, in order. Internal when the executable wants an input that is not there.
  static absl::StatusOr<std::unique_ptr<SessionRunner>> Create(std::shared_ptr<const Executable> executable,
                                                               std::shared_ptr<VariableStore> variables,
                                                               std::shared_ptr<ThreadPool> pool,
                                                               const std::vector<ComponentSpec>& components,
                                                               std::map<std::string, double> scalar_defaults);

  absl::StatusOr<StepOutcome> Run(const StepRequest& request) override;
  absl::StatusOr<std::string> FindNonFinite(const StepRequest& request) override;

  std::set<std::string> output_names() const;

 private:
  StepInputs InputsFor(const StepRequest& request) const;

  std::shared_ptr<const Executable> executable_;
  std::unique_ptr<Session> session_;
  std::vector<int> component_of_input_;
  std::map<std::string, double> scalar_defaults_;  // of the executable's own scalars only
  std::map<std::string, int> output_index_;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_SESSION_RUNNER_H_

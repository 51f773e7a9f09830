// FollowsEvaluations: of a hook, which evaluations it goes by.
#ifndef TANDEM_ESTIMATOR_FOLLOWS_EVALUATIONS_H_
#define TANDEM_ESTIMATOR_FOLLOWS_EVALUATIONS_H_

#include <string>

namespace tandem {

// Derive a hook from it as well, and TrainAndEvaluate says before the first step where the hook would wait for
// evaluations that are never made.
class FollowsEvaluations {
 public:
  virtual ~FollowsEvaluations() = default;
  // The name of the evaluations (EvalSpec.name).
  virtual const std::string& followed_evaluation() const = 0;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_FOLLOWS_EVALUATIONS_H_

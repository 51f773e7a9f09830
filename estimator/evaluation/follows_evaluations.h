// FollowsEvaluations: implemented by hooks that act on evaluations; tells which ones.
#ifndef TANDEM_ESTIMATOR_EVALUATION_FOLLOWS_EVALUATIONS_H_
#define TANDEM_ESTIMATOR_EVALUATION_FOLLOWS_EVALUATIONS_H_

#include <string>

namespace tandem {

// If a hook derives from this class too, TrainAndEvaluate warns before the first step when the hook would wait for
// evaluations that are never made.
class FollowsEvaluations {
 public:
  virtual ~FollowsEvaluations() = default;
  // The name of the evaluations that the hook follows (EvalSpec.name).
  virtual const std::string& followed_evaluation() const = 0;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_EVALUATION_FOLLOWS_EVALUATIONS_H_

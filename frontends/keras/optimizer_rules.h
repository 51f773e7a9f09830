// Update rules of Keras that frontends/optimizers.h has not got. Internal to frontends/keras/.
#ifndef TANDEM_FRONTENDS_KERAS_OPTIMIZER_RULES_H_
#define TANDEM_FRONTENDS_KERAS_OPTIMIZER_RULES_H_

#include <memory>
#include <string>

#include "frontends/optimizer.h"

namespace tandem::keras::optimizers {

// The formulas are those of optimizers.h beside this.

// "SGD": one slot.
std::shared_ptr<const UpdateRule> MomentumRule(double momentum, bool nesterov);

struct CenteredNumbers {
  double rho, momentum, epsilon;
  bool epsilon_in_root;  // false: sqrt(v - a^2) + epsilon
};
// "RMSProp": v, m with momentum, a.
std::shared_ptr<const UpdateRule> CenteredRMSpropRule(const CenteredNumbers& numbers);

// Three slots.
std::shared_ptr<const UpdateRule> AmsgradRule(std::string name, double beta_1, double beta_2, double epsilon);

// A rule that also takes lr weight_decay w off w: before it sees w, where that makes a difference.
std::shared_ptr<const UpdateRule> DecayedRule(std::shared_ptr<const UpdateRule> rule, double weight_decay, bool before);

}  // namespace tandem::keras::optimizers

#endif  // TANDEM_FRONTENDS_KERAS_OPTIMIZER_RULES_H_

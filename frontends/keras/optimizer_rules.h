// Update rules of Keras that frontends/optimizers.h does not have. Internal to frontends/keras/.
#ifndef TANDEM_FRONTENDS_KERAS_OPTIMIZER_RULES_H_
#define TANDEM_FRONTENDS_KERAS_OPTIMIZER_RULES_H_

#include <memory>
#include <string>

#include "frontends/optimizer.h"

namespace tandem::keras::optimizers {

// The formulas are documented in frontends/keras/optimizers.h.

// Returns the update rule "SGD" with one slot, the momentum.
std::shared_ptr<const UpdateRule> MomentumRule(double momentum, bool nesterov);

struct CenteredNumbers {
  double rho, momentum, epsilon;
  bool epsilon_in_root;  // true: sqrt(v - a^2 + epsilon); false: sqrt(v - a^2) + epsilon
};
// Returns the update rule "RMSProp" with the slots v, m (only with momentum) and a.
std::shared_ptr<const UpdateRule> CenteredRMSpropRule(const CenteredNumbers& numbers);

// Returns the update rule of Adam with amsgrad, which has three slots.
std::shared_ptr<const UpdateRule> AmsgradRule(std::string name, double beta_1, double beta_2, double epsilon);

// Returns a rule that wraps `rule` and also subtracts lr weight_decay w from w, before or after `rule` computes its
// update.
std::shared_ptr<const UpdateRule> DecayedRule(std::shared_ptr<const UpdateRule> rule, double weight_decay, bool before);

}  // namespace tandem::keras::optimizers

#endif  // TANDEM_FRONTENDS_KERAS_OPTIMIZER_RULES_H_

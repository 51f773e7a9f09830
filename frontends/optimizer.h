// Optimizer: adds ops to a graph that update variables so that a loss becomes smaller.
#ifndef TANDEM_FRONTENDS_OPTIMIZER_H_
#define TANDEM_FRONTENDS_OPTIMIZER_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tandem/base/api.h"
#include "tandem/base/source_location.h"
#include "tandem/frontends/clipping.h"
#include "tandem/frontends/schedules.h"
#include "tandem/graph/graph_builder.h"
#include "tandem/graph/ops.h"
#include "tandem/graph/tensor.h"

namespace TANDEM_API tandem {

// The result of Minimize and the argument of EstimatorSpec::Train. The updates are assignments in `graph`. ok() is
// false after an error, which GraphBuilder::status returns.
struct TrainOp {
  // Some tensor of the graph. Through it graph() becomes null when the graph is destroyed.
  Tensor of;
  GraphBuilder* graph() const { return of.graph(); }
  bool ok() const { return graph() != nullptr; }
};

// What ComputeGradients returns for a variable, and ApplyGradients takes.
struct GradientAndVariable {
  Tensor gradient;  // not ok() if the loss does not depend on the variable
  Tensor variable;
  std::string name;  // the variable's name
};

// The input of an update rule for one variable in one step.
struct VariableUpdate {
  std::string name;  // the variable's name, "dense/kernel"
  Tensor variable;
  std::vector<Tensor> slots;
  Tensor gradient;       // gradient of the loss of the global batch, after clipping
  Tensor learning_rate;  // a float32 scalar
  Tensor step_size;      // a float32 scalar: the result of UpdateRule::StepSize
  SourceLocation loc;    // source line of the user's call
  // The weight decay of the variable's parameter group, which replaces the rule's own decay; nullopt if the group has
  // none.
  std::optional<double> weight_decay = std::nullopt;
};

// Says how to update one variable. Derive from this class to make your own optimizer.
class UpdateRule {
 public:
  virtual ~UpdateRule() = default;
  // Name of the optimizer: the scope of its ops, and part of the slots' names ("dense/kernel/Adam", then
  // "dense/kernel/Adam_1").
  virtual std::string name() const = 0;
  // Number of slots (state tensors) per variable; each has the variable's type and shape.
  virtual int num_slots() const = 0;
  // Initial value of all elements of slot number `slot`; a finite number.
  virtual double initial_value(int slot) const { return 0; }
  // Records an error in `graph` if an option of the rule is invalid.
  virtual void Validate(GraphBuilder* graph, SourceLocation loc) const = 0;
  // True if Update decays weights itself, by VariableUpdate::weight_decay if that is set. Otherwise a group's decay is
  // applied to the result of Update: w -= lr weight_decay w.
  virtual bool has_weight_decay() const { return false; }
  // Computes a float32 scalar from the float32 learning rate, once per step and rate. Update gets it as step_size.
  virtual Tensor StepSize(const Tensor& learning_rate, SourceLocation loc) const { return learning_rate; }
  // Returns the values of the variable and of all its slots after the step.
  virtual UpdateResult Update(const VariableUpdate& update) const = 0;
};

struct MinimizeOptions {
  // Variables to train, as returned by GraphBuilder::Variable or trainable_variables(). If it is empty, all trainable
  // variables are trained.
  std::vector<Tensor> var_list;
};

// Variables that are trained differently from the optimizer's other variables.
struct GroupOptions {
  // A regular expression (ECMAScript) that a variable's whole name must match, as in WarmStartSettings:
  // "encoder/.*/kernel". It must match at least one trainable variable, and none that another group matches.
  std::string variables;
  // Replaces the optimizer's rate. A number becomes a step scalar, which can be set at run time, with a name of its
  // own: "learning_rate_1" after the optimizer's "learning_rate", and so on. A schedule takes no such name: if the
  // optimizer has a schedule, the first number is "learning_rate".
  std::optional<LearningRate> learning_rate = std::nullopt;
  // Factor of the learning rate; at least 0.
  double learning_rate_factor = 1;
  // Weight decay that is decoupled from the gradient: w -= lr weight_decay w. Replaces the optimizer's own decay, if it
  // has one, including its option `exclude`.
  std::optional<double> weight_decay = std::nullopt;
  // If true, the variables get no gradients, no slots and no updates. No other option may be set then.
  bool frozen = false;
  // Replaces the optimizer's clipping for this group. A norm is that of this group's gradients alone, and the norm of
  // the other gradients excludes them. ClipOptions{} means no clipping.
  std::optional<ClipOptions> clip = std::nullopt;
};

// tf.train.ExponentialMovingAverage: a = decay a + (1 - decay) w after each step's update, from w's first value. Slot
// "<variable>/ExponentialMovingAverage" (a); evaluations and predictions of an Estimator read it instead of w.
struct MovingAverageOptions {
  double decay = 0.999;
  // If true, the decay in step t (from 1) is min(decay, (1 + t) / (10 + t)), so that early averages follow the weights.
  bool num_updates = false;
  // The variables that the optimizer trains are always averaged. Also averaged are non-trainable variables, such as a
  // batch norm's statistics, whose whole name matches this regular expression (ECMAScript):
  // ".*/moving_(mean|variance)". Empty: none of these.
  std::string also = "";
};

// A cheap handle; may be used for several graphs. The available optimizers are in optimizers.h.
class Optimizer {
 public:
  // An optimizer with a rule of the user; `clip` applies to the gradients of the global batch.
  Optimizer(std::shared_ptr<const UpdateRule> rule, LearningRate learning_rate, const ClipOptions& clip = {});

  // Adds the ops of gradients, clipping and updates to the loss's graph. `loss` is a floating-point scalar. Variables
  // that the loss does not depend on stay unchanged; it is an error if the loss depends on no variable. May be called
  // inside a NameScope: slots are named only after their variable.
  TrainOp Minimize(const Tensor& loss, const MinimizeOptions& options = {},
                   SourceLocation loc = SourceLocation::Current()) const;

  // The two halves of Minimize, between which a caller can change the gradients. Clipping is part of the second half.
  std::vector<GradientAndVariable> ComputeGradients(const Tensor& loss, const MinimizeOptions& options = {},
                                                    SourceLocation loc = SourceLocation::Current()) const;
  TrainOp ApplyGradients(std::vector<GradientAndVariable> gradients,
                         SourceLocation loc = SourceLocation::Current()) const;

  // Return this optimizer with one more group, or with moving averages. Errors, such as a pattern that matches nothing,
  // are reported with the line of this call when the optimizer is applied to a graph.
  Optimizer WithGroup(const GroupOptions& options, SourceLocation loc = SourceLocation::Current()) const;
  Optimizer WithMovingAverage(const MovingAverageOptions& options = {},
                              SourceLocation loc = SourceLocation::Current()) const;
  // Returns this optimizer with gradients multiplied by `factor`, a positive number, before they are clipped. Factors
  // of several calls multiply.
  Optimizer WithGradientFactor(double factor, SourceLocation loc = SourceLocation::Current()) const;

  // The rule by which variables are updated, for rules that wrap another rule.
  const std::shared_ptr<const UpdateRule>& rule() const { return rule_; }

 private:
  std::shared_ptr<const UpdateRule> rule_;
  LearningRate learning_rate_;
  ClipOptions clip_;
  std::vector<std::pair<GroupOptions, SourceLocation>> groups_;
  std::optional<std::pair<MovingAverageOptions, SourceLocation>> average_;
  std::pair<double, SourceLocation> gradient_factor_ = {1, {}};
};

}  // namespace tandem

#endif  // TANDEM_FRONTENDS_OPTIMIZER_H_

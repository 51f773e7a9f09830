// Optimizer: adds to a graph the updates of the variables that reduce a loss.
#ifndef TANDEM_FRONTENDS_OPTIMIZER_H_
#define TANDEM_FRONTENDS_OPTIMIZER_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/source_location.h"
#include "frontends/clipping.h"
#include "frontends/schedules.h"
#include "graph/graph_builder.h"
#include "graph/ops.h"
#include "graph/tensor.h"

namespace tandem {

// The argument of EstimatorSpec::Train: the updates are assignments in `graph`. Not ok after an error (see
// GraphBuilder::status).
struct TrainOp {
  Tensor of;  // a tensor of the graph, which knows when the graph is destroyed
  GraphBuilder* graph() const { return of.graph(); }
  bool ok() const { return graph() != nullptr; }
};

struct GradientAndVariable {
  Tensor gradient;  // poisoned if the loss does not depend on the variable
  Tensor variable;
  std::string name;  // name of the variable
};

// The input of a rule for one variable.
struct VariableUpdate {
  std::string name;  // name of the variable, "dense/kernel"
  Tensor variable;
  std::vector<Tensor> slots;
  Tensor gradient;       // gradient for the global batch, clipped
  Tensor learning_rate;  // float32 scalars
  Tensor step_size;      // the result of StepSize
  SourceLocation loc;    // location of the user's call
  // The weight decay of the variable's group, which replaces the rule's own; nullopt if the group has none.
  std::optional<double> weight_decay = std::nullopt;
};

// How to update one variable. Derive from it to make your own optimizer.
class UpdateRule {
 public:
  virtual ~UpdateRule() = default;
  // Name of the optimizer: the scope of its ops, and part of the slots' names ("dense/kernel/Adam", then
  // "dense/kernel/Adam_1").
  virtual std::string name() const = 0;
  // Number of slots per variable; each has the variable's type and shape.
  virtual int num_slots() const = 0;
  // First value of all elements of slot `slot`; a finite number.
  virtual double initial_value(int slot) const { return 0; }
  // Records an error in `graph` for an invalid option.
  virtual void Validate(GraphBuilder* graph, SourceLocation loc) const = 0;
  // True if Update decays weights itself, by VariableUpdate::weight_decay if that is set. Otherwise a group's decay is
  // applied to the result of Update: w -= lr weight_decay w.
  virtual bool has_weight_decay() const { return false; }
  // Computes, once per step and learning rate, a float32 scalar from the float32 rate; every Update gets it.
  virtual Tensor StepSize(const Tensor& learning_rate, SourceLocation loc) const { return learning_rate; }
  // Returns the variable and all of its slots after the step.
  virtual UpdateResult Update(const VariableUpdate& update) const = 0;
};

struct MinimizeOptions {
  // Variables to train, as GraphBuilder::Variable or trainable_variables() returned them; empty: all trainable ones.
  std::vector<Tensor> var_list;
};

// Variables that are trained differently from the optimizer's other variables.
struct GroupOptions {
  // A regular expression (ECMAScript) that a variable's whole name must match, as in WarmStartSettings:
  // "encoder/.*/kernel". It must match at least one trainable variable, and none that another group matches.
  std::string variables;
  // Replaces the optimizer's rate. A number becomes a step scalar of its own: "learning_rate_1" after the optimizer's
  // "learning_rate", and so on. A schedule has no such name: if the optimizer has a schedule, the first number is
  // "learning_rate".
  std::optional<LearningRate> learning_rate = std::nullopt;
  // Multiplies the rate; at least 0.
  double learning_rate_factor = 1;
  // Decoupled from the gradient: w -= lr weight_decay w. Replaces the optimizer's own decay, if it has one, including
  // its `exclude`.
  std::optional<double> weight_decay = std::nullopt;
  // No gradients, no slots, no updates. No other option may be set then.
  bool frozen = false;
  // Replaces the optimizer's clipping; uses the norm of this group's gradients alone, and the norm of the others then
  // excludes them. ClipOptions{} means no clipping.
  std::optional<ClipOptions> clip = std::nullopt;
};

// tf.train.ExponentialMovingAverage: a = decay a + (1 - decay) w after each step's update, from w's first value. Slot
// "<variable>/ExponentialMovingAverage" (a); evaluations and predictions of an Estimator read it instead of w.
struct MovingAverageOptions {
  double decay = 0.999;
  // The decay of step t (from 1) is min(decay, (1 + t) / (10 + t)), so that early averages follow the weights.
  bool num_updates = false;
  // The variables that the optimizer trains are always averaged. Also averaged are non-trainable variables, such as a
  // batch norm's statistics, whose whole name matches this regular expression (ECMAScript):
  // ".*/moving_(mean|variance)". Empty: none of these.
  std::string also = "";
};

// A cheap handle; may be used for several graphs. The available optimizers are in optimizers.h.
class Optimizer {
 public:
  Optimizer(std::shared_ptr<const UpdateRule> rule, LearningRate learning_rate, const ClipOptions& clip = {});

  // Adds gradients, clipping and updates. `loss` is a floating-point scalar. Variables that the loss does not depend on
  // stay unchanged; if it depends on none, that is an error. May be called inside a NameScope: slots are named only
  // after their variable.
  TrainOp Minimize(const Tensor& loss, const MinimizeOptions& options = {},
                   SourceLocation loc = SourceLocation::Current()) const;

  // The two halves of Minimize, for changing gradients between them. Clipping is part of the second.
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

  // How a variable is updated, for rules that wrap another rule.
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

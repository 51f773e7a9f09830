// Optimizer: from a loss to the updates of the variables, as ops of the graph.
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

// What EstimatorSpec::Train takes: the updates are in `graph` as assignments. Not ok after an error (see
// GraphBuilder::status).
struct TrainOp {
  Tensor of;  // one of the graph that it belongs to, which knows when that is gone
  GraphBuilder* graph() const { return of.graph(); }
  bool ok() const { return graph() != nullptr; }
};

struct GradientAndVariable {
  Tensor gradient;  // poisoned where the loss does not depend on the variable
  Tensor variable;
  std::string name;  // of the variable
};

// What a rule gets for one variable.
struct VariableUpdate {
  std::string name;  // of the variable, "dense/kernel"
  Tensor variable;
  std::vector<Tensor> slots;
  Tensor gradient;       // of the global batch, clipped
  Tensor learning_rate;  // float32 scalars
  Tensor step_size;      // what StepSize returned
  SourceLocation loc;    // of the user's call
  // Of the variable's group, instead of the rule's own; nothing where the group has none.
  std::optional<double> weight_decay = std::nullopt;
};

// How one variable is updated. Derive from it for an optimizer of your own.
class UpdateRule {
 public:
  virtual ~UpdateRule() = default;
  // Of the optimizer: scope of its ops, and the slots' names ("dense/kernel/Adam", then "dense/kernel/Adam_1").
  virtual std::string name() const = 0;
  // Slots per variable; each has the variable's type and shape.
  virtual int num_slots() const = 0;
  // What all elements of slot `slot` start from; a finite number.
  virtual double initial_value(int slot) const { return 0; }
  // Records an error in `graph` for an option that makes no sense.
  virtual void Validate(GraphBuilder* graph, SourceLocation loc) const = 0;
  // Whether Update decays weights itself, by VariableUpdate::weight_decay where that has a value. Otherwise a group's
  // decay is taken off what Update returns: w -= lr weight_decay w.
  virtual bool has_weight_decay() const { return false; }
  // Once per step and learning rate: the scalar that every Update gets, from the rate. Both float32.
  virtual Tensor StepSize(const Tensor& learning_rate, SourceLocation loc) const { return learning_rate; }
  // The variable and all of its slots after the step.
  virtual UpdateResult Update(const VariableUpdate& update) const = 0;
};

struct MinimizeOptions {
  // Variables to train, as GraphBuilder::Variable or trainable_variables() returned them; empty: all trainable ones.
  std::vector<Tensor> var_list;
};

// Variables that are trained in another way than the optimizer's others.
struct GroupOptions {
  // A regular expression (ECMAScript) that a variable's whole name must match, as in WarmStartSettings:
  // "encoder/.*/kernel". It must match one trainable variable at least, and none that another group has.
  std::string variables;
  // Instead of the optimizer's. A number is a step scalar of its own: "learning_rate_1" after the optimizer's
  // "learning_rate", and so on. A schedule has no such name: after it, the first number is "learning_rate".
  std::optional<LearningRate> learning_rate = std::nullopt;
  // Multiplies the rate; at least 0.
  double learning_rate_factor = 1;
  // Decoupled from the gradient: w -= lr weight_decay w. Instead of that of the optimizer, `exclude` included, where it
  // has one.
  std::optional<double> weight_decay = std::nullopt;
  // No gradients, no slots, no updates. Nothing else may be set then.
  bool frozen = false;
  // Instead of the optimizer's, by the norm of this group's gradients alone; the others then leave them out of theirs.
  // ClipOptions{} is no clipping.
  std::optional<ClipOptions> clip = std::nullopt;
};

// tf.train.ExponentialMovingAverage: a = decay a + (1 - decay) w after each step's update, from w's first value. Slot
// "<variable>/ExponentialMovingAverage" (a); evaluations and predictions of an Estimator read it instead of w.
struct MovingAverageOptions {
  double decay = 0.999;
  // The decay of step t (from 1) is min(decay, (1 + t) / (10 + t)), so that early averages follow the weights.
  bool num_updates = false;
  // Averaged are the variables that the optimizer trains, and those not trainable, such as a batch norm's statistics,
  // whose whole name matches this regular expression (ECMAScript): ".*/moving_(mean|variance)". Empty: none of them.
  std::string also = "";
};

// A cheap handle; may be used for several graphs. See optimizers.h for the known ones.
class Optimizer {
 public:
  Optimizer(std::shared_ptr<const UpdateRule> rule, LearningRate learning_rate, const ClipOptions& clip = {});

  // Gradients, clipping, updates. `loss` is a floating-point scalar. Variables that the loss does not depend on stay
  // as they are; that it depends on none is an error. May be called inside a NameScope: slots are named after their
  // variable only.
  TrainOp Minimize(const Tensor& loss, const MinimizeOptions& options = {},
                   SourceLocation loc = SourceLocation::Current()) const;

  // The two halves of Minimize, for gradients that need treatment between them. Clipping belongs to the second.
  std::vector<GradientAndVariable> ComputeGradients(const Tensor& loss, const MinimizeOptions& options = {},
                                                    SourceLocation loc = SourceLocation::Current()) const;
  TrainOp ApplyGradients(std::vector<GradientAndVariable> gradients,
                         SourceLocation loc = SourceLocation::Current()) const;

  // This optimizer with one group more, and with moving averages. Errors, such as a pattern that matches nothing, come
  // with the line of this call when a graph is minimized.
  Optimizer WithGroup(const GroupOptions& options, SourceLocation loc = SourceLocation::Current()) const;
  Optimizer WithMovingAverage(const MovingAverageOptions& options = {},
                              SourceLocation loc = SourceLocation::Current()) const;
  // This optimizer with gradients that are multiplied by `factor`, a positive number, before they are clipped; by that
  // of before as well, if there was one.
  Optimizer WithGradientFactor(double factor, SourceLocation loc = SourceLocation::Current()) const;

  // How a variable is updated, for rules that are made of another.
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

// Optimizer: from a loss to the updates of the variables, as ops of the graph.
#ifndef TANDEM_FRONTENDS_OPTIMIZER_H_
#define TANDEM_FRONTENDS_OPTIMIZER_H_

#include <memory>
#include <string>
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
  GraphBuilder* graph = nullptr;
  bool ok() const { return graph != nullptr; }
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
  // Once per step: the scalar that every Update gets, from the learning rate. Both float32.
  virtual Tensor StepSize(const Tensor& learning_rate, SourceLocation loc) const { return learning_rate; }
  // The variable and all of its slots after the step.
  virtual UpdateResult Update(const VariableUpdate& update) const = 0;
};

struct MinimizeOptions {
  // Variables to train, as GraphBuilder::Variable or trainable_variables() returned them; empty: all trainable ones.
  std::vector<Tensor> var_list;
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

 private:
  std::shared_ptr<const UpdateRule> rule_;
  LearningRate learning_rate_;
  ClipOptions clip_;
};

}  // namespace tandem

#endif  // TANDEM_FRONTENDS_OPTIMIZER_H_

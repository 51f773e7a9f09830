#include "frontends/optimizers.h"

#include <memory>
#include <string>

#include "frontends/rule_parts.h"
#include "graph/ops.h"

namespace tandem::optimizers {
namespace {

using frontends::BlendSquare;
using frontends::CheckEpsilon;
using frontends::CheckShare;
using frontends::InTypeOf;

class GradientDescentRule : public UpdateRule {
 public:
  std::string name() const override { return "GradientDescent"; }
  int num_slots() const override { return 0; }
  void Validate(GraphBuilder*, SourceLocation) const override {}
  UpdateResult Update(const VariableUpdate& u) const override {
    return {ApplySgd(u.variable, u.gradient, u.step_size, u.loc), {}};
  }
};

class MomentumRule : public UpdateRule {
 public:
  explicit MomentumRule(const MomentumOptions& options) : options_(options) {}
  std::string name() const override { return "Momentum"; }
  int num_slots() const override { return 1; }
  void Validate(GraphBuilder* graph, SourceLocation loc) const override {
    CheckShare(graph, name(), "momentum", options_.momentum, loc);
  }
  UpdateResult Update(const VariableUpdate& u) const override {
    return ApplyMomentum(u.variable, u.slots[0], u.gradient, u.step_size, options_.momentum, options_.use_nesterov,
                         u.loc);
  }

 private:
  MomentumOptions options_;
};

class AdamRule : public UpdateRule {
 public:
  explicit AdamRule(const AdamOptions& options) : options_(options) {}
  std::string name() const override { return "Adam"; }
  int num_slots() const override { return 2; }
  void Validate(GraphBuilder* graph, SourceLocation loc) const override {
    CheckShare(graph, name(), "beta1", options_.beta1, loc);
    CheckShare(graph, name(), "beta2", options_.beta2, loc);
    CheckEpsilon(graph, name(), options_.epsilon, loc);
  }
  Tensor StepSize(const Tensor& lr, SourceLocation loc) const override {
    return frontends::AdamStepSize(lr, options_.beta1, options_.beta2, loc);
  }
  UpdateResult Update(const VariableUpdate& u) const override {
    return ApplyAdam(u.variable, u.slots[0], u.slots[1], u.gradient, u.step_size, options_.beta1, options_.beta2,
                     options_.epsilon, u.loc);
  }

 private:
  AdamOptions options_;
};

class RmsPropRule : public UpdateRule {
 public:
  explicit RmsPropRule(const RMSpropOptions& options) : options_(options) {}
  std::string name() const override { return "RMSProp"; }
  int num_slots() const override { return options_.momentum > 0 ? 2 : 1; }
  void Validate(GraphBuilder* graph, SourceLocation loc) const override {
    CheckShare(graph, "RMSprop", "rho", options_.rho, loc);
    CheckShare(graph, "RMSprop", "momentum", options_.momentum, loc);
    CheckEpsilon(graph, "RMSprop", options_.epsilon, loc);
  }
  UpdateResult Update(const VariableUpdate& u) const override {
    if (options_.epsilon_in_root) return UpdateWithEpsilonInRoot(u);
    return ApplyRmsProp(u.variable, u.slots, u.gradient, u.step_size, options_.rho, options_.momentum, options_.epsilon,
                        u.loc);
  }

 private:
  UpdateResult UpdateWithEpsilonInRoot(const VariableUpdate& u) const {
    Tensor squares = BlendSquare(u.slots[0], options_.rho, u.gradient, u.loc);
    Tensor change = Div(u.gradient, Sqrt(Add(squares, options_.epsilon, u.loc), u.loc), u.loc);
    change = Mul(change, InTypeOf(u.variable, u.learning_rate, u.loc), u.loc);
    if (options_.momentum == 0) return {Sub(u.variable, change, u.loc), {squares}};
    Tensor accumulated = Add(Mul(u.slots[1], options_.momentum, u.loc), change, u.loc);
    return {Sub(u.variable, accumulated, u.loc), {squares, accumulated}};
  }

  RMSpropOptions options_;
};

using frontends::Make;

}  // namespace

Optimizer GradientDescent(const GradientDescentOptions& options) {
  return Make(std::make_shared<GradientDescentRule>(), options);
}
Optimizer SGD(const GradientDescentOptions& options) { return GradientDescent(options); }
Optimizer Momentum(const MomentumOptions& options) { return Make(std::make_shared<MomentumRule>(options), options); }
Optimizer Adam(const AdamOptions& options) { return Make(std::make_shared<AdamRule>(options), options); }
Optimizer RMSprop(const RMSpropOptions& options) { return Make(std::make_shared<RmsPropRule>(options), options); }

}  // namespace tandem::optimizers

#include "frontends/keras/optimizer_rules.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "frontends/rule_parts.h"
#include "graph/ops.h"

namespace tandem::keras::optimizers {
namespace {

using frontends::Blend;
using frontends::BlendSquare;
using frontends::CheckEpsilon;
using frontends::CheckShare;
using frontends::InTypeOf;

class KerasMomentum : public UpdateRule {
 public:
  KerasMomentum(double momentum, bool nesterov) : momentum_(momentum), nesterov_(nesterov) {}
  std::string name() const override { return "SGD"; }
  int num_slots() const override { return 1; }
  void Validate(GraphBuilder* graph, SourceLocation loc) const override {
    if (!(momentum_ >= 0 && momentum_ <= 1)) {
      graph->FailAt(name(), absl::StrCat("`momentum` must be in [0, 1], got ", momentum_), loc);
    }
  }
  UpdateResult Update(const VariableUpdate& u) const override {
    Tensor change = Mul(u.gradient, InTypeOf(u.variable, u.learning_rate, u.loc), u.loc);
    Tensor m = Sub(Mul(u.slots[0], momentum_, u.loc), change, u.loc);
    Tensor step = nesterov_ ? Sub(Mul(m, momentum_, u.loc), change, u.loc) : m;
    return {Add(u.variable, step, u.loc), {m}};
  }

 private:
  const double momentum_;
  const bool nesterov_;
};

class CenteredRMSprop : public UpdateRule {
 public:
  explicit CenteredRMSprop(const CenteredNumbers& numbers) : numbers_(numbers) {}
  std::string name() const override { return "RMSProp"; }
  int num_slots() const override { return numbers_.momentum > 0 ? 3 : 2; }
  void Validate(GraphBuilder* graph, SourceLocation loc) const override {
    CheckShare(graph, "RMSprop", "rho", numbers_.rho, loc);
    CheckShare(graph, "RMSprop", "momentum", numbers_.momentum, loc);
    CheckEpsilon(graph, "RMSprop", numbers_.epsilon, loc);
  }
  UpdateResult Update(const VariableUpdate& u) const override {
    const SourceLocation loc = u.loc;
    Tensor v = BlendSquare(u.slots[0], numbers_.rho, u.gradient, loc);
    Tensor a = Blend(u.slots.back(), numbers_.rho, u.gradient, loc);
    Tensor variance = Sub(v, Square(a, loc), loc);
    Tensor root = numbers_.epsilon_in_root ? Sqrt(Add(variance, numbers_.epsilon, loc), loc)
                                           : Add(Sqrt(variance, loc), numbers_.epsilon, loc);
    Tensor change = Mul(Div(u.gradient, root, loc), InTypeOf(u.variable, u.learning_rate, loc), loc);
    if (numbers_.momentum == 0) return {Sub(u.variable, change, loc), {v, a}};
    Tensor m = Add(Mul(u.slots[1], numbers_.momentum, loc), change, loc);
    return {Sub(u.variable, m, loc), {v, m, a}};
  }

 private:
  const CenteredNumbers numbers_;
};

class Amsgrad : public UpdateRule {
 public:
  Amsgrad(std::string name, double beta_1, double beta_2, double epsilon)
      : name_(std::move(name)), beta_1_(beta_1), beta_2_(beta_2), epsilon_(epsilon) {}
  std::string name() const override { return name_; }
  int num_slots() const override { return 3; }
  void Validate(GraphBuilder* graph, SourceLocation loc) const override {
    CheckShare(graph, name(), "beta_1", beta_1_, loc);
    CheckShare(graph, name(), "beta_2", beta_2_, loc);
    CheckEpsilon(graph, name(), epsilon_, loc);
  }
  Tensor StepSize(const Tensor& lr, SourceLocation loc) const override {
    return frontends::AdamStepSize(lr, beta_1_, beta_2_, loc);
  }
  UpdateResult Update(const VariableUpdate& u) const override {
    const SourceLocation loc = u.loc;
    Tensor m = Blend(u.slots[0], beta_1_, u.gradient, loc);
    Tensor v = BlendSquare(u.slots[1], beta_2_, u.gradient, loc);
    Tensor largest = Maximum(u.slots[2], v, loc);
    Tensor change =
        Div(Mul(m, InTypeOf(u.variable, u.step_size, loc), loc), Add(Sqrt(largest, loc), epsilon_, loc), loc);
    return {Sub(u.variable, change, loc), {m, v, largest}};
  }

 private:
  const std::string name_;
  const double beta_1_, beta_2_, epsilon_;
};

class Decayed : public UpdateRule {
 public:
  Decayed(std::shared_ptr<const UpdateRule> rule, double weight_decay, bool before)
      : rule_(std::move(rule)), weight_decay_(weight_decay), before_(before) {}
  std::string name() const override { return rule_->name(); }
  int num_slots() const override { return rule_->num_slots(); }
  double initial_value(int slot) const override { return rule_->initial_value(slot); }
  bool has_weight_decay() const override { return true; }
  void Validate(GraphBuilder* graph, SourceLocation loc) const override {
    rule_->Validate(graph, loc);
    frontends::CheckNotNegative(graph, name(), "weight_decay", weight_decay_, loc);
  }
  Tensor StepSize(const Tensor& lr, SourceLocation loc) const override { return rule_->StepSize(lr, loc); }
  UpdateResult Update(const VariableUpdate& u) const override {
    const double weight_decay = u.weight_decay.value_or(weight_decay_);
    Tensor share = InTypeOf(u.variable, Mul(u.learning_rate, weight_decay, u.loc), u.loc);
    Tensor decay = Mul(u.variable, share, u.loc);
    VariableUpdate without = u;
    without.weight_decay = std::nullopt;
    if (before_) without.variable = Sub(u.variable, decay, u.loc);
    UpdateResult result = rule_->Update(without);
    if (!before_) result.var = Sub(result.var, decay, u.loc);
    return result;
  }

 private:
  const std::shared_ptr<const UpdateRule> rule_;
  const double weight_decay_;
  const bool before_;
};

}  // namespace

std::shared_ptr<const UpdateRule> MomentumRule(double momentum, bool nesterov) {
  return std::make_shared<KerasMomentum>(momentum, nesterov);
}

std::shared_ptr<const UpdateRule> CenteredRMSpropRule(const CenteredNumbers& numbers) {
  return std::make_shared<CenteredRMSprop>(numbers);
}

std::shared_ptr<const UpdateRule> AmsgradRule(std::string name, double beta_1, double beta_2, double epsilon) {
  return std::make_shared<Amsgrad>(std::move(name), beta_1, beta_2, epsilon);
}

std::shared_ptr<const UpdateRule> DecayedRule(std::shared_ptr<const UpdateRule> rule, double weight_decay,
                                              bool before) {
  return std::make_shared<Decayed>(std::move(rule), weight_decay, before);
}

}  // namespace tandem::keras::optimizers

// Optimizers that scale each element by the history of its gradients.
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "frontends/optimizers.h"
#include "frontends/rule_parts.h"
#include "graph/ops.h"

namespace tandem::optimizers {
namespace {

using frontends::Blend;
using frontends::BlendSquare;
using frontends::CheckEpsilon;
using frontends::CheckNotNegative;
using frontends::CheckShare;
using frontends::InTypeOf;
using frontends::Make;
using frontends::WeightDecay;

class AdamWRule : public UpdateRule {
 public:
  explicit AdamWRule(const AdamWOptions& options) : options_(options) {}
  std::string name() const override { return "AdamW"; }
  int num_slots() const override { return 2; }
  bool has_weight_decay() const override { return true; }
  void Validate(GraphBuilder* graph, SourceLocation loc) const override {
    CheckShare(graph, name(), "beta1", options_.beta1, loc);
    CheckShare(graph, name(), "beta2", options_.beta2, loc);
    CheckEpsilon(graph, name(), options_.epsilon, loc);
    CheckNotNegative(graph, name(), "weight_decay", options_.weight_decay, loc);
  }
  Tensor StepSize(const Tensor& lr, SourceLocation loc) const override {
    return frontends::AdamStepSize(lr, options_.beta1, options_.beta2, loc);
  }
  UpdateResult Update(const VariableUpdate& u) const override {
    UpdateResult result = ApplyAdam(u.variable, u.slots[0], u.slots[1], u.gradient, u.step_size, options_.beta1,
                                    options_.beta2, options_.epsilon, u.loc);
    const double weight_decay = WeightDecay(u, options_);
    if (weight_decay == 0) return result;
    Tensor decay = InTypeOf(u.variable, Mul(u.learning_rate, weight_decay, u.loc), u.loc);
    result.var = Sub(result.var, Mul(u.variable, decay, u.loc), u.loc);
    return result;
  }

 private:
  AdamWOptions options_;
};

class AdagradRule : public UpdateRule {
 public:
  explicit AdagradRule(const AdagradOptions& options) : options_(options) {}
  std::string name() const override { return "Adagrad"; }
  int num_slots() const override { return 1; }
  double initial_value(int) const override { return options_.initial_accumulator_value; }
  void Validate(GraphBuilder* graph, SourceLocation loc) const override {
    CheckNotNegative(graph, name(), "initial_accumulator_value", options_.initial_accumulator_value, loc);
    CheckEpsilon(graph, name(), options_.epsilon, loc);
  }
  UpdateResult Update(const VariableUpdate& u) const override {
    const Tensor& g = u.gradient;
    Tensor sum = Add(u.slots[0], Square(g, u.loc), u.loc);
    Tensor change = Div(g, Sqrt(Add(sum, options_.epsilon, u.loc), u.loc), u.loc);
    return {Sub(u.variable, Mul(change, InTypeOf(u.variable, u.learning_rate, u.loc), u.loc), u.loc), {sum}};
  }

 private:
  AdagradOptions options_;
};

class AdadeltaRule : public UpdateRule {
 public:
  explicit AdadeltaRule(const AdadeltaOptions& options) : options_(options) {}
  std::string name() const override { return "Adadelta"; }
  int num_slots() const override { return 2; }
  void Validate(GraphBuilder* graph, SourceLocation loc) const override {
    CheckShare(graph, name(), "rho", options_.rho, loc);
    CheckEpsilon(graph, name(), options_.epsilon, loc);
  }
  UpdateResult Update(const VariableUpdate& u) const override {
    auto root = [&](const Tensor& x) { return Sqrt(Add(x, options_.epsilon, u.loc), u.loc); };
    Tensor squares = BlendSquare(u.slots[0], options_.rho, u.gradient, u.loc);
    Tensor change = Mul(Div(root(u.slots[1]), root(squares), u.loc), u.gradient, u.loc);
    Tensor changes = BlendSquare(u.slots[1], options_.rho, change, u.loc);
    Tensor rate = InTypeOf(u.variable, u.learning_rate, u.loc);
    return {Sub(u.variable, Mul(change, rate, u.loc), u.loc), {squares, changes}};
  }

 private:
  AdadeltaOptions options_;
};

class AdamaxRule : public UpdateRule {
 public:
  explicit AdamaxRule(const AdamaxOptions& options) : options_(options) {}
  std::string name() const override { return "Adamax"; }
  int num_slots() const override { return 2; }
  void Validate(GraphBuilder* graph, SourceLocation loc) const override {
    CheckShare(graph, name(), "beta1", options_.beta1, loc);
    CheckShare(graph, name(), "beta2", options_.beta2, loc);
    CheckEpsilon(graph, name(), options_.epsilon, loc);
  }
  Tensor StepSize(const Tensor& lr, SourceLocation loc) const override {
    Tensor correction = frontends::OneMinusPower(options_.beta1, frontends::StepNumber(lr.graph(), loc), loc);
    return Cast(Div(Cast(lr, DType::kFloat64, loc), correction, loc), DType::kFloat32, loc);
  }
  UpdateResult Update(const VariableUpdate& u) const override {
    Tensor m = Blend(u.slots[0], options_.beta1, u.gradient, u.loc);
    Tensor largest = Maximum(Mul(u.slots[1], options_.beta2, u.loc), Abs(u.gradient, u.loc), u.loc);
    Tensor change = Div(m, Add(largest, options_.epsilon, u.loc), u.loc);
    Tensor rate = InTypeOf(u.variable, u.step_size, u.loc);
    return {Sub(u.variable, Mul(change, rate, u.loc), u.loc), {m, largest}};
  }

 private:
  AdamaxOptions options_;
};

class NadamRule : public UpdateRule {
 public:
  explicit NadamRule(const NadamOptions& options) : options_(options) {}
  std::string name() const override { return "Nadam"; }
  int num_slots() const override { return 3; }
  double initial_value(int slot) const override { return slot == 2 ? 1 : 0; }
  void Validate(GraphBuilder* graph, SourceLocation loc) const override {
    CheckShare(graph, name(), "beta1", options_.beta1, loc);
    CheckShare(graph, name(), "beta2", options_.beta2, loc);
    CheckEpsilon(graph, name(), options_.epsilon, loc);
  }
  UpdateResult Update(const VariableUpdate& u) const override {
    const SourceLocation loc = u.loc;
    Tensor t = frontends::StepNumber(u.variable.graph(), loc);
    auto in_type = [&](const Tensor& scalar) { return InTypeOf(u.variable, scalar, loc); };
    Tensor now = in_type(Share(t, loc)), next = in_type(Share(Add(t, 1.0, loc), loc));
    Tensor m = Blend(u.slots[0], options_.beta1, u.gradient, loc);
    Tensor v = BlendSquare(u.slots[1], options_.beta2, u.gradient, loc);
    Tensor product = Mul(u.slots[2], now, loc);
    auto rest = [&](const Tensor& x) { return Add(Neg(x, loc), 1.0, loc); };
    Tensor ahead = Div(Mul(m, next, loc), rest(Mul(product, next, loc)), loc);
    Tensor here = Div(Mul(u.gradient, rest(now), loc), rest(product), loc);
    Tensor unbiased = Div(v, in_type(frontends::OneMinusPower(options_.beta2, t, loc)), loc);
    Tensor change = Div(Add(ahead, here, loc), Add(Sqrt(unbiased, loc), options_.epsilon, loc), loc);
    return {Sub(u.variable, Mul(change, in_type(u.learning_rate), loc), loc), {m, v, product}};
  }

 private:
  // Returns the decay of the first moment in step t, beta1 (1 - 0.96^t / 2), as float64.
  Tensor Share(const Tensor& t, SourceLocation loc) const {
    Tensor power = Add(Neg(frontends::OneMinusPower(0.96, t, loc), loc), 1.0, loc);
    return Mul(Add(Mul(power, -0.5, loc), 1.0, loc), options_.beta1, loc);
  }

  NadamOptions options_;
};

class FtrlRule : public UpdateRule {
 public:
  explicit FtrlRule(const FtrlOptions& options) : options_(options) {}
  std::string name() const override { return "Ftrl"; }
  int num_slots() const override { return 2; }
  double initial_value(int slot) const override { return slot == 0 ? options_.initial_accumulator_value : 0; }
  void Validate(GraphBuilder* graph, SourceLocation loc) const override {
    if (!(options_.learning_rate_power <= 0) || !std::isfinite(options_.learning_rate_power)) {
      graph->FailAt(
          name(),
          absl::StrCat("`learning_rate_power` must be a number of at most 0, got ", options_.learning_rate_power), loc);
    }
    CheckNotNegative(graph, name(), "initial_accumulator_value", options_.initial_accumulator_value, loc);
    CheckNotNegative(graph, name(), "l1", options_.l1, loc);
    CheckNotNegative(graph, name(), "l2", options_.l2, loc);
    CheckNotNegative(graph, name(), "l2_shrinkage", options_.l2_shrinkage, loc);
    CheckNotNegative(graph, name(), "beta", options_.beta, loc);
  }
  UpdateResult Update(const VariableUpdate& u) const override {
    const SourceLocation loc = u.loc;
    Tensor rate = InTypeOf(u.variable, u.learning_rate, loc);
    auto power = [&](const Tensor& x) {
      return options_.learning_rate_power == -0.5 ? Sqrt(x, loc) : Pow(x, -options_.learning_rate_power, loc);
    };
    Tensor sum = Add(u.slots[0], Square(u.gradient, loc), loc);
    Tensor gradient = u.gradient;
    if (options_.l2_shrinkage != 0) {
      gradient = Add(gradient, Mul(u.variable, 2 * options_.l2_shrinkage, loc), loc);
    }
    Tensor sigma = Div(Sub(power(sum), power(u.slots[0]), loc), rate, loc);
    Tensor z = Add(u.slots[1], Sub(gradient, Mul(sigma, u.variable, loc), loc), loc);
    Tensor quadratic = Add(Div(Add(power(sum), options_.beta, loc), rate, loc), 2 * options_.l2, loc);
    Tensor cut = Maximum(Minimum(z, options_.l1, loc), -options_.l1, loc), beyond = Sub(cut, z, loc);
    // Where |z| <= l1, the variable becomes 0 without the division, because the divisor may be 0 as long as there was
    // no gradient.
    return {Select(Equal(beyond, 0.0, loc), beyond, Div(beyond, quadratic, loc), loc), {sum, z}};
  }

 private:
  FtrlOptions options_;
};

class LionRule : public UpdateRule {
 public:
  explicit LionRule(const LionOptions& options) : options_(options) {}
  std::string name() const override { return "Lion"; }
  int num_slots() const override { return 1; }
  bool has_weight_decay() const override { return true; }
  void Validate(GraphBuilder* graph, SourceLocation loc) const override {
    CheckShare(graph, name(), "beta1", options_.beta1, loc);
    CheckShare(graph, name(), "beta2", options_.beta2, loc);
    CheckNotNegative(graph, name(), "weight_decay", options_.weight_decay, loc);
  }
  UpdateResult Update(const VariableUpdate& u) const override {
    Tensor change = Sign(Blend(u.slots[0], options_.beta1, u.gradient, u.loc), u.loc);
    const double weight_decay = WeightDecay(u, options_);
    if (weight_decay != 0) change = Add(change, Mul(u.variable, weight_decay, u.loc), u.loc);
    Tensor rate = InTypeOf(u.variable, u.learning_rate, u.loc);
    return {Sub(u.variable, Mul(change, rate, u.loc), u.loc), {Blend(u.slots[0], options_.beta2, u.gradient, u.loc)}};
  }

 private:
  LionOptions options_;
};

}  // namespace

Optimizer AdamW(const AdamWOptions& options) { return Make(std::make_shared<AdamWRule>(options), options); }
Optimizer Adagrad(const AdagradOptions& options) { return Make(std::make_shared<AdagradRule>(options), options); }
Optimizer Adadelta(const AdadeltaOptions& options) { return Make(std::make_shared<AdadeltaRule>(options), options); }
Optimizer Adamax(const AdamaxOptions& options) { return Make(std::make_shared<AdamaxRule>(options), options); }
Optimizer Nadam(const NadamOptions& options) { return Make(std::make_shared<NadamRule>(options), options); }
Optimizer Ftrl(const FtrlOptions& options) { return Make(std::make_shared<FtrlRule>(options), options); }
Optimizer Lion(const LionOptions& options) { return Make(std::make_shared<LionRule>(options), options); }

}  // namespace tandem::optimizers

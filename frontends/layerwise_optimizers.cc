// Optimizers that scale the update of each variable by its norm, for large batches.
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "frontends/check.h"
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
using frontends::IsExcluded;
using frontends::Make;
using frontends::ScalarConstant;
using frontends::WeightDecay;

// Returns the Euclidean norm of all elements, in the type of `x`.
Tensor Norm(const Tensor& x, SourceLocation loc) { return Sqrt(ReduceSum(Square(x, loc), {}, false, loc), loc); }

// Returns a / b, or 1 where `a` or `c` is 0. All are scalars. b may be 0 only if a or c is.
Tensor RatioOrOne(const Tensor& a, const Tensor& b, const Tensor& c, SourceLocation loc) {
  Tensor zero = ScalarConstant(a.graph(), 0, a.dtype(), loc), one = ScalarConstant(a.graph(), 1, a.dtype(), loc);
  Tensor both = And(Greater(a, zero, loc), Greater(c, zero, loc), loc);
  return Select(both, Div(a, Select(both, b, one, loc), loc), one, loc);
}

class LambRule : public UpdateRule {
 public:
  explicit LambRule(const LambOptions& options) : options_(options) {}
  std::string name() const override { return "LAMB"; }
  int num_slots() const override { return 2; }
  bool has_weight_decay() const override { return true; }
  void Validate(GraphBuilder* graph, SourceLocation loc) const override {
    CheckShare(graph, name(), "beta1", options_.beta1, loc);
    CheckShare(graph, name(), "beta2", options_.beta2, loc);
    CheckEpsilon(graph, name(), options_.epsilon, loc);
    CheckNotNegative(graph, name(), "weight_decay", options_.weight_decay, loc);
  }
  UpdateResult Update(const VariableUpdate& u) const override {
    const SourceLocation loc = u.loc;
    Tensor t = frontends::StepNumber(u.variable.graph(), loc);
    auto unbiased = [&](const Tensor& x, double beta) {
      return Div(x, InTypeOf(u.variable, frontends::OneMinusPower(beta, t, loc), loc), loc);
    };
    Tensor m = Blend(u.slots[0], options_.beta1, u.gradient, loc);
    Tensor v = BlendSquare(u.slots[1], options_.beta2, u.gradient, loc);
    Tensor change =
        Div(unbiased(m, options_.beta1), Add(Sqrt(unbiased(v, options_.beta2), loc), options_.epsilon, loc), loc);
    Tensor rate = InTypeOf(u.variable, u.learning_rate, loc);
    const double weight_decay = WeightDecay(u, options_);
    if (weight_decay != 0) change = Add(change, Mul(u.variable, weight_decay, loc), loc);
    if (!IsExcluded(u.name, options_.exclude)) {
      Tensor norm = Norm(change, loc);
      rate = Mul(rate, RatioOrOne(Norm(u.variable, loc), norm, norm, loc), loc);
    }
    return {Sub(u.variable, Mul(change, rate, loc), loc), {m, v}};
  }

 private:
  LambOptions options_;
};

class LarsRule : public UpdateRule {
 public:
  explicit LarsRule(const LarsOptions& options) : options_(options) {}
  std::string name() const override { return "LARS"; }
  int num_slots() const override { return 1; }
  bool has_weight_decay() const override { return true; }
  void Validate(GraphBuilder* graph, SourceLocation loc) const override {
    CheckShare(graph, name(), "momentum", options_.momentum, loc);
    CheckNotNegative(graph, name(), "weight_decay", options_.weight_decay, loc);
    if (!(options_.trust_coefficient > 0) || !std::isfinite(options_.trust_coefficient)) {
      graph->FailAt(
          name(), absl::StrCat("`trust_coefficient` must be a positive number, got ", options_.trust_coefficient), loc);
    }
  }
  UpdateResult Update(const VariableUpdate& u) const override {
    const SourceLocation loc = u.loc;
    const double weight_decay = WeightDecay(u, options_);
    Tensor gradient = u.gradient, rate = InTypeOf(u.variable, u.learning_rate, loc);
    if (!IsExcluded(u.name, options_.exclude)) {
      Tensor size = Norm(u.variable, loc), slope = Norm(u.gradient, loc);
      Tensor divisor = Add(slope, Mul(size, weight_decay, loc), loc);
      rate = Mul(rate, RatioOrOne(Mul(size, options_.trust_coefficient, loc), divisor, slope, loc), loc);
    }
    if (weight_decay != 0) gradient = Add(gradient, Mul(u.variable, weight_decay, loc), loc);
    Tensor moved = Add(Mul(u.slots[0], options_.momentum, loc), Mul(gradient, rate, loc), loc);
    return {Sub(u.variable, moved, loc), {moved}};
  }

 private:
  LarsOptions options_;
};

}  // namespace

Optimizer LAMB(const LambOptions& options) { return Make(std::make_shared<LambRule>(options), options); }
Optimizer LARS(const LarsOptions& options) { return Make(std::make_shared<LarsRule>(options), options); }

}  // namespace tandem::optimizers

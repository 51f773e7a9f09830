#include "frontends/optimizers.h"

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "frontends/check.h"
#include "graph/ops.h"

namespace tandem::optimizers {
namespace {

void CheckShare(GraphBuilder* graph, absl::string_view rule, absl::string_view option, double value,
                SourceLocation loc) {
  if (value >= 0 && value < 1) return;
  graph->FailAt(rule, absl::StrCat("`", option, "` must be in [0, 1), got ", value), loc);
}

void CheckEpsilon(GraphBuilder* graph, absl::string_view rule, double value, SourceLocation loc) {
  if (std::isfinite(value) && value >= 0) return;
  graph->FailAt(rule, absl::StrCat("`epsilon` must be a number >= 0, got ", value), loc);
}

class GradientDescentRule : public UpdateRule {
 public:
  std::string name() const override { return "GradientDescent"; }
  int num_slots() const override { return 0; }
  void Validate(GraphBuilder*, SourceLocation) const override {}
  UpdateResult Update(const Tensor& variable, const std::vector<Tensor>&, const Tensor& gradient, const Tensor& lr,
                      SourceLocation loc) const override {
    return {ApplySgd(variable, gradient, lr, loc), {}};
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
  UpdateResult Update(const Tensor& variable, const std::vector<Tensor>& slots, const Tensor& gradient,
                      const Tensor& lr, SourceLocation loc) const override {
    return ApplyMomentum(variable, slots[0], gradient, lr, options_.momentum, options_.use_nesterov, loc);
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
  // lr sqrt(1 - beta2^t) / (1 - beta1^t). In double precision: 1 - 0.999f loses four digits in single.
  Tensor StepSize(const Tensor& lr, SourceLocation loc) const override {
    GraphBuilder* graph = lr.graph();
    Tensor step = graph->StepScalar("global_step", DType::kInt64, std::nullopt, loc);
    Tensor t = Add(Cast(step, DType::kFloat64, loc), 1.0, loc);
    auto one_minus_power = [&](double beta) {
      Tensor base = frontends::ScalarConstant(graph, beta, DType::kFloat64, loc);
      return Add(Neg(Pow(base, t, loc), loc), 1.0, loc);
    };
    Tensor correction = Div(Sqrt(one_minus_power(options_.beta2), loc), one_minus_power(options_.beta1), loc);
    return Cast(Mul(Cast(lr, DType::kFloat64, loc), correction, loc), DType::kFloat32, loc);
  }
  UpdateResult Update(const Tensor& variable, const std::vector<Tensor>& slots, const Tensor& gradient,
                      const Tensor& alpha, SourceLocation loc) const override {
    return ApplyAdam(variable, slots[0], slots[1], gradient, alpha, options_.beta1, options_.beta2, options_.epsilon,
                     loc);
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
  UpdateResult Update(const Tensor& variable, const std::vector<Tensor>& slots, const Tensor& gradient,
                      const Tensor& lr, SourceLocation loc) const override {
    return ApplyRmsProp(variable, slots, gradient, lr, options_.rho, options_.momentum, options_.epsilon, loc);
  }

 private:
  RMSpropOptions options_;
};

// Every options struct has the same three common fields.
template <typename Options>
Optimizer Make(std::shared_ptr<const UpdateRule> rule, const Options& options) {
  return Optimizer(std::move(rule), options.learning_rate,
                   {.global_norm = options.clip_global_norm, .value = options.clip_value});
}

}  // namespace

Optimizer GradientDescent(const GradientDescentOptions& options) {
  return Make(std::make_shared<GradientDescentRule>(), options);
}
Optimizer SGD(const GradientDescentOptions& options) { return GradientDescent(options); }
Optimizer Momentum(const MomentumOptions& options) { return Make(std::make_shared<MomentumRule>(options), options); }
Optimizer Adam(const AdamOptions& options) { return Make(std::make_shared<AdamRule>(options), options); }
Optimizer RMSprop(const RMSpropOptions& options) { return Make(std::make_shared<RmsPropRule>(options), options); }

}  // namespace tandem::optimizers

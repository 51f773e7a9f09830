// Functions for optimizer updates (graph/ops.h), which emit the ops td.apply_*.
#include "absl/strings/str_cat.h"
#include "graph/ops.h"
#include "graph/ops/ops_internal.h"

namespace tandem {

namespace {

// Converts the rate to the variable's dtype: optimizers compute it once, in float32, for all variables.
Tensor RateFor(const Tensor& var, const Tensor& rate, SourceLocation loc) {
  return !var.ok() || !rate.ok() || rate.dtype() == var.dtype() ? rate : Cast(rate, var.dtype(), loc);
}

// Emits td.<op>(var, slots..., grad, rate) -> (var, slots...).
UpdateResult Update(absl::string_view op, const Tensor& var, const std::vector<Tensor>& slots, const Tensor& grad,
                    const Tensor& rate, const Attrs& attrs, SourceLocation loc) {
  std::vector<Tensor> operands = {var};
  operands.insert(operands.end(), slots.begin(), slots.end());
  operands.push_back(grad);
  operands.push_back(RateFor(var, rate, loc));
  GraphBuilder* graph = internal::GraphOf(operands);
  // One tensor per slot, poisoned after an error, so that callers may index them.
  UpdateResult update;
  update.var = graph != nullptr ? graph->Poisoned() : internal::WithoutGraph(op, operands, loc);
  update.slots.resize(slots.size(), update.var);
  if (graph == nullptr) return update;
  const std::vector<Tensor> results = graph->EmitMulti(op, operands, attrs, loc);
  for (size_t i = 0; i < results.size(); ++i) (i == 0 ? update.var : update.slots[i - 1]) = results[i];
  return update;
}

}  // namespace

Tensor ApplySgd(const Tensor& var, const Tensor& grad, const Tensor& lr, SourceLocation loc) {
  return Update("apply_sgd", var, {}, grad, lr, {}, loc).var;
}

UpdateResult ApplyMomentum(const Tensor& var, const Tensor& accum, const Tensor& grad, const Tensor& lr,
                           double momentum, bool nesterov, SourceLocation loc) {
  return Update("apply_momentum", var, {accum}, grad, lr, {{"momentum", momentum}, {"nesterov", nesterov}}, loc);
}

UpdateResult ApplyAdam(const Tensor& var, const Tensor& m, const Tensor& v, const Tensor& grad, const Tensor& alpha,
                       double beta1, double beta2, double epsilon, SourceLocation loc) {
  return Update("apply_adam", var, {m, v}, grad, alpha, {{"beta1", beta1}, {"beta2", beta2}, {"epsilon", epsilon}},
                loc);
}

UpdateResult ApplyRmsProp(const Tensor& var, const std::vector<Tensor>& slots, const Tensor& grad, const Tensor& lr,
                          double rho, double momentum, double epsilon, SourceLocation loc) {
  size_t needed = momentum > 0 ? 2 : 1;
  if (slots.size() != needed) {
    GraphBuilder* graph = internal::GraphOf({var, grad, lr});
    Tensor failed =
        graph == nullptr
            ? internal::WithoutGraph("apply_rmsprop", {var}, loc)
            : graph->FailAt(
                  "apply_rmsprop",
                  absl::StrCat("got ", slots.size(), " slots; with momentum ", momentum, " it needs ", needed), loc);
    return {failed, std::vector<Tensor>(needed, failed)};
  }
  Attrs attrs = {{"rho", rho}, {"epsilon", epsilon}};
  if (momentum > 0) attrs.push_back({"momentum", momentum});
  return Update(momentum > 0 ? "apply_rmsprop_momentum" : "apply_rmsprop", var, slots, grad, lr, attrs, loc);
}

}  // namespace tandem

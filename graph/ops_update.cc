#include "graph/ops.h"
#include "graph/ops_internal.h"

namespace tandem {
namespace {

UpdateResult EmitUpdate(absl::string_view op, const std::vector<Tensor>& operands, const Attrs& attrs,
                        SourceLocation loc) {
  GraphBuilder* graph = internal::GraphOf(operands);
  if (graph == nullptr) return {};
  std::vector<Tensor> results = graph->EmitMulti(op, operands, attrs, loc);
  if (results.empty()) return {};
  return {results[0], {results.begin() + 1, results.end()}};
}

}  // namespace

Tensor ApplySgd(const Tensor& var, const Tensor& grad, const Tensor& lr, SourceLocation loc) {
  return internal::EmitOp("apply_sgd", {var, grad, lr}, {}, loc);
}

UpdateResult ApplyMomentum(const Tensor& var, const Tensor& accum, const Tensor& grad, const Tensor& lr,
                           double momentum, bool nesterov, SourceLocation loc) {
  return EmitUpdate("apply_momentum", {var, accum, grad, lr}, {{"momentum", momentum}, {"nesterov", nesterov}}, loc);
}

UpdateResult ApplyAdam(const Tensor& var, const Tensor& m, const Tensor& v, const Tensor& grad, const Tensor& alpha,
                       double beta1, double beta2, double epsilon, SourceLocation loc) {
  return EmitUpdate("apply_adam", {var, m, v, grad, alpha}, {{"beta1", beta1}, {"beta2", beta2}, {"epsilon", epsilon}},
                    loc);
}

UpdateResult ApplyRmsProp(const Tensor& var, const std::vector<Tensor>& slots, const Tensor& grad, const Tensor& lr,
                          double rho, double momentum, double epsilon, SourceLocation loc) {
  std::vector<Tensor> operands = {var};
  operands.insert(operands.end(), slots.begin(), slots.end());
  operands.insert(operands.end(), {grad, lr});
  Attrs attrs = {{"rho", rho}, {"epsilon", epsilon}};
  if (momentum == 0) return EmitUpdate("apply_rmsprop", operands, attrs, loc);
  attrs.push_back({"momentum", momentum});
  return EmitUpdate("apply_rmsprop_momentum", operands, attrs, loc);
}

}  // namespace tandem

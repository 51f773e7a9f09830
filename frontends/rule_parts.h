// What update rules have in common. Internal to frontends/.
#ifndef TANDEM_FRONTENDS_RULE_PARTS_H_
#define TANDEM_FRONTENDS_RULE_PARTS_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/source_location.h"
#include "frontends/optimizer.h"
#include "graph/graph_builder.h"
#include "graph/tensor.h"

namespace tandem::frontends {

// Record an error for an option of `rule` that is not in [0, 1), or not a number >= 0.
void CheckShare(GraphBuilder* graph, absl::string_view rule, absl::string_view option, double value,
                SourceLocation loc);
void CheckNotNegative(GraphBuilder* graph, absl::string_view rule, absl::string_view option, double value,
                      SourceLocation loc);
inline void CheckEpsilon(GraphBuilder* graph, absl::string_view rule, double value, SourceLocation loc) {
  CheckNotNegative(graph, rule, "epsilon", value, loc);
}

// The number of this step, from 1: a float64 scalar.
Tensor StepNumber(GraphBuilder* graph, SourceLocation loc);
// 1 - beta^t, float64. In double precision: 1 - 0.999f loses four digits in single.
Tensor OneMinusPower(double beta, const Tensor& t, SourceLocation loc);
// lr sqrt(1 - beta2^t) / (1 - beta1^t), float32.
Tensor AdamStepSize(const Tensor& lr, double beta1, double beta2, SourceLocation loc);

// A scalar in the type of a variable.
Tensor InTypeOf(const Tensor& variable, const Tensor& scalar, SourceLocation loc);
// share a + (1 - share) b.
Tensor Blend(const Tensor& a, double share, const Tensor& b, SourceLocation loc);
// share a + (1 - share) x^2, infinite where x^2 is.
Tensor BlendSquare(const Tensor& a, double share, const Tensor& x, SourceLocation loc);

// Whether the name of a variable contains one of `parts`. An empty part is in every name.
bool IsExcluded(absl::string_view name, const std::vector<std::string>& parts);

// Of a rule whose options have `weight_decay` and `exclude`: the group's, else the options', 0 where they leave the
// variable out.
template <typename Options>
double WeightDecay(const VariableUpdate& update, const Options& options) {
  return update.weight_decay.value_or(IsExcluded(update.name, options.exclude) ? 0 : options.weight_decay);
}

// An optimizer of options that have the common fields.
template <typename Options>
Optimizer Make(std::shared_ptr<const UpdateRule> rule, const Options& options) {
  return Optimizer(std::move(rule), options.learning_rate, options.clip);
}

}  // namespace tandem::frontends

#endif  // TANDEM_FRONTENDS_RULE_PARTS_H_

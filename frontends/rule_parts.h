// Helpers that update rules share. Internal to frontends/.
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

// These record an error for an option of the update rule `rule`. CheckShare does if the value is not in [0, 1), and
// CheckNotNegative if it is not a finite number >= 0.
void CheckShare(GraphBuilder* graph, absl::string_view rule, absl::string_view option, double value,
                SourceLocation loc);
void CheckNotNegative(GraphBuilder* graph, absl::string_view rule, absl::string_view option, double value,
                      SourceLocation loc);
inline void CheckEpsilon(GraphBuilder* graph, absl::string_view rule, double value, SourceLocation loc) {
  CheckNotNegative(graph, rule, "epsilon", value, loc);
}

// Returns the number of this step, from 1, as a float64 scalar.
Tensor StepNumber(GraphBuilder* graph, SourceLocation loc);
// Returns 1 - beta^t as float64, because in single precision 1 - 0.999f loses four digits.
Tensor OneMinusPower(double beta, const Tensor& t, SourceLocation loc);
// Returns lr sqrt(1 - beta2^t) / (1 - beta1^t) as float32.
Tensor AdamStepSize(const Tensor& lr, double beta1, double beta2, SourceLocation loc);

// Converts a scalar to the type of a variable.
Tensor InTypeOf(const Tensor& variable, const Tensor& scalar, SourceLocation loc);
// Returns share a + (1 - share) b.
Tensor Blend(const Tensor& a, double share, const Tensor& b, SourceLocation loc);
// Returns share a + (1 - share) x^2, which is infinite where x^2 is.
Tensor BlendSquare(const Tensor& a, double share, const Tensor& x, SourceLocation loc);

// True if the name of a variable contains one of `parts`. An empty part is in every name.
bool IsExcluded(absl::string_view name, const std::vector<std::string>& parts);

// Returns the weight decay of the variable's parameter group. If the group has none, returns that of the options, or 0
// if their `exclude` matches the variable.
template <typename Options>
double WeightDecay(const VariableUpdate& update, const Options& options) {
  return update.weight_decay.value_or(IsExcluded(update.name, options.exclude) ? 0 : options.weight_decay);
}

// Makes an optimizer from options that have the common fields (learning_rate, clip).
template <typename Options>
Optimizer Make(std::shared_ptr<const UpdateRule> rule, const Options& options) {
  return Optimizer(std::move(rule), options.learning_rate, options.clip);
}

}  // namespace tandem::frontends

#endif  // TANDEM_FRONTENDS_RULE_PARTS_H_

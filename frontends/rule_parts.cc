#include "frontends/rule_parts.h"

#include <cmath>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "frontends/check.h"
#include "graph/ops.h"

namespace tandem::frontends {

void CheckShare(GraphBuilder* graph, absl::string_view rule, absl::string_view option, double value,
                SourceLocation loc) {
  if (value >= 0 && value < 1) return;
  graph->FailAt(rule, absl::StrCat("`", option, "` must be in [0, 1), got ", value), loc);
}

void CheckNotNegative(GraphBuilder* graph, absl::string_view rule, absl::string_view option, double value,
                      SourceLocation loc) {
  if (std::isfinite(value) && value >= 0) return;
  graph->FailAt(rule, absl::StrCat("`", option, "` must be a number >= 0, got ", value), loc);
}

Tensor StepNumber(GraphBuilder* graph, SourceLocation loc) {
  Tensor step = graph->StepScalar("global_step", DType::kInt64, std::nullopt, loc);
  return Add(Cast(step, DType::kFloat64, loc), 1.0, loc);
}

Tensor OneMinusPower(double beta, const Tensor& t, SourceLocation loc) {
  return Add(Neg(Pow(ScalarConstant(t.graph(), beta, DType::kFloat64, loc), t, loc), loc), 1.0, loc);
}

Tensor AdamStepSize(const Tensor& lr, double beta1, double beta2, SourceLocation loc) {
  Tensor t = StepNumber(lr.graph(), loc);
  Tensor correction = Div(Sqrt(OneMinusPower(beta2, t, loc), loc), OneMinusPower(beta1, t, loc), loc);
  return Cast(Mul(Cast(lr, DType::kFloat64, loc), correction, loc), DType::kFloat32, loc);
}

Tensor InTypeOf(const Tensor& variable, const Tensor& scalar, SourceLocation loc) {
  return scalar.dtype() == variable.dtype() ? scalar : Cast(scalar, variable.dtype(), loc);
}

Tensor Blend(const Tensor& a, double share, const Tensor& b, SourceLocation loc) {
  // This form avoids (1 - share) b. If b is a gradient and 1 - share happens to be one over the batch size, that
  // product would look like a mean that the user wrote by hand.
  return Add(b, Mul(Sub(a, b, loc), share, loc), loc);
}

Tensor BlendSquare(const Tensor& a, double share, const Tensor& x, SourceLocation loc) {
  // Unlike Blend, this form subtracts nothing. The squares of large gradients are infinite, and the difference of two
  // infinities would be NaN.
  return Add(Mul(a, share, loc), Mul(Square(x, loc), 1 - share, loc), loc);
}

bool IsExcluded(absl::string_view name, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    if (absl::StrContains(name, part)) return true;
  }
  return false;
}

}  // namespace tandem::frontends

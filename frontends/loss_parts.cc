#include "frontends/loss_parts.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "graph/ops.h"

namespace tandem::frontends {

Tensor CutProbabilities(const Tensor& p, SourceLocation loc) {
  return Minimum(Maximum(p, kProbabilityEpsilon, loc), 1 - kProbabilityEpsilon, loc);
}

Tensor MeanOfRows(const Tensor& x, SourceLocation loc) { return x.rank() >= 2 ? ReduceMean(x, {-1}, false, loc) : x; }

bool CheckSmoothing(GraphBuilder* graph, absl::string_view op, double smoothing, SourceLocation loc) {
  if (smoothing >= 0 && smoothing <= 1) return true;
  graph->FailAt(op, absl::StrCat("`label_smoothing` must be in [0, 1], got ", smoothing), loc);
  return false;
}

bool CheckFocal(GraphBuilder* graph, absl::string_view op, const losses::FocalOptions& options, SourceLocation loc) {
  if (!(options.gamma >= 0) || !std::isfinite(options.gamma)) {
    graph->FailAt(op, absl::StrCat("`gamma` must be a number of at least 0, got ", options.gamma), loc);
    return false;
  }
  if (!(options.alpha >= 0 && options.alpha <= 1)) {
    graph->FailAt(op, absl::StrCat("`alpha` must be in [0, 1], got ", options.alpha), loc);
    return false;
  }
  return CheckSmoothing(graph, op, options.label_smoothing, loc);
}

AlignedPair AlignForLoss(absl::string_view op, const Tensor& labels, const Tensor& predictions,
                         const losses::LossOptions& options, SourceLocation loc, int min_rank) {
  AlignedPair pair = AlignPair(op, labels, "predictions", predictions, loc, min_rank);
  if (pair.graph == nullptr || (options.label_smoothing == 0 && !options.from_logits)) return pair;
  const absl::string_view problem = options.from_logits
                                        ? "`from_logits` is not for this loss; pass what it takes, such as Softmax(x)"
                                        : "`label_smoothing` is not for this loss; it is for cross entropies";
  return {.failed = pair.graph->FailAt(op, problem, loc)};
}

losses::LossOptions ReductionOf(const losses::FocalOptions& options) {
  return {.weights = options.weights, .reduction = options.reduction, .label_smoothing = options.label_smoothing};
}

}  // namespace tandem::frontends

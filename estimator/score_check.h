// Finds losses and metrics whose scores are surely not what they take them for.
#ifndef TANDEM_ESTIMATOR_SCORE_CHECK_H_
#define TANDEM_ESTIMATOR_SCORE_CHECK_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "frontends/score_uses.h"
#include "graph/graph_nodes.h"

namespace tandem {

struct ScoreProblem {
  absl::string_view warning;  // its name in warnings.h
  std::string text;           // what, where, and what to do
};

// Of the uses of one graph, each line once. The walk goes back from the scores through ops that keep their values, and
// says nothing where it ends at anything but Softmax, Sigmoid, or a layer without an activation: the product of an
// input and a variable, with or without a bias, or a sum of such. That these are no probabilities is sure for a loss of
// probabilities; for a metric with thresholds it is where a loss takes the same scores for logits.
std::vector<ScoreProblem> CheckScoreUses(const std::vector<ScoreUse>& uses, const std::vector<GraphNode>& nodes);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_SCORE_CHECK_H_

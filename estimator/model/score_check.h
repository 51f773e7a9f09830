// Finds losses and metrics that certainly get another kind of scores (probabilities or logits) than they take.
#ifndef TANDEM_ESTIMATOR_MODEL_SCORE_CHECK_H_
#define TANDEM_ESTIMATOR_MODEL_SCORE_CHECK_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "frontends/score_uses.h"
#include "graph/module/graph_nodes.h"

namespace tandem {

struct ScoreProblem {
  absl::string_view warning;  // name of the warning in warnings.h
  std::string text;           // the message: what is wrong, where, and what to do
};

// Returns problems with the uses of scores in one graph, each line once. Walks back from the scores through ops that
// keep their values, and reports nothing unless it arrives at Softmax, Sigmoid, or a layer without an activation: the
// product of an input and a variable, with or without a bias, or a sum of such. Results of such a layer are certainly
// wrong for a loss of probabilities; for a metric with thresholds only if a loss takes the same scores as logits.
std::vector<ScoreProblem> CheckScoreUses(const std::vector<ScoreUse>& uses, const std::vector<GraphNode>& nodes);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_MODEL_SCORE_CHECK_H_

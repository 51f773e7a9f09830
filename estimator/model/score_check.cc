#include "estimator/model/score_check.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "estimator/config/warnings.h"

namespace tandem {
namespace {

// Finds the op that computed given scores, by following the graph backwards.
class ScoreGraph {
 public:
  explicit ScoreGraph(const std::vector<GraphNode>& nodes) : nodes_(nodes) {}

  // Returns the index of the node of that name; -1 if there is none, or several.
  int Find(const std::string& name) const {
    int found = -1;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].name != name) continue;
      if (found >= 0) return -1;
      found = static_cast<int>(i);
    }
    return found;
  }

  // Returns the node that computed the values of `node`, skipping ops that only move them or change their type.
  int Source(int node) const {
    static const auto* const kMoves =
        new std::set<std::string>{"cast", "reshape", "slice", "stop_gradient", "transpose"};
    while (kMoves->count(nodes_[node].op) > 0 && !nodes_[node].operands.empty()) node = nodes_[node].operands[0].node;
    return node;
  }

  bool IsVariable(int node) const {
    const GraphNode& source = nodes_[Source(node)];
    return source.op == "read" && !source.variable.empty();
  }

  // True if `node` is the result of a layer without an activation.
  bool IsLinear(int node) const {
    const GraphNode& source = nodes_[Source(node)];
    if (source.operands.size() < 2) return false;
    const int a = source.operands[0].node, b = source.operands[1].node;
    if (source.op == "add") return (IsLinear(a) && (IsLinear(b) || IsBias(b))) || (IsBias(a) && IsLinear(b));
    return (source.op == "matmul" || source.op == "conv2d") && IsVariable(b) && !IsVariable(a);
  }

  const GraphNode& node(int i) const { return nodes_[i]; }

 private:
  // True if `node` is a variable, perhaps broadcast over the batch.
  bool IsBias(int node) const {
    int source = Source(node);
    while (nodes_[source].op == "broadcast" && !nodes_[source].operands.empty()) {
      source = Source(nodes_[source].operands[0].node);
    }
    return IsVariable(source);
  }

  const std::vector<GraphNode>& nodes_;
};

// Returns the name of the layer for an activation op: "Softmax" for "softmax".
std::string Activation(const std::string& op) { return op == "softmax" ? "Softmax" : "Sigmoid"; }

std::string Place(const GraphNode& node) { return absl::StrCat("\"", node.name, "\" at ", node.source); }

}  // namespace

std::vector<ScoreProblem> CheckScoreUses(const std::vector<ScoreUse>& uses, const std::vector<GraphNode>& nodes) {
  const ScoreGraph graph(nodes);
  // The nodes that made the values that losses take as logits.
  std::vector<std::pair<int, const ScoreUse*>> logits;
  for (const ScoreUse& use : uses) {
    const int node = use.kind == ScoreKind::kLogits ? graph.Find(use.tensor) : -1;
    if (node >= 0) logits.emplace_back(graph.Source(node), &use);
  }
  std::vector<ScoreProblem> problems;
  std::set<std::string> said;
  const auto say = [&](absl::string_view warning, std::string text) {
    if (said.insert(text).second) problems.push_back({warning, std::move(text)});
  };
  for (const ScoreUse& use : uses) {
    const int node = graph.Find(use.tensor);
    if (node < 0) continue;
    const int source = graph.Source(node);
    const GraphNode& made = graph.node(source);
    const std::string call = absl::StrCat(use.op, " at ", use.origin);
    if (use.kind == ScoreKind::kLogits) {
      if (made.op != "softmax" && made.op != "sigmoid") continue;
      say(kProbabilitiesForLogits,
          absl::StrCat(call, " takes logits, and gets probabilities, the result of ", Activation(made.op), " ",
                       Place(made),
                       ": it goes through it a second time, and training is slow or stands still; pass what ",
                       Activation(made.op), " gets, or ", use.remedy, "."));
      continue;
    }
    if (!graph.IsLinear(source)) continue;
    if (use.kind == ScoreKind::kProbabilities) {
      say(kScoresForProbabilities,
          absl::StrCat(call, " takes probabilities, and gets scores, ", Place(made),
                       ", which no Softmax or Sigmoid has brought to [0, 1]; ", use.remedy, "."));
      continue;
    }
    const auto same =
        std::find_if(logits.begin(), logits.end(), [&](const auto& entry) { return entry.first == source; });
    if (same == logits.end()) continue;
    say(kScoresForProbabilities,
        absl::StrCat(call, " takes probabilities, and gets ", Place(made), ", which ", same->second->op, " at ",
                     same->second->origin, " takes for logits; ", use.remedy, "."));
  }
  return problems;
}

}  // namespace tandem

#include "frontends/regularizers.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "frontends/config_reader.h"
#include "graph/graph_builder.h"
#include "graph/ops.h"

namespace tandem {
namespace {

// The factor of a regularizer that is named by a string such as "l2".
constexpr double kNamedFactor = 0.01;

}  // namespace

Regularizer::Regularizer(const char* name) : Regularizer(name == nullptr ? std::string() : std::string(name)) {}

Regularizer::Regularizer(const std::string& name) {
  if (name == "l1" || name == "L1") {
    l1 = kNamedFactor;
  } else if (name == "l2" || name == "L2") {
    l2 = kNamedFactor;
  } else if (name == "l1_l2") {
    l1 = l2 = kNamedFactor;
  } else if (name != "L1L2") {
    problem_ = frontends::UnknownName("regularizer", name, {"l1", "l2", "l1_l2", "L1", "L2", "L1L2"});
  }
}

PartConfig Regularizer::config() const {
  if (l1 != 0 && l2 != 0) return {"L1L2", {{"l1", l1}, {"l2", l2}}};
  if (l1 != 0) return {"L1", {{"l1", l1}}};
  if (l2 != 0) return {"L2", {{"l2", l2}}};
  return {};
}

absl::Status Regularizer::status() const {
  if (!problem_.empty()) return absl::InvalidArgumentError(problem_);
  for (double factor : {l1, l2}) {
    if (std::isfinite(factor) && factor >= 0) continue;
    return absl::InvalidArgumentError(absl::StrCat("a factor must be a number >= 0, got ", factor));
  }
  return absl::OkStatus();
}

void AddRegularization(const Tensor& variable, const Regularizer& regularizer, SourceLocation loc) {
  if (!variable.ok() || regularizer.empty()) return;
  GraphBuilder* graph = variable.graph();
  if (absl::Status status = regularizer.status(); !status.ok()) {
    graph->FailAt("Regularizer", status.message(), loc);
    return;
  }
  NameScope scope(graph, "Regularizer");
  Tensor penalty;
  if (regularizer.l1 > 0) penalty = Mul(ReduceSum(Abs(variable, loc), {}, false, loc), regularizer.l1, loc);
  if (regularizer.l2 > 0) {
    Tensor l2 = Mul(ReduceSum(Square(variable, loc), {}, false, loc), regularizer.l2, loc);
    penalty = regularizer.l1 > 0 ? Add(penalty, l2, loc) : l2;
  }
  graph->AddRegularizationLoss(penalty);
}

}  // namespace tandem

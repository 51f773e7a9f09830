#include "frontends/regularizers.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "graph/graph_builder.h"
#include "graph/ops.h"

namespace tandem {

void AddRegularization(const Tensor& variable, const Regularizer& regularizer, SourceLocation loc) {
  if (!variable.ok() || regularizer.empty()) return;
  GraphBuilder* graph = variable.graph();
  for (double factor : {regularizer.l1, regularizer.l2}) {
    if (!std::isfinite(factor) || factor < 0) {
      graph->FailAt("Regularizer", absl::StrCat("a factor must be a number >= 0, got ", factor), loc);
      return;
    }
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

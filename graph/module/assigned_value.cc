#include "graph/module/assigned_value.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "graph/ir/state.h"
#include "graph/module/graph_module.h"

namespace tandem {

Tensor AssignedValue(GraphBuilder* graph, const Tensor& variable, absl::string_view taker) {
  const std::string name = absl::StrCat(variable.name(), "/Assigned");
  graph->module().main().walk([&](td::AssignOp assign) {
    if (assign.getVariable() == variable.name()) graph->module().Register(name, assign.getValue());
  });
  Tensor assigned = graph->Find(name);
  if (assigned.ok()) return assigned;
  graph->module().settled.emplace(variable.name(), std::string(taker));
  return variable;
}

}  // namespace tandem

#include "graph/module/graph_nodes.h"

#include <utility>

#include "graph/ir/interfaces.h"
#include "graph/ir/state.h"
#include "graph/module/graph_module.h"
#include "llvm/ADT/DenseMap.h"

namespace tandem {
namespace {

std::string VariableOf(mlir::Operation& op) {
  if (auto read = mlir::dyn_cast<td::ReadOp>(op)) return read.getVariable().str();
  if (auto assign = mlir::dyn_cast<td::AssignOp>(op)) return assign.getVariable().str();
  return "";
}

}  // namespace

std::vector<GraphNode> GraphNodesOf(const GraphBuilder& graph) {
  std::vector<GraphNode> nodes;
  llvm::DenseMap<mlir::Value, GraphNode::Operand> made;
  for (mlir::Operation& op : graph.module().main().getBody().front()) {
    if (op.hasTrait<mlir::OpTrait::IsTerminator>()) continue;
    GraphNode node;
    node.name = internal::LocationName(op.getLoc());
    node.op = op.getName().stripDialect().str();
    node.source = internal::LocationFileLine(op.getLoc());
    node.variable = VariableOf(op);
    for (mlir::Value operand : op.getOperands()) {
      if (const auto it = made.find(operand); it != made.end()) node.operands.push_back(it->second);
    }
    for (mlir::OpResult result : op.getResults()) {
      auto type = mlir::cast<mlir::RankedTensorType>(result.getType());
      node.results.push_back({td::ToDType(type.getElementType()), td::ToShape(type)});
      made[result] = {static_cast<int>(nodes.size()), static_cast<int>(result.getResultNumber())};
    }
    nodes.push_back(std::move(node));
  }
  return nodes;
}

}  // namespace tandem

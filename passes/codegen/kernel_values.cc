#include "passes/codegen/kernel_values.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "passes/codegen/loop_nest.h"
#include "passes/codegen/op_weight.h"

namespace tandem {

int64_t InnerSize(mlir::Type type) {
  int64_t size = 1;
  for (int64_t d : InnerShape(type)) size *= d;
  return size;
}

llvm::SmallVector<int64_t> KernelRadices(mlir::func::FuncOp kernel, mlir::Type type) {
  std::vector<llvm::SmallVector<int64_t>> shapes = {InnerShape(type)};
  auto add = [&](mlir::Value v) {
    if (InnerSize(v.getType()) == InnerSize(type)) shapes.push_back(InnerShape(v.getType()));
  };
  for (mlir::Value v : kernel.getArguments()) add(v);
  kernel.walk([&](mlir::Operation* op) {
    for (mlir::Value v : op->getResults()) add(v);
  });
  return CommonRadices(shapes);
}

std::vector<std::vector<unsigned>> GroupBySize(llvm::ArrayRef<mlir::Value> values, const std::vector<unsigned>& which) {
  std::vector<std::vector<unsigned>> groups;
  for (unsigned r : which) {
    auto same = llvm::find_if(
        groups, [&](const auto& g) { return InnerSize(values[g[0]].getType()) == InnerSize(values[r].getType()); });
    if (same == groups.end()) {
      groups.push_back({r});
    } else {
      same->push_back(r);
    }
  }
  return groups;
}

bool DependsOn(mlir::Value value, llvm::function_ref<bool(mlir::Value)> is_one) {
  llvm::SmallVector<mlir::Value> work = {value};
  llvm::DenseSet<mlir::Value> seen;
  while (!work.empty()) {
    mlir::Operation* op = work.pop_back_val().getDefiningOp();
    if (op == nullptr) continue;
    for (mlir::Value operand : op->getOperands()) {
      if (is_one(operand)) return true;
      if (seen.insert(operand).second) work.push_back(operand);
    }
  }
  return false;
}

bool IsReduceOp(mlir::Operation* op) { return td::FusionKindOf(op) == td::FusionKind::kReduce; }

std::vector<mlir::Value> StagedValues(mlir::func::FuncOp kernel, bool batched) {
  // Collects for each value its stages: the reductions and results that read it, directly or through elementwise ops.
  llvm::DenseMap<mlir::Value, llvm::SmallPtrSet<mlir::Operation*, 4>> stages;
  std::vector<mlir::Value> result;
  mlir::Block& block = kernel.getBody().front();
  for (mlir::Operation& op : llvm::reverse(block)) {
    if (&op == block.getTerminator()) {
      for (mlir::Value v : op.getOperands()) stages[v].insert(&op);
      continue;
    }
    OpWeight weight = WeightOf(&op);
    for (mlir::Value v : op.getResults()) {
      bool over_batch = batched && IsBatchReduce(&op);
      bool stored = (IsReduceOp(&op) && !over_batch) || (weight.expensive && stages[v].size() > 1);
      if (stored) result.push_back(v);
      for (mlir::Value operand : op.getOperands()) {
        if (stored || over_batch) {
          stages[operand].insert(&op);
        } else {
          auto users = stages[v];
          stages[operand].insert(users.begin(), users.end());
        }
      }
    }
  }
  std::reverse(result.begin(), result.end());
  return result;
}

}  // namespace tandem

// td-form-fusions: groups ops into kernels, each a function and an exec.launch (passes/Passes.td).
#include "graph/ir/dialect.h"
#include "graph/ir/interfaces.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "passes/base/pass_util.h"
#include "passes/base/passes.h"
#include "passes/codegen/op_weight.h"
#include "passes/exec/kernel_kind.h"
#include "passes/phases/fusion/explain_fusion.h"
#include "passes/phases/fusion/fusion_clusters.h"
#include "passes/target/target.h"

namespace tandem {

#define GEN_PASS_DEF_FORMFUSIONSPASS
#include "passes/passes.h.inc"

namespace {

class FormFusionsPass : public impl::FormFusionsPassBase<FormFusionsPass> {
 public:
  void getDependentDialects(mlir::DialectRegistry& registry) const final {
    impl::FormFusionsPassBase<FormFusionsPass>::getDependentDialects(registry);
    RegisterTrialDialects(registry);
  }

  void runOnOperation() final {
    costly_launches_ = TargetOf(getOperation())->has_costly_launches();
    mlir::SymbolTable symbols(getOperation());
    llvm::SmallVector<mlir::Block*> blocks;
    getOperation().walk([&](mlir::Block* block) {
      auto function = mlir::dyn_cast<mlir::func::FuncOp>(block->getParentOp());
      if (mlir::isa<mlir::ModuleOp>(block->getParentOp()) || (function && exec::GetKernelKind(function))) return;
      blocks.push_back(block);
    });
    for (mlir::Block* block : blocks) {
      if (auto kernel = block->getParentOp()->getParentOfType<mlir::func::FuncOp>();
          kernel && exec::GetKernelKind(kernel)) {
        continue;
      }
      FuseBlock(*block, symbols);
    }
  }

 private:
  void FuseBlock(mlir::Block& block, mlir::SymbolTable& symbols) {
    if (costly_launches_) HoistNumbers(block);
    FusionClusters clusters(block, costly_launches_);
    ExplainFusions(block, clusters, getOperation());
    llvm::SmallPtrSet<mlir::Operation*, 32> done;
    for (const auto& members : clusters.Clusters()) {
      Outline(members, clusters, block, symbols);
      done.insert(members.begin(), members.end());
    }
    for (mlir::Operation& op : llvm::make_early_inc_range(llvm::reverse(block))) {
      if (done.contains(&op) || (clusters.IsInlined(&op) && op.use_empty())) op.erase();
    }
    // Up to here a launch may stand before ops that compute its operands, but on the same side of each border. So ops
    // are sorted between one border and the next.
    for (auto first = block.begin(); first != block.end();) {
      auto last = std::find_if(first, block.end(), [](mlir::Operation& op) {
        return FusionClusters::IsBorder(&op) || op.hasTrait<mlir::OpTrait::IsTerminator>();
      });
      mlir::sortTopologically(&block, {first, last});
      if (last == block.end()) break;
      first = std::next(last);
    }
  }

  // Moves ops on single numbers that depend only on the block's arguments to the front of the block, where they share a
  // launch. Behind a border (an op that no op moves across) they would need a launch of their own.
  static void HoistNumbers(mlir::Block& block) {
    llvm::SmallPtrSet<mlir::Operation*, 16> hoisted;
    mlir::Operation* place = &block.front();
    for (mlir::Operation& op : llvm::make_early_inc_range(block)) {
      const bool numbers = llvm::all_of(op.getResultTypes(), [](mlir::Type t) {
        auto type = mlir::dyn_cast<mlir::RankedTensorType>(t);
        return type && type.getRank() == 0;
      });
      const bool known = llvm::all_of(op.getOperands(), [&](mlir::Value v) {
        return mlir::isa<mlir::BlockArgument>(v) || hoisted.contains(v.getDefiningOp());
      });
      if (!numbers || !known || op.getNumResults() == 0 || !mlir::isPure(&op) || mlir::isa<td::TiedOp>(op)) continue;
      hoisted.insert(&op);
      if (&op == place) {
        place = op.getNextNode();
      } else {
        op.moveBefore(place);
      }
    }
  }

  void Outline(const std::vector<mlir::Operation*>& members, FusionClusters& clusters, mlir::Block& block,
               mlir::SymbolTable& symbols) {
    llvm::SmallVector<mlir::Location> locations;
    for (mlir::Operation* op : members) locations.push_back(op->getLoc());
    mlir::Location loc = mlir::FusedLoc::get(&getContext(), locations);
    auto function = mlir::func::FuncOp::create(loc, "fusion", mlir::FunctionType::get(&getContext(), {}, {}));
    function.setPrivate();
    mlir::Block* body = function.addEntryBlock();
    mlir::OpBuilder builder = mlir::OpBuilder::atBlockBegin(body);

    mlir::IRMapping map;
    llvm::SmallVector<mlir::Value> inputs, outputs;
    std::function<void(mlir::Value)> provide = [&](mlir::Value v) {
      if (map.contains(v)) return;
      mlir::Operation* op = v.getDefiningOp();
      if (op != nullptr && op->getBlock() == &block && clusters.IsInlined(op)) {
        for (mlir::Value operand : op->getOperands()) provide(operand);
        builder.clone(*op, map);
        return;
      }
      inputs.push_back(v);
      map.map(v, body->addArgument(v.getType(), v.getLoc()));
    };
    for (mlir::Operation* op : members) {
      if (map.contains(op->getResult(0))) continue;  // it was copied into the kernel for a member before this one
      for (mlir::Value operand : op->getOperands()) provide(operand);
      builder.clone(*op, map);
    }
    llvm::SmallVector<mlir::Value> returned;
    for (mlir::Operation* op : members) {
      for (mlir::Value v : op->getResults()) {
        if (!clusters.IsOutput(v)) continue;
        outputs.push_back(v);
        returned.push_back(map.lookup(v));
      }
    }
    builder.create<mlir::func::ReturnOp>(loc, returned);
    function.setFunctionType(builder.getFunctionType(body->getArgumentTypes(), mlir::ValueRange(returned).getTypes()));
    symbols.insert(function);
    // Marks the function as a kernel, so that this pass skips it. td-outline-kernels sets the real kind.
    exec::SetKernelKind(function, exec::KernelKind::kCluster);
    builder.setInsertionPointAfter(members.back());
    auto launch =
        builder.create<exec::LaunchOp>(loc, mlir::ValueRange(outputs).getTypes(), function.getSymName(), inputs);
    for (auto [old_value, result] : llvm::zip(outputs, launch.getResults())) old_value.replaceAllUsesWith(result);
  }

  bool costly_launches_ = false;
};

}  // namespace

}  // namespace tandem

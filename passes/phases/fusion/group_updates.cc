// td-group-updates: makes one command of the launches of one flat kernel, such as the updates of many variables
// (passes/Passes.td).
#include <iterator>
#include <utility>

#include "graph/ir/shape.h"
#include "graph/ir/signature.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "passes/base/pass_util.h"
#include "passes/base/passes.h"
#include "passes/exec/kernel_kind.h"
#include "passes/target/target.h"

namespace tandem {

#define GEN_PASS_DEF_GROUPUPDATESPASS
#include "passes/passes.h.inc"

namespace {

class GroupUpdatesPass : public impl::GroupUpdatesPassBase<GroupUpdatesPass> {
 public:
  void runOnOperation() final {
    mlir::func::FuncOp step = StepFunction(getOperation());
    if (!step) return;
    const bool costly_launches = TargetOf(getOperation())->has_costly_launches();
    ByKernel updates, preparations;
    for (auto launch : step.getOps<exec::LaunchOp>()) {
      auto kernel = getOperation().lookupSymbol<mlir::func::FuncOp>(launch.getKernel());
      if (!kernel || exec::GetKernelKind(kernel) != exec::KernelKind::kFlat) continue;
      if (FeedsOnlyTheReturn(launch)) {
        updates[{launch.getKernelAttr(), OverwrittenBy(step, launch)}].push_back(launch);
      } else if (costly_launches && ReadsOnlyArguments(launch)) {
        preparations[{launch.getKernelAttr(), nullptr}].push_back(launch);
      }
    }
    for (auto& [kernel, launches] : updates) {
      const llvm::SmallVector<exec::LaunchOp> group = WithoutDependences(step, launches);
      if (group.size() > 1) Merge(group, group.back());
    }
    for (auto& [kernel, launches] : preparations) {
      if (launches.size() > 1) Merge(launches, launches.front());
    }
  }

 private:
  // Launches by their kernel and by what they overwrite (OverwrittenBy). The launches of a group use one kernel, so
  // they must agree in both.
  using ByKernel = llvm::MapVector<std::pair<mlir::Attribute, mlir::Attribute>, llvm::SmallVector<exec::LaunchOp>>;

  // Returns pairs (number of a result, number of an operand) of the launch such that the result is the new value of the
  // variable which the operand is, or is a view of.
  static mlir::Attribute OverwrittenBy(mlir::func::FuncOp step, exec::LaunchOp launch) {
    llvm::SmallVector<int64_t> pairs;
    for (mlir::OpResult result : launch->getResults()) {
      for (mlir::OpOperand& use : result.getUses()) {
        mlir::Attribute updated = td::UpdateOf(step, use.getOperandNumber());
        for (int64_t i = 0; updated && i < launch.getNumOperands(); ++i) {
          if (VariableOf(step, launch->getOperand(i)) == updated) pairs.append({result.getResultNumber(), i});
        }
      }
    }
    return mlir::DenseI64ArrayAttr::get(launch.getContext(), pairs);
  }

  // Returns the variable that `v` is, or is a view of; null if it is neither.
  static mlir::Attribute VariableOf(mlir::func::FuncOp step, mlir::Value v) {
    while (auto reshape = v.getDefiningOp<td::ReshapeOp>()) v = reshape.getInput();
    auto argument = mlir::dyn_cast<mlir::BlockArgument>(v);
    return argument ? td::VariableOf(step, argument.getArgNumber()) : nullptr;
  }

  // True if only the step's return reads the results of the launch. Such launches do not depend on each other, and may
  // all be moved to the place of the last one.
  static bool FeedsOnlyTheReturn(exec::LaunchOp launch) {
    return llvm::all_of(launch->getUsers(),
                        [](mlir::Operation* user) { return user->hasTrait<mlir::OpTrait::IsTerminator>(); });
  }

  // Returns those of `launches` that may overwrite their variables in any order: none reads, directly or through views,
  // a variable that another one updates.
  static llvm::SmallVector<exec::LaunchOp> WithoutDependences(mlir::func::FuncOp step,
                                                              llvm::ArrayRef<exec::LaunchOp> launches) {
    llvm::DenseMap<mlir::Attribute, mlir::Operation*> updates;  // variable -> the launch that updates it
    for (exec::LaunchOp launch : launches) {
      for (mlir::OpOperand& use : launch->getUses()) {
        if (mlir::Attribute variable = td::UpdateOf(step, use.getOperandNumber())) updates[variable] = launch;
      }
    }
    llvm::DenseSet<mlir::Operation*> dependent;
    for (exec::LaunchOp launch : launches) {
      for (mlir::Value v : launch.getOperands()) {
        mlir::Attribute variable = VariableOf(step, v);
        mlir::Operation* writer = variable ? updates.lookup(variable) : nullptr;
        if (writer == nullptr || writer == launch) continue;
        dependent.insert(writer);
        dependent.insert(launch);
      }
    }
    llvm::SmallVector<exec::LaunchOp> group;
    llvm::copy_if(launches, std::back_inserter(group), [&](exec::LaunchOp l) { return !dependent.contains(l); });
    return group;
  }

  // True if the launch reads only arguments of the step. Such launches may all be moved to the place of the first one.
  static bool ReadsOnlyArguments(exec::LaunchOp launch) {
    return llvm::all_of(launch.getOperands(), [](mlir::Value v) { return mlir::isa<mlir::BlockArgument>(v); });
  }

  static void Merge(llvm::ArrayRef<exec::LaunchOp> launches, exec::LaunchOp place) {
    mlir::OpBuilder builder(place);
    llvm::SmallVector<mlir::Value> operands;
    llvm::SmallVector<mlir::Type> types;
    llvm::SmallVector<mlir::Location> locations;
    for (exec::LaunchOp l : launches) {
      operands.append(l.operand_begin(), l.operand_end());
      types.append(l->result_type_begin(), l->result_type_end());
      locations.push_back(l.getLoc());
    }
    auto group = builder.create<exec::GroupedLaunchOp>(builder.getFusedLoc(locations), types, place.getKernelAttr(),
                                                       builder.getI64IntegerAttr(launches.size()), operands);
    unsigned next = 0;
    for (exec::LaunchOp l : launches) {
      for (mlir::Value r : l.getResults()) r.replaceAllUsesWith(group.getResult(next++));
      l.erase();
    }
  }
};

}  // namespace

}  // namespace tandem

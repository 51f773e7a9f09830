// td-group-updates, as Passes.td describes it.
#include "llvm/ADT/MapVector.h"
#include "passes/exec/kernel_kind.h"
#include "passes/pass_util.h"
#include "passes/passes.h"

namespace tandem {

#define GEN_PASS_DEF_GROUPUPDATESPASS
#include "passes/passes.h.inc"

namespace {

class GroupUpdatesPass : public impl::GroupUpdatesPassBase<GroupUpdatesPass> {
 public:
  void runOnOperation() final {
    mlir::func::FuncOp step = StepFunction(getOperation());
    if (!step) return;
    llvm::MapVector<mlir::Attribute, llvm::SmallVector<exec::LaunchOp>> by_kernel;
    for (auto launch : step.getOps<exec::LaunchOp>()) {
      auto kernel = getOperation().lookupSymbol<mlir::func::FuncOp>(launch.getKernel());
      if (kernel && exec::GetKernelKind(kernel) == exec::KernelKind::kFlat && FeedsOnlyTheReturn(launch))
        by_kernel[launch.getKernelAttr()].push_back(launch);
    }
    for (auto& [kernel, launches] : by_kernel) {
      if (launches.size() > 1) Merge(launches);
    }
  }

 private:
  // Such launches cannot depend on each other, and may all move to the last one's place.
  static bool FeedsOnlyTheReturn(exec::LaunchOp launch) {
    return llvm::all_of(launch->getUsers(),
                        [](mlir::Operation* user) { return user->hasTrait<mlir::OpTrait::IsTerminator>(); });
  }

  static void Merge(llvm::ArrayRef<exec::LaunchOp> launches) {
    exec::LaunchOp last = launches.back();
    mlir::OpBuilder builder(last);
    llvm::SmallVector<mlir::Value> operands;
    llvm::SmallVector<mlir::Type> types;
    llvm::SmallVector<mlir::Location> locations;
    for (exec::LaunchOp l : launches) {
      operands.append(l.operand_begin(), l.operand_end());
      types.append(l->result_type_begin(), l->result_type_end());
      locations.push_back(l.getLoc());
    }
    auto group = builder.create<exec::GroupedLaunchOp>(builder.getFusedLoc(locations), types, last.getKernelAttr(),
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

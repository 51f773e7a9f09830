// td-group-updates: runs all launches of one flat kernel as a single step.
//
// Before: one launch per variable (an optimizer update each), behind the finite check. After: launches of the same flat
// kernel that do not depend on each other are one td.grouped_launch, whose work the runtime splits over threads across
// the members: one dispatch instead of one per variable.
//
//   %a = td.launch @sgd(%w0, %g0, %lr)    =>   %a, %b = td.grouped_launch @sgd x 2(%w0, %g0, %lr, %w1, %g1, %lr)
//   %b = td.launch @sgd(%w1, %g1, %lr)
#include "passes/group_updates.h"

#include "graph/ir/structure.h"
#include "llvm/ADT/MapVector.h"
#include "passes/pass_util.h"

namespace tandem {
namespace {

class GroupUpdatesPass : public ModulePass<GroupUpdatesPass> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(GroupUpdatesPass)
  static constexpr llvm::StringLiteral kName = "td-group-updates";
  static constexpr llvm::StringLiteral kDescription = "run launches of one flat kernel as a single step";

  void runOnOperation() final {
    mlir::func::FuncOp step = StepFunction(getOperation());
    if (!step) return;
    llvm::MapVector<mlir::Attribute, llvm::SmallVector<td::LaunchOp>> by_kernel;
    for (auto launch : step.getOps<td::LaunchOp>()) {
      auto kernel = getOperation().lookupSymbol<mlir::func::FuncOp>(launch.getKernel());
      auto kind = kernel ? kernel->getAttrOfType<mlir::StringAttr>("td.kernel") : mlir::StringAttr();
      if (kind && kind.getValue() == "flat" && FeedsOnlyTheReturn(launch))
        by_kernel[launch.getKernelAttr()].push_back(launch);
    }
    for (auto& [kernel, launches] : by_kernel) {
      if (launches.size() > 1) Merge(launches);
    }
  }

 private:
  // Such launches cannot depend on each other, and may all move to the last one's place.
  static bool FeedsOnlyTheReturn(td::LaunchOp launch) {
    return llvm::all_of(launch->getUsers(),
                        [](mlir::Operation* user) { return user->hasTrait<mlir::OpTrait::IsTerminator>(); });
  }

  static void Merge(llvm::ArrayRef<td::LaunchOp> launches) {
    td::LaunchOp last = launches.back();
    mlir::OpBuilder builder(last);
    llvm::SmallVector<mlir::Value> operands;
    llvm::SmallVector<mlir::Type> types;
    llvm::SmallVector<mlir::Location> locations;
    for (td::LaunchOp l : launches) {
      operands.append(l.operand_begin(), l.operand_end());
      types.append(l->result_type_begin(), l->result_type_end());
      locations.push_back(l.getLoc());
    }
    auto group = builder.create<td::GroupedLaunchOp>(builder.getFusedLoc(locations), types, last.getKernelAttr(),
                                                     builder.getI64IntegerAttr(launches.size()), operands);
    unsigned next = 0;
    for (td::LaunchOp l : launches) {
      for (mlir::Value r : l.getResults()) r.replaceAllUsesWith(group.getResult(next++));
      l.erase();
    }
  }
};

}  // namespace

std::unique_ptr<mlir::Pass> createGroupUpdatesPass() { return std::make_unique<GroupUpdatesPass>(); }

}  // namespace tandem

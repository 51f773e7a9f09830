// td-replicate: one td.replica symbol per device, all of a class pointing to one step body.
//
// Before: @step and the module attribute td.devices. After: @replica_0, @replica_1, ... in the order of the devices.
// The body is not copied: replicas of a class run the same program.
//
//   module {td.devices = ["cpu:0", "cpu:1"]} { func @step }   =>   td.replica @replica_0 device("cpu:0") body(@step)
//                                                                  td.replica @replica_1 device("cpu:1") body(@step)
#include "passes/replicate.h"

#include "graph/ir/dist.h"
#include "passes/pass_util.h"

namespace tandem {
namespace {

class ReplicatePass : public ModulePass<ReplicatePass> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ReplicatePass)
  static constexpr llvm::StringLiteral kName = "td-replicate";
  static constexpr llvm::StringLiteral kDescription = "make one replica symbol per device";

  void runOnOperation() final {
    mlir::ModuleOp module = getOperation();
    mlir::func::FuncOp step = StepFunction(module);
    if (!step || !module.getOps<td::ReplicaOp>().empty()) return;
    mlir::OpBuilder builder(module.getContext());
    builder.setInsertionPoint(step);
    llvm::SmallVector<mlir::StringRef> devices;
    if (auto attr = module->getAttrOfType<mlir::ArrayAttr>("td.devices")) {
      for (mlir::Attribute a : attr) devices.push_back(mlir::cast<mlir::StringAttr>(a).getValue());
    } else {
      devices.push_back("cpu:0");
    }
    for (auto [i, device] : llvm::enumerate(devices)) {
      builder.create<td::ReplicaOp>(step.getLoc(), builder.getStringAttr("replica_" + std::to_string(i)),
                                    builder.getStringAttr(device), mlir::FlatSymbolRefAttr::get(step.getSymNameAttr()));
    }
  }
};

}  // namespace

std::unique_ptr<mlir::Pass> createReplicatePass() { return std::make_unique<ReplicatePass>(); }

}  // namespace tandem

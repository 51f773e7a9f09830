// td-replicate: adds an exec.replica symbol for each device (passes/Passes.td).
#include "graph/ir/dist.h"
#include "passes/base/pass_util.h"
#include "passes/base/passes.h"
#include "passes/exec/dialect.h"

namespace tandem {

#define GEN_PASS_DEF_REPLICATEPASS
#include "passes/passes.h.inc"

namespace {

class ReplicatePass : public impl::ReplicatePassBase<ReplicatePass> {
 public:
  void runOnOperation() final {
    mlir::ModuleOp module = getOperation();
    mlir::func::FuncOp step = StepFunction(module);
    if (!step || !module.getOps<exec::ReplicaOp>().empty()) return;
    mlir::OpBuilder builder(module.getContext());
    builder.setInsertionPoint(step);
    llvm::SmallVector<mlir::StringRef> devices;
    if (mlir::ArrayAttr names = ConfigOf(module).getDevices()) {
      for (mlir::Attribute a : names) devices.push_back(mlir::cast<mlir::StringAttr>(a).getValue());
    } else {
      devices.push_back("cpu:0");
    }
    for (auto [i, device] : llvm::enumerate(devices)) {
      builder.create<exec::ReplicaOp>(step.getLoc(), builder.getStringAttr("replica_" + std::to_string(i)),
                                      builder.getStringAttr(device),
                                      mlir::FlatSymbolRefAttr::get(step.getSymNameAttr()));
    }
  }
};

}  // namespace

}  // namespace tandem

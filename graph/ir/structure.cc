#include "graph/ir/structure.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#define GET_OP_CLASSES
#include "graph/ir/structure.cc.inc"

namespace tandem::td {

void TdDialect::registerStructureOps() {
  addOperations<
#define GET_OP_LIST
#include "graph/ir/structure.cc.inc"
      >();
}

BatchRule CopyOp::getBatchRule() { return BatchRule::kPerExample; }

namespace {

// The kernel that `op` names, or null after an error.
mlir::func::FuncOp LookupKernel(mlir::Operation* op, mlir::FlatSymbolRefAttr name,
                                mlir::SymbolTableCollection& symbols) {
  auto kernel = symbols.lookupNearestSymbolFrom<mlir::func::FuncOp>(op, name);
  if (!kernel || !kernel->hasAttr("td.kernel")) {
    op->emitOpError() << "names " << name << ", which is not a kernel";
    return {};
  }
  return kernel;
}

}  // namespace

llvm::LogicalResult LaunchOp::verifySymbolUses(mlir::SymbolTableCollection& symbols) {
  auto kernel = LookupKernel(*this, getKernelAttr(), symbols);
  if (!kernel) return mlir::failure();
  if (kernel.getNumArguments() != getNumOperands() || kernel.getNumResults() != getNumResults()) {
    return emitOpError() << "has " << getNumOperands() << " operands and " << getNumResults()
                         << " results, but the kernel has " << kernel.getNumArguments() << " and "
                         << kernel.getNumResults();
  }
  return mlir::success();
}

llvm::LogicalResult GroupedLaunchOp::verifySymbolUses(mlir::SymbolTableCollection& symbols) {
  auto kernel = LookupKernel(*this, getKernelAttr(), symbols);
  if (!kernel) return mlir::failure();
  int64_t n = getMembers();
  if (kernel.getNumArguments() * n != getNumOperands() || kernel.getNumResults() * n != getNumResults()) {
    return emitOpError() << "has " << getNumOperands() << " operands and " << getNumResults() << " results for " << n
                         << " members of a kernel with " << kernel.getNumArguments() << " and "
                         << kernel.getNumResults();
  }
  return mlir::success();
}

}  // namespace tandem::td

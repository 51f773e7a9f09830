#include "passes/target/target.h"

namespace tandem {

std::shared_ptr<const Target> TargetOf(mlir::ModuleOp module) {
  const exec::TargetAttr target = exec::CompileConfigAttr::of(module).getTarget();
  if (!target) return MakeCpuTarget(target);
  switch (target.getBackend()) {
    case exec::Backend::kCpu:
      return MakeCpuTarget(target);
    case exec::Backend::kCuda:
      return MakeCudaTarget();
  }
  return nullptr;
}

void SetTarget(mlir::ModuleOp module, exec::TargetAttr target) {
  module->setAttr(exec::kConfigAttr, exec::CompileConfigAttr::of(module).withTarget(target));
}

}  // namespace tandem

// LLVM's optimiser and assembler for one kernel.
#ifndef TANDEM_PASSES_CODEGEN_OPTIMIZE_H_
#define TANDEM_PASSES_CODEGEN_OPTIMIZE_H_

#include <string>

#include "absl/status/statusor.h"
#include "llvm/IR/Module.h"
#include "passes/codegen/cpu_target.h"

namespace tandem {

struct OptimizedObject {
  std::string elf;
  std::string llvm_ir;
};

// Thread-safe for modules in different contexts.
absl::StatusOr<OptimizedObject> OptimizeAndAssemble(llvm::Module& module, const CpuTarget& target);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_OPTIMIZE_H_

// LLVM's optimiser and assembler for kernels.
#ifndef TANDEM_PASSES_CODEGEN_OPTIMIZE_H_
#define TANDEM_PASSES_CODEGEN_OPTIMIZE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include "passes/codegen/cpu_target.h"

namespace tandem {

struct OptimizedObject {
  std::string elf;
  std::string bitcode;          // what the code was made from; KernelIrText makes text of it
  double assemble_seconds = 0;  // of the calling thread's CPU time, what the ELF object took
};

// Seconds of CPU time that the calling thread has used.
double ThreadCpuSeconds();

// Makes objects of modules, one after another. Not thread-safe: every thread has its own.
class ObjectCompiler {
 public:
  static absl::StatusOr<std::unique_ptr<ObjectCompiler>> Create(const CpuTarget& target);

  // Optimises `module` in place and assembles it. `explicit_addresses`: the addresses of a loop are constant distances
  // from one pointer already, so that looking for better ones would only take time.
  absl::StatusOr<OptimizedObject> Compile(llvm::Module& module, bool explicit_addresses);

 private:
  ObjectCompiler(const CpuTarget& target, std::unique_ptr<llvm::TargetMachine> machine)
      : target_(target), machine_(std::move(machine)) {}

  void Describe(llvm::Module& module) const;
  void Optimize(llvm::Module& module);

  const CpuTarget target_;
  std::unique_ptr<llvm::TargetMachine> machine_;
};

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_OPTIMIZE_H_

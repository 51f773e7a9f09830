// LLVM's optimiser and assembler for kernels.
#ifndef TANDEM_PASSES_CODEGEN_OPTIMIZE_H_
#define TANDEM_PASSES_CODEGEN_OPTIMIZE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "passes/codegen/cpu_target.h"
#include "passes/codegen/sanitize_kernels.h"

namespace tandem {

struct OptimizedObject {
  std::string elf;
  std::string bitcode;          // what the code was made from; KernelIrText makes text of it
  double assemble_seconds = 0;  // of the calling thread's CPU time, what the ELF object took
};

// Makes objects of modules, one after another. Not thread-safe: every thread has its own.
class ObjectCompiler {
 public:
  static absl::StatusOr<std::unique_ptr<ObjectCompiler>> Create(const CpuTarget& target,
                                                                KernelSanitizer sanitizer = ProcessSanitizer());

  // Optimises `module` in place and assembles it. `vectorize`: its loops are of scalars; without, they were emitted as
  // vectors and looking for more would only take time.
  absl::StatusOr<OptimizedObject> Compile(llvm::Module& module, bool vectorize = true);

 private:
  ObjectCompiler(const CpuTarget& target, KernelSanitizer sanitizer, std::unique_ptr<llvm::TargetMachine> machine)
      : target_(target), sanitizer_(sanitizer), machine_(std::move(machine)) {}

  void Describe(llvm::Module& module) const;
  void Optimize(llvm::Module& module, bool vectorize);

  const CpuTarget target_;
  const KernelSanitizer sanitizer_;
  std::unique_ptr<llvm::TargetMachine> machine_;
  llvm::SmallVector<char, 0> object_;  // what passes_ write
  llvm::raw_svector_ostream stream_{object_};
  llvm::legacy::PassManager passes_;  // the code generator's, set up once: half a millisecond of every kernel
};

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_OPTIMIZE_H_

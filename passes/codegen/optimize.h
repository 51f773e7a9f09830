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
  std::string bitcode;          // LLVM IR that the code was made from; KernelIrText turns it into text
  double assemble_seconds = 0;  // CPU time of the calling thread for making the ELF object
};

// Compiles modules to objects, one after another. Not thread-safe: every thread has its own compiler.
class ObjectCompiler {
 public:
  static absl::StatusOr<std::unique_ptr<ObjectCompiler>> Create(const CpuTarget& target,
                                                                KernelSanitizer sanitizer = ProcessSanitizer());

  // Optimises `module` in place and assembles it. `vectorize`: its loops work on scalars and should be vectorised.
  // False for code that was emitted as vectors, where trying would only cost time.
  absl::StatusOr<OptimizedObject> Compile(llvm::Module& module, bool vectorize = true);

 private:
  ObjectCompiler(const CpuTarget& target, KernelSanitizer sanitizer, std::unique_ptr<llvm::TargetMachine> machine)
      : target_(target), sanitizer_(sanitizer), machine_(std::move(machine)) {}

  void Describe(llvm::Module& module) const;
  void Optimize(llvm::Module& module, bool vectorize);

  const CpuTarget target_;
  const KernelSanitizer sanitizer_;
  std::unique_ptr<llvm::TargetMachine> machine_;
  llvm::SmallVector<char, 0> object_;  // the object file that passes_ has written
  llvm::raw_svector_ostream stream_{object_};
  llvm::legacy::PassManager passes_;  // the code generator's passes, set up once, since that takes half a millisecond
};

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_OPTIMIZE_H_

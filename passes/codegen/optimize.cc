#include "passes/codegen/optimize.h"

#include <mutex>

#include "absl/strings/str_cat.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

namespace tandem {
namespace {

absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> MakeTargetMachine(const CpuTarget& target) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  std::string error;
  const llvm::Target* found = llvm::TargetRegistry::lookupTarget(target.triple, error);
  if (found == nullptr) {
    return absl::UnimplementedError(absl::StrCat("no code generator for target ", target.triple, ": ", error));
  }
  std::unique_ptr<llvm::TargetMachine> machine(
      found->createTargetMachine(target.triple, target.cpu, target.features, llvm::TargetOptions(), llvm::Reloc::PIC_,
                                 llvm::CodeModel::Small, llvm::CodeGenOptLevel::Aggressive));
  if (machine == nullptr) return absl::InternalError(absl::StrCat("cannot generate code for ", target.triple));
  return machine;
}

// Without all of these LLVM's cost model finds no vector registers.
void Describe(llvm::Module& module, const llvm::TargetMachine& machine, const CpuTarget& target) {
  module.setTargetTriple(target.triple);
  module.setDataLayout(machine.createDataLayout());
  for (llvm::Function& f : module) {
    if (f.isDeclaration()) continue;
    f.addFnAttr("target-cpu", target.cpu);
    f.addFnAttr("target-features", target.features);
    f.addFnAttr("prefer-vector-width", std::to_string(target.vector_bits));
    f.addFnAttr("no-trapping-math", "true");
  }
}

void Optimize(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = true;
  tuning.SLPVectorization = true;
  // Short column loops must reach the vectoriser as loops; it interleaves long ones itself.
  tuning.LoopUnrolling = false;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
}

}  // namespace

absl::StatusOr<OptimizedObject> OptimizeAndAssemble(llvm::Module& module, const CpuTarget& target) {
  auto machine = MakeTargetMachine(target);
  if (!machine.ok()) return machine.status();
  Describe(module, **machine, target);
  Optimize(module, **machine);
  std::string problem;
  llvm::raw_string_ostream problems(problem);
  if (llvm::verifyModule(module, &problems)) {
    return absl::InternalError(absl::StrCat("LLVM made invalid code: ", problems.str()));
  }
  OptimizedObject result;
  llvm::raw_string_ostream(result.llvm_ir) << module;
  llvm::SmallVector<char, 0> buffer;
  llvm::raw_svector_ostream stream(buffer);
  llvm::legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile)) {
    return absl::InternalError(absl::StrCat("LLVM cannot emit objects for ", target.triple));
  }
  passes.run(module);
  result.elf.assign(buffer.begin(), buffer.end());
  return result;
}

}  // namespace tandem

#include "passes/codegen/optimize.h"

#include <mutex>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "base/processor_time.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Vectorize/LoopVectorize.h"

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

bool RoundsToBFloat16(const llvm::Loop& loop) {
  return llvm::any_of(loop.blocks(), [](const llvm::BasicBlock* block) {
    return llvm::any_of(*block, [](const llvm::Instruction& i) {
      return i.getOpcode() == llvm::Instruction::FPTrunc && i.getType()->isBFloatTy();
    });
  });
}

// Makes the vectoriser fill whole registers in innermost loops that round to bfloat16. By itself it fills a quarter of
// them: LLVM 19 does not know that the conversion of wide vectors is one instruction, and expects it to be done element
// by element. A loop that normalises [784, 256] took 20 us for float32 and 68 us for bfloat16; with this pass it takes
// 33 us.
class WidenBFloat16Loops : public llvm::PassInfoMixin<WidenBFloat16Loops> {
 public:
  explicit WidenBFloat16Loops(int vector_bits) : vector_bits_(vector_bits) {}
  llvm::PreservedAnalyses run(llvm::Loop& loop, llvm::LoopAnalysisManager&, llvm::LoopStandardAnalysisResults&,
                              llvm::LPMUpdater&) {
    if (loop.isInnermost() && loop.getLoopLatch() != nullptr && RoundsToBFloat16(loop))
      llvm::addStringMetadataToLoop(&loop, "llvm.loop.vectorize.width", static_cast<unsigned>(vector_bits_ / 32));
    return llvm::PreservedAnalyses::all();
  }

 private:
  int vector_bits_;
};

// Returns the passes of LLVM's O3 that kernels need, at a sixth of its time. Kernels have no calls to inline, no memory
// to promote and no other function to learn from; loops reach the vectoriser as they were emitted, neither unrolled nor
// unswitched, and with induction variables of 64 bits from 0 that need no simplification, which was a quarter of all
// passes' time. Straight-line (SLP) vectorisation is left out because it packs scalars that the loop vectoriser would
// turn into vectors: a convolution of few taps became 1.3 times slower.
llvm::FunctionPassManager KernelPasses(int vector_bits, bool vectorize) {
  auto licm = [] { return llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), true); };
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LoopRotatePass()));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(licm());
  if (vectorize) {
    passes.addPass(llvm::createFunctionToLoopPassAdaptor(WidenBFloat16Loops(vector_bits)));
    passes.addPass(llvm::LoopVectorizePass());
  }
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(licm());
  passes.addPass(llvm::SimplifyCFGPass());
  return passes;
}

// Leaves out loop strength reduction. It takes half of the code generator's time for a Winograd kernel of hundreds of
// addresses and a tenth for others, and kernels are no faster with it.
class NoStrengthReduction : public llvm::OptPassGate {
 public:
  bool shouldRunPass(const llvm::StringRef name, llvm::StringRef) override { return name != "Loop Strength Reduction"; }
  bool isEnabled() const override { return true; }
};

}  // namespace

absl::StatusOr<std::unique_ptr<ObjectCompiler>> ObjectCompiler::Create(const CpuTarget& target,
                                                                       KernelSanitizer sanitizer) {
  absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> machine = MakeTargetMachine(target);
  if (!machine.ok()) return machine.status();
  std::unique_ptr<ObjectCompiler> compiler =
      absl::WrapUnique(new ObjectCompiler(target, sanitizer, *std::move(machine)));
  if (compiler->machine_->addPassesToEmitFile(compiler->passes_, compiler->stream_, nullptr,
                                              llvm::CodeGenFileType::ObjectFile)) {
    return absl::InternalError(absl::StrCat("LLVM cannot emit objects for ", target.triple));
  }
  return compiler;
}

// Sets target and features of the module. Without all of them LLVM's cost model finds no vector registers.
void ObjectCompiler::Describe(llvm::Module& module) const {
  module.setTargetTriple(target_.triple);
  module.setDataLayout(machine_->createDataLayout());
  for (llvm::Function& f : module) {
    if (f.isDeclaration()) continue;
    f.addFnAttr("target-cpu", target_.cpu);
    f.addFnAttr("target-features", target_.features);
    f.addFnAttr("prefer-vector-width", std::to_string(target_.vector_bits));
    f.addFnAttr("no-trapping-math", "true");
    // LLVM aligns the stack only if values are on it before registers are allocated, not for registers that are spilled
    // later. Without this attribute three of four spilled vectors would lie across two cache lines, and in some runs of
    // a program one across two pages.
    f.addFnAttr(llvm::Attribute::getWithStackAlignment(f.getContext(), llvm::Align(target_.vector_bits / 8)));
  }
}

void ObjectCompiler::Optimize(llvm::Module& module, bool vectorize) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(machine_.get());
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes;
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(KernelPasses(target_.vector_bits, vectorize)));
  AddSanitizerPasses(sanitizer_, module, passes);
  passes.run(module, modules);
}

absl::StatusOr<OptimizedObject> ObjectCompiler::Compile(llvm::Module& module, bool vectorize) {
  static NoStrengthReduction no_strength_reduction;
  module.getContext().setOptPassGate(no_strength_reduction);
  Describe(module);
  std::string problem;
  llvm::raw_string_ostream problems(problem);
  if (llvm::verifyModule(module, &problems)) {
    return absl::InternalError(absl::StrCat("it became invalid code: ", problems.str()));
  }
  Optimize(module, vectorize);
  OptimizedObject result;
  llvm::raw_string_ostream bitcode(result.bitcode);
  llvm::WriteBitcodeToFile(module, bitcode);
  const double start = ThreadProcessorSeconds();
  object_.clear();
  passes_.run(module);
  result.elf.assign(object_.begin(), object_.end());
  result.assemble_seconds = ThreadProcessorSeconds() - start;
  return result;
}

}  // namespace tandem

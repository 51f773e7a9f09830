#include "passes/codegen/gpu/ptx.h"

#include <mutex>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "base/status_macros.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "passes/codegen/gpu/device.h"

extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

namespace tandem {
namespace {

constexpr char kTriple[] = "nvptx64-nvidia-cuda";

// An architecture, with the oldest version of PTX that has all instructions that LLVM uses for it: older drivers read
// only older versions.
struct Arch {
  int number;
  const char* cpu;
  const char* features;
  const char* version;
};
constexpr Arch kArchs[] = {
    {75, "sm_75", "+ptx75", "7.5"}, {80, "sm_80", "+ptx75", "7.5"}, {90, "sm_90", "+ptx78", "7.8"}};

const Arch* FindArch(int number) {
  for (const Arch& arch : kArchs) {
    if (arch.number == number) return &arch;
  }
  return nullptr;
}

// The functions of gpu/device.h, in LLVM IR. $0: the name of shared memory, $1: its size.
constexpr char kDeviceFunctions[] = R"(
@$0 = internal addrspace(3) global [$1 x i8] undef, align 16
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare void @llvm.nvvm.barrier0()
declare void @llvm.nvvm.bar.warp.sync(i32)
declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32)
declare void @llvm.nvvm.membar.gl()
declare i32 @llvm.nvvm.atomic.load.inc.32.p1(ptr addrspace(1), i32)
declare float @llvm.nvvm.ex2.approx.ftz.f(float)
declare <2 x bfloat> @llvm.nvvm.ff2bf16x2.rn(float, float)
declare {i32, i32, i32, i32} @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3))
declare {i32, i32, i32, i32} @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3(ptr addrspace(3))
declare {float, float, float, float} @llvm.nvvm.mma.m16n8k16.row.col.bf16(
    i32, i32, i32, i32, i32, i32, float, float, float, float)
declare i32 @llvm.nvvm.f2tf32.rna(float)
declare {float, float, float, float} @llvm.nvvm.mma.m16n8k8.row.col.tf32(
    i32, i32, i32, i32, i32, i32, float, float, float, float)
define i32 @td_thread() alwaysinline {
  %r = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !range !0
  ret i32 %r
}
define i32 @td_block() alwaysinline {
  %r = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x(), !range !1
  ret i32 %r
}
define void @td_sync_block() alwaysinline convergent {
  call void @llvm.nvvm.barrier0()
  ret void
}
define void @td_sync_warp() alwaysinline convergent {
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  ret void
}
define i32 @td_shuffle_xor(i32 %value, i32 %mask) alwaysinline convergent {
  %r = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %value, i32 %mask, i32 31)
  ret i32 %r
}
define i32 @td_arrive(ptr %counter, i32 %count) alwaysinline convergent {
  call void @llvm.nvvm.membar.gl()
  %last = sub i32 %count, 1
  %global = addrspacecast ptr %counter to ptr addrspace(1)
  %before = call i32 @llvm.nvvm.atomic.load.inc.32.p1(ptr addrspace(1) %global, i32 %last)
  call void @llvm.nvvm.membar.gl()
  %is_last = icmp eq i32 %before, %last
  %r = zext i1 %is_last to i32
  ret i32 %r
}
define ptr @td_shared() alwaysinline {
  ret ptr addrspacecast (ptr addrspace(3) @$0 to ptr)
}
define float @td_exp(float %x) alwaysinline {
  %y = fmul float %x, 0x3FF7154760000000
  %r = call float @llvm.nvvm.ex2.approx.ftz.f(float %y)
  ret float %r
}
define i32 @td_pack_bf16(float %low, float %high) alwaysinline {
  %pair = call <2 x bfloat> @llvm.nvvm.ff2bf16x2.rn(float %high, float %low)
  %r = bitcast <2 x bfloat> %pair to i32
  ret i32 %r
}
define i32 @td_round_tf32(float %x) alwaysinline {
  %r = call i32 @llvm.nvvm.f2tf32.rna(float %x)
  ret i32 %r
}
define <4 x i32> @td_load_matrices(ptr %address) alwaysinline convergent {
  %shared = addrspacecast ptr %address to ptr addrspace(3)
  %r = call {i32, i32, i32, i32} @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) %shared) convergent
  %r0 = extractvalue {i32, i32, i32, i32} %r, 0
  %r1 = extractvalue {i32, i32, i32, i32} %r, 1
  %r2 = extractvalue {i32, i32, i32, i32} %r, 2
  %r3 = extractvalue {i32, i32, i32, i32} %r, 3
  %v0 = insertelement <4 x i32> undef, i32 %r0, i32 0
  %v1 = insertelement <4 x i32> %v0, i32 %r1, i32 1
  %v2 = insertelement <4 x i32> %v1, i32 %r2, i32 2
  %v3 = insertelement <4 x i32> %v2, i32 %r3, i32 3
  ret <4 x i32> %v3
}
define <4 x i32> @td_load_transposed(ptr %address) alwaysinline convergent {
  %shared = addrspacecast ptr %address to ptr addrspace(3)
  %r = call {i32, i32, i32, i32} @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3(ptr addrspace(3) %shared) convergent
  %r0 = extractvalue {i32, i32, i32, i32} %r, 0
  %r1 = extractvalue {i32, i32, i32, i32} %r, 1
  %r2 = extractvalue {i32, i32, i32, i32} %r, 2
  %r3 = extractvalue {i32, i32, i32, i32} %r, 3
  %v0 = insertelement <4 x i32> undef, i32 %r0, i32 0
  %v1 = insertelement <4 x i32> %v0, i32 %r1, i32 1
  %v2 = insertelement <4 x i32> %v1, i32 %r2, i32 2
  %v3 = insertelement <4 x i32> %v2, i32 %r3, i32 3
  ret <4 x i32> %v3
}
define <4 x float> @td_multiply_add(i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %b0, i32 %b1, <4 x float> %c) alwaysinline convergent {
  %c0 = extractelement <4 x float> %c, i32 0
  %c1 = extractelement <4 x float> %c, i32 1
  %c2 = extractelement <4 x float> %c, i32 2
  %c3 = extractelement <4 x float> %c, i32 3
  %r = call {float, float, float, float} @llvm.nvvm.mma.m16n8k16.row.col.bf16(
      i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %b0, i32 %b1, float %c0, float %c1, float %c2, float %c3) convergent
  %r0 = extractvalue {float, float, float, float} %r, 0
  %r1 = extractvalue {float, float, float, float} %r, 1
  %r2 = extractvalue {float, float, float, float} %r, 2
  %r3 = extractvalue {float, float, float, float} %r, 3
  %v0 = insertelement <4 x float> undef, float %r0, i32 0
  %v1 = insertelement <4 x float> %v0, float %r1, i32 1
  %v2 = insertelement <4 x float> %v1, float %r2, i32 2
  %v3 = insertelement <4 x float> %v2, float %r3, i32 3
  ret <4 x float> %v3
}
define <4 x float> @td_multiply_add_tf32(i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %b0, i32 %b1, <4 x float> %c) alwaysinline convergent {
  %c0 = extractelement <4 x float> %c, i32 0
  %c1 = extractelement <4 x float> %c, i32 1
  %c2 = extractelement <4 x float> %c, i32 2
  %c3 = extractelement <4 x float> %c, i32 3
  %r = call {float, float, float, float} @llvm.nvvm.mma.m16n8k8.row.col.tf32(
      i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %b0, i32 %b1, float %c0, float %c1, float %c2, float %c3) convergent
  %r0 = extractvalue {float, float, float, float} %r, 0
  %r1 = extractvalue {float, float, float, float} %r, 1
  %r2 = extractvalue {float, float, float, float} %r, 2
  %r3 = extractvalue {float, float, float, float} %r, 3
  %v0 = insertelement <4 x float> undef, float %r0, i32 0
  %v1 = insertelement <4 x float> %v0, float %r1, i32 1
  %v2 = insertelement <4 x float> %v1, float %r2, i32 2
  %v3 = insertelement <4 x float> %v2, float %r3, i32 3
  ret <4 x float> %v3
}
!0 = !{i32 0, i32 1024}
!1 = !{i32 0, i32 2147483647}
)";

absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> MakeTargetMachine(const Arch& arch) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(kTriple, error);
  if (target == nullptr) {
    return absl::UnimplementedError(absl::StrCat("this LLVM has no code generator for NVIDIA GPUs: ", error));
  }
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(kTriple, arch.cpu, arch.features, llvm::TargetOptions(), std::nullopt, std::nullopt,
                                  llvm::CodeGenOptLevel::Aggressive));
  if (machine == nullptr) return absl::InternalError("cannot generate code for NVIDIA GPUs");
  return machine;
}

void Optimize(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  // GPUs have threads instead of vectors. The code generator joins loads and stores of neighbouring elements, and loops
  // that gain by unrolling are emitted unrolled.
  tuning.LoopUnrolling = false;
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
}

absl::Status LinkDevice(llvm::Module& module, const std::string& shared, int64_t shared_bytes) {
  llvm::SMDiagnostic problem;
  const std::string text = absl::Substitute(kDeviceFunctions, shared, std::max<int64_t>(shared_bytes, 1));
  std::unique_ptr<llvm::Module> device = llvm::parseAssemblyString(text, problem, module.getContext());
  if (device == nullptr) return absl::InternalError(problem.getMessage().str());
  device->setTargetTriple(module.getTargetTriple());
  device->setDataLayout(module.getDataLayout());
  if (llvm::Linker::linkModules(module, std::move(device), llvm::Linker::LinkOnlyNeeded)) {
    return absl::InternalError("the functions of the device do not fit the kernel");
  }
  return absl::OkStatus();
}

void MarkEntries(llvm::Module& module, const std::vector<PtxEntry>& entries) {
  llvm::LLVMContext& context = module.getContext();
  for (llvm::Function& f : module) {
    if (!f.isDeclaration()) f.setLinkage(llvm::GlobalValue::InternalLinkage);
  }
  llvm::NamedMDNode* annotations = module.getOrInsertNamedMetadata("nvvm.annotations");
  auto annotate = [&](llvm::Function* f, const char* name, int64_t value) {
    llvm::Metadata* fields[] = {
        llvm::ConstantAsMetadata::get(f), llvm::MDString::get(context, name),
        llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), value))};
    annotations->addOperand(llvm::MDNode::get(context, fields));
  };
  for (const PtxEntry& entry : entries) {
    llvm::Function* f = module.getFunction(entry.symbol);
    f->setLinkage(llvm::GlobalValue::ExternalLinkage);
    annotate(f, "kernel", 1);
    annotate(f, "maxntidx", entry.block);
    if (entry.blocks_per_processor > 0) annotate(f, "minctasm", entry.blocks_per_processor);
  }
}

// True if LLVM writes the same instructions for every architecture. Of the instructions that emitted code uses, newer
// architectures add those for 16-bit floats, and a maximum that keeps NaN.
bool IsSameForAllArchs(const llvm::Module& module) {
  auto narrow = [](const llvm::Value& v) {
    const llvm::Type* type = v.getType()->getScalarType();
    return type->isBFloatTy() || type->isHalfTy();
  };
  for (const llvm::Function& f : module) {
    if (f.getIntrinsicID() == llvm::Intrinsic::maximum || f.getIntrinsicID() == llvm::Intrinsic::minimum) return false;
    for (const llvm::Instruction& i : llvm::instructions(f)) {
      if (narrow(i) || llvm::any_of(i.operand_values(), [&](const llvm::Value* v) { return narrow(*v); })) return false;
    }
  }
  return true;
}

// Optimises `module` in place and returns its PTX.
absl::StatusOr<std::string> Emit(llvm::Module& module, const Arch& arch) {
  TD_ASSIGN_OR_RETURN(std::unique_ptr<llvm::TargetMachine> machine, MakeTargetMachine(arch));
  llvm::SmallVector<char, 0> buffer;
  llvm::raw_svector_ostream stream(buffer);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile)) {
    return absl::InternalError("LLVM cannot write PTX");
  }
  passes.run(module);
  std::string text(buffer.begin(), buffer.end());
  constexpr char kEndOfHeader[] = ".address_size 64\n";
  const size_t end = text.find(kEndOfHeader);
  if (end == std::string::npos) return absl::InternalError("LLVM wrote PTX of an unknown form");
  text.erase(0, end + sizeof(kEndOfHeader) - 1);
  for (const char* bad : {".extern", ".local", ".func", "call.uni"}) {
    if (absl::StrContains(text, bad)) {
      return absl::InternalError(absl::StrCat("the code for ", arch.cpu, " has ", bad, ", which it must do without"));
    }
  }
  return text;
}

}  // namespace

absl::Status CheckPtxArch(int arch) {
  if (FindArch(arch) != nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("no code can be made for sm_", arch, ": use sm_75, which runs on every newer GPU, sm_80 or sm_90"));
}

absl::StatusOr<std::vector<std::string>> CompileToPtx(llvm::Module& module, const std::vector<PtxEntry>& entries,
                                                      int64_t shared_bytes, const std::vector<int>& archs) {
  for (int arch : archs) {
    TD_RETURN_IF_ERROR(CheckPtxArch(arch));
    if (arch < 80 && module.getFunction(kMultiplyAddFunction) != nullptr) {
      return absl::InvalidArgumentError(absl::StrCat("sm_", arch, " has no products of bfloat16 matrices: use sm_80"));
    }
  }
  TD_ASSIGN_OR_RETURN(std::unique_ptr<llvm::TargetMachine> machine, MakeTargetMachine(kArchs[0]));
  module.setTargetTriple(kTriple);
  module.setDataLayout(machine->createDataLayout());
  TD_RETURN_IF_ERROR(LinkDevice(module, absl::StrCat(entries.front().symbol, "_shared"), shared_bytes));
  MarkEntries(module, entries);
  Optimize(module, *machine);
  std::string problem;
  llvm::raw_string_ostream problems(problem);
  if (llvm::verifyModule(module, &problems)) {
    return absl::InternalError(absl::StrCat("LLVM made invalid code: ", problems.str()));
  }
  std::vector<std::string> result;
  if (archs.size() > 1 && IsSameForAllArchs(module)) {
    TD_ASSIGN_OR_RETURN(std::string text, Emit(module, *FindArch(archs[0])));
    return std::vector<std::string>(archs.size(), text);
  }
  for (size_t i = 0; i < archs.size(); ++i) {
    // LLVM remembers the annotations of every module that it asked for them under the module's and the functions'
    // addresses, until code has been written for that very module. So code must be written for every module: one
    // without would leave its annotations to a later module at the same addresses, whose kernels then would not be
    // kernels, or would have other sizes of blocks.
    const bool last = i + 1 == archs.size();
    std::unique_ptr<llvm::Module> copy = last ? nullptr : llvm::CloneModule(module);
    TD_ASSIGN_OR_RETURN(std::string text, Emit(last ? module : *copy, *FindArch(archs[i])));
    result.push_back(std::move(text));
  }
  return result;
}

std::string JoinPtx(int arch, const std::vector<absl::string_view>& kernels) {
  const Arch* found = FindArch(arch);
  std::string text = absl::StrCat(".version ", found->version, "\n.target ", found->cpu, "\n.address_size 64\n");
  for (absl::string_view kernel : kernels) absl::StrAppend(&text, kernel);
  return text;
}

}  // namespace tandem

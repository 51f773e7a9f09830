// Compiles programs for CPUs, whose kernels are object files that LLVM makes.
#include <iterator>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "passes/analysis/machine_model.h"
#include "passes/base/build_id.h"
#include "passes/codegen/compile.h"
#include "passes/codegen/cpu_target.h"
#include "passes/codegen/kernel_ir.h"
#include "passes/machine_code/compile_target.h"
#include "runtime/commands/lane_count.h"

namespace tandem {
namespace {

// Returns the sanitizer that kernels are compiled with.
absl::StatusOr<KernelSanitizer> SanitizerOf(const CompileOptions& options) {
  if (options.sanitize.empty()) return ProcessSanitizer();
  return ParseKernelSanitizer(options.sanitize);
}

class CpuCompileTarget final : public CompileTarget {
 public:
  CpuCompileTarget(CpuTarget cpu, bool native) : cpu_(std::move(cpu)), native_(native) {}

  std::string Name() const override { return absl::StrCat("cpu:", cpu_.cpu); }
  std::string Requirements() const override { return absl::StrCat("x86-64 ", absl::StrJoin(cpu_.required, " ")); }
  absl::string_view device_class() const override { return "cpu"; }
  std::string MachineModelName() const override {
    return MachineModelNameFor(cpu_.cpu, cpu_.vector_bits, cpu_.has_tiles);
  }

  format::InstructionSet LibraryInstructions() const override {
    if (cpu_.vector_bits < 512) return format::InstructionSet::kAvx2;
    if (native_ && !mixed_bfloat16_) return format::InstructionSet::kAny;
    if (cpu_.has_tiles) return format::InstructionSet::kAmx;
    return cpu_.has_avx512bf16 ? format::InstructionSet::kAvx512BFloat16 : format::InstructionSet::kAvx512;
  }

  std::vector<std::string> MissingHere() const override {
    absl::StatusOr<CpuTarget> host = HostCpuTarget();
    if (!host.ok()) return {};
    UseBFloat16(&*host);
    std::vector<std::string> missing;
    absl::c_set_difference(cpu_.required, host->required, std::back_inserter(missing));
    return missing;
  }

  exec::TargetAttr Attribute(mlir::MLIRContext* context) const override {
    return exec::TargetAttr::get(context, exec::Backend::kCpu, /*sm=*/0, cpu_.vector_bits, cpu_.native_bfloat16,
                                 cpu_.native_tiles);
  }

  std::string CodeKey(const CompileOptions& options) const override {
    const absl::StatusOr<KernelSanitizer> sanitizer = SanitizerOf(options);
    const bool sanitized = sanitizer.ok() && *sanitizer != KernelSanitizer::kNone;
    return absl::StrCat(cpu_.cpu, cpu_.features, sanitized ? tandem::Name(*sanitizer) : "");
  }

  absl::Status UseMixedBfloat16() override {
    if (cpu_.vector_bits < 512) {
      return absl::UnimplementedError(
          "precision mixed_bfloat16 needs a CPU with AVX-512: without it there are no fast bfloat16 convolutions; use "
          "float32");
    }
    mixed_bfloat16_ = true;
    UseBFloat16(&cpu_);
    return absl::OkStatus();
  }

  absl::Status CheckRows(const CompileOptions& options) const override {
    return CheckLaneCount(options.lanes, static_cast<int64_t>(options.devices.size()));
  }

  absl::StatusOr<MachineCode> MakeCode(mlir::ModuleOp module, const CompileOptions& options,
                                       const std::string& kernel_dir) const override {
    TD_ASSIGN_OR_RETURN(const KernelSanitizer sanitizer, SanitizerOf(options));
    TD_ASSIGN_OR_RETURN(std::vector<CompiledKernel> kernels,
                        CompileKernels(module, cpu_, options.threads, KernelCache(kernel_dir), BuildId(), sanitizer));
    MachineCode code;
    code.kernel_ir.emplace();
    for (CompiledKernel& k : kernels) {
      code.kernel_times.Add(absl::StrCat(k.name, k.cached ? " (cached)" : ""), k.seconds.total());
      code.stage_times.Add("loops from td ops", k.seconds.emit);
      code.stage_times.Add("functions of floats", k.seconds.lower);
      code.stage_times.Add("translation to LLVM IR", k.seconds.translate);
      code.stage_times.Add("LLVM's optimiser", k.seconds.optimize);
      code.stage_times.Add("LLVM's code generator", k.seconds.assemble);
      AppendKernelIr(k.name, k.bitcode, &*code.kernel_ir);
      code.kernels.push_back({k.name, k.symbol, std::move(k.elf_object), {}});
    }
    return code;
  }

 private:
  CpuTarget cpu_;
  bool native_;  // the target is the CPU of the compiling machine
  bool mixed_bfloat16_ = false;
};

}  // namespace

std::unique_ptr<CompileTarget> MakeCpuCompileTarget(absl::string_view name) {
  absl::StatusOr<CpuTarget> cpu = CpuTargetByName(name);
  if (!cpu.ok()) return nullptr;
  return std::make_unique<CpuCompileTarget>(*std::move(cpu), name == "native");
}

}  // namespace tandem

#include "passes/target.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "base/exit_code.h"
#include "base/status_macros.h"
#include "passes/analysis/machine_model.h"

namespace tandem {
namespace {

// The names are checked here: LLVM takes an unknown one with a warning and stops the process later.
constexpr int kArchitectures[] = {75, 80, 86, 87, 89, 90, 100, 103, 120};
constexpr absl::string_view kCpuPrefix = "cpu:", kCudaPrefix = "cuda:sm_";

std::string Allowed() {
  std::vector<std::string> names = CpuTargetNames();
  for (std::string& name : names) name = absl::StrCat(kCpuPrefix, name);
  for (int sm : kArchitectures) names.push_back(absl::StrCat(kCudaPrefix, sm));
  return absl::StrJoin(names, ", ");
}

exec::TargetAttr TargetOf(mlir::ModuleOp module) { return exec::CompileConfigAttr::of(module).getTarget(); }

}  // namespace

std::vector<int> CompileTarget::PtxArchitectures() const {
  if (!gpu) return {};
  return sm >= 90 ? std::vector<int>{75, 90} : std::vector<int>{75};
}

std::string CompileTarget::Name() const {
  return gpu ? absl::StrCat(kCudaPrefix, sm) : absl::StrCat(kCpuPrefix, cpu.cpu);
}

std::string CompileTarget::Requirements() const {
  return gpu ? absl::StrCat("cuda sm_", sm) : absl::StrCat("x86-64 ", absl::StrJoin(cpu.required, " "));
}

fb::InstructionSet CompileTarget::LibraryInstructions() const {
  if (gpu) return fb::InstructionSet::Any;
  if (cpu.vector_bits < 512) return fb::InstructionSet::Avx2;
  if (native && !mixed_bfloat16) return fb::InstructionSet::Any;
  if (cpu.has_tiles) return fb::InstructionSet::Amx;
  return cpu.has_avx512bf16 ? fb::InstructionSet::Avx512BFloat16 : fb::InstructionSet::Avx512;
}

absl::StatusOr<CompileTarget> ParseTarget(absl::string_view name) {
  CompileTarget target;
  absl::string_view number = name;
  if (absl::ConsumePrefix(&number, kCudaPrefix)) {
    const int* sm = std::find_if(std::begin(kArchitectures), std::end(kArchitectures),
                                 [&](int known) { return number == absl::StrCat(known); });
    if (sm != std::end(kArchitectures)) {
      target.gpu = true;
      target.sm = *sm;
      return target;
    }
  } else if (absl::ConsumePrefix(&number, kCpuPrefix)) {
    if (absl::StatusOr<CpuTarget> cpu = CpuTargetByName(number); cpu.ok()) {
      target.cpu = *std::move(cpu);
      target.native = number == "native";
      return target;
    }
  }
  return absl::InvalidArgumentError(absl::StrCat("unknown target \"", name, "\"; known are ", Allowed()));
}

absl::StatusOr<std::string> TargetForComputeCapability(int sm) {
  const int* newer = std::upper_bound(std::begin(kArchitectures), std::end(kArchitectures), sm);
  if (newer != std::begin(kArchitectures)) return absl::StrCat(kCudaPrefix, *(newer - 1));
  return WithExitCode(absl::FailedPreconditionError(absl::StrCat("a GPU of compute capability ", sm / 10, ".", sm % 10,
                                                                 " is too old: ", kArchitectures[0] / 10, ".",
                                                                 kArchitectures[0] % 10, " or newer is needed")),
                      kExitUsage);
}

exec::TargetAttr TargetAttribute(mlir::MLIRContext* context, const CompileTarget& target) {
  if (target.gpu)
    return exec::TargetAttr::get(context, exec::Backend::kCuda, target.sm, /*vector_bits=*/512, false, false);
  return exec::TargetAttr::get(context, exec::Backend::kCpu, /*sm=*/0, target.cpu.vector_bits,
                               target.cpu.native_bfloat16, target.cpu.native_tiles);
}

void SetTarget(mlir::ModuleOp module, const CompileTarget& target) {
  const exec::CompileConfigAttr config = exec::CompileConfigAttr::of(module);
  module->setAttr(exec::kConfigAttr, config.withTarget(TargetAttribute(module.getContext(), target)));
}

bool IsGpuTarget(mlir::ModuleOp module) {
  const exec::TargetAttr target = TargetOf(module);
  return target && target.getBackend() == exec::Backend::kCuda;
}

bool HasAvx512(mlir::ModuleOp module) {
  const exec::TargetAttr target = TargetOf(module);
  return !target || (target.getBackend() == exec::Backend::kCpu && target.getVectorBits() >= 512);
}

bool HasBFloat16Products(mlir::ModuleOp module) {
  const exec::TargetAttr target = TargetOf(module);
  return target && target.getBfloat16Products();
}

bool HasBFloat16Tiles(mlir::ModuleOp module) {
  const exec::TargetAttr target = TargetOf(module);
  return target && target.getBfloat16Tiles();
}

std::string MachineModelNameFor(const CompileTarget& target) {
  return target.gpu ? "h200" : MachineModelNameFor(target.cpu.cpu, target.cpu.vector_bits, target.cpu.has_tiles);
}

int64_t BufferAlignment(mlir::ModuleOp module) { return IsGpuTarget(module) ? 256 : 64; }

}  // namespace tandem

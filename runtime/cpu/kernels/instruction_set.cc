#include "runtime/cpu/kernels/instruction_set.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <mutex>

#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "base/tile_registers.h"
#include "oneapi/dnnl/dnnl.h"
#include "runtime/format/index.h"

namespace tandem {
namespace {

using format::InstructionSet;

InstructionSet OfMachine() {
  static const InstructionSet machine = [] {
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    if (!avx512) return InstructionSet::kAvx2;
    if (!__builtin_cpu_supports("avx512bf16")) return InstructionSet::kAvx512;
    const bool amx = __builtin_cpu_supports("amx-tile") && __builtin_cpu_supports("amx-bf16") && RequestTileRegisters();
    return amx ? InstructionSet::kAmx : InstructionSet::kAvx512BFloat16;
  }();
  return machine;
}

const char* CommonName(InstructionSet instructions) {
  constexpr const char* kNames[] = {"any", "AVX2", "AVX-512", "AVX-512 with bfloat16", "AMX"};
  return kNames[static_cast<int>(instructions)];
}

dnnl_cpu_isa_t OneDnnLimit(InstructionSet instructions) {
  constexpr dnnl_cpu_isa_t kLimits[] = {dnnl_cpu_isa_default, dnnl_cpu_isa_avx2, dnnl_cpu_isa_avx512_core,
                                        dnnl_cpu_isa_avx512_core_bf16, dnnl_cpu_isa_avx512_core_amx};
  return kLimits[static_cast<int>(instructions)];
}

std::mutex mutex;
std::atomic<InstructionSet> in_use{InstructionSet::kAny};  // kAny as long as no program has set a limit

InstructionSet InUse() {
  const InstructionSet set = in_use;
  return set == InstructionSet::kAny ? OfMachine() : set;
}

}  // namespace

absl::Status UseInstructions(InstructionSet instructions) {
  if (!Known(instructions)) {
    return absl::DataLossError(
        absl::StrCat("instruction set ", static_cast<int>(instructions), " is none that this version knows"));
  }
  std::lock_guard<std::mutex> lock(mutex);
  const InstructionSet machine = OfMachine();
  const bool any = instructions == InstructionSet::kAny;
  const InstructionSet set = any ? machine : std::min(instructions, machine);
  const InstructionSet before = in_use;
  if (before == InstructionSet::kAny) {
    if (set != machine && dnnl_set_max_cpu_isa(OneDnnLimit(set)) != dnnl_success) {
      return WithExitCode(
          absl::FailedPreconditionError(absl::StrCat("a program for ", CommonName(set),
                                                     " has to be compiled or loaded before this process uses "
                                                     "oneDNN for anything else, which keeps it at ",
                                                     CommonName(machine))),
          kExitUsage);
    }
    in_use = set;
    return absl::OkStatus();
  }
  if (before == set || (any && before >= InstructionSet::kAvx512)) return absl::OkStatus();
  return WithExitCode(
      absl::FailedPreconditionError(absl::StrCat(
          "a program for ", CommonName(set), " cannot be compiled or loaded in a process that has one for ",
          CommonName(before), ": oneDNN computes with one set of instructions. Use a process for each target")),
      kExitUsage);
}

bool UsesAvx512() { return InUse() >= InstructionSet::kAvx512; }
bool UsesAvx512BFloat16() { return InUse() >= InstructionSet::kAvx512BFloat16; }

}  // namespace tandem

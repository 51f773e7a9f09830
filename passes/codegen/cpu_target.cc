#include "passes/codegen/cpu_target.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/tile_registers.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

namespace tandem {
namespace {

// Features that change which instructions LLVM selects for kernels; others (crypto, tsx, ...) do not matter.
constexpr const char* kKernelFeatures[] = {"avx",     "avx2",     "avx512bw", "avx512cd", "avx512dq",
                                           "avx512f", "avx512vl", "bmi",      "bmi2",     "f16c",
                                           "fma",     "lzcnt",    "popcnt",   "sse4.1",   "sse4.2"};

struct KnownCpu {
  const char* name;  // the name, which is LLVM's too
  const char* vendor;
  bool avx512, bfloat16, tiles;
};
constexpr KnownCpu kKnown[] = {
    {"x86-64-v3", "any", false, false, false},     // AVX2 and FMA
    {"x86-64-v4", "any", true, false, false},      // AVX-512
    {"cooperlake", "Intel", true, true, false},    // AVX-512 with conversions to bfloat16
    {"znver4", "AMD", true, true, false},          // AVX-512 with conversions to bfloat16
    {"sapphirerapids", "Intel", true, true, true}  // AVX-512 with conversions to bfloat16, and its tiles (AMX)
};

CpuTarget Fixed(const KnownCpu& known) {
  CpuTarget target;
  target.triple = "x86_64-unknown-linux-gnu";
  target.cpu = known.name;
  target.vendor = known.vendor;
  target.vector_bits = known.avx512 ? 512 : 256;
  target.has_fma = true;
  target.has_avx512bf16 = known.bfloat16;
  target.has_tiles = known.tiles;
  for (absl::string_view f : kKernelFeatures) {
    if (!known.avx512 && absl::StartsWith(f, "avx512")) continue;
    absl::StrAppend(&target.features, target.features.empty() ? "+" : ",+", f);
    target.required.emplace_back(f);
  }
  return target;
}

}  // namespace

absl::StatusOr<CpuTarget> HostCpuTarget() {
  CpuTarget target;
  target.triple = llvm::sys::getProcessTriple();
  target.cpu = llvm::sys::getHostCPUName().str();
  __builtin_cpu_init();
  target.vendor = __builtin_cpu_is("intel") ? "Intel" : __builtin_cpu_is("amd") ? "AMD" : "another";
  llvm::StringMap<bool> have = llvm::sys::getHostCPUFeatures();
  if (have.empty()) return absl::UnimplementedError("the CPU's features cannot be found out on this machine");
  // Only kKernelFeatures are switched on, so that kernels are the same on every machine that has these.
  for (const char* f : kKernelFeatures) {
    bool on = have.lookup(f);
    absl::StrAppend(&target.features, target.features.empty() ? "" : ",", on ? "+" : "-", f);
    if (on) target.required.push_back(f);
  }
  target.has_fma = have.lookup("fma");
  target.has_avx512bf16 = have.lookup("avx512bf16");
  target.has_tiles = have.lookup("amx-tile") && have.lookup("amx-bf16") && RequestTileRegisters();
  target.vector_bits = have.lookup("avx512f") && have.lookup("avx512vl") ? 512 : have.lookup("avx2") ? 256 : 128;
  return target;
}

std::vector<std::string> CpuTargetNames() {
  std::vector<std::string> names = {"native"};
  for (const KnownCpu& known : kKnown) names.push_back(known.name);
  return names;
}

absl::StatusOr<CpuTarget> CpuTargetByName(absl::string_view name) {
  if (name == "native") return HostCpuTarget();
  for (const KnownCpu& known : kKnown) {
    if (name == known.name) return Fixed(known);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("unknown CPU \"", name, "\"; known are ", absl::StrJoin(CpuTargetNames(), ", ")));
}

void UseBFloat16(CpuTarget* target) {
  if (!target->has_avx512bf16 || target->native_bfloat16) return;
  target->native_bfloat16 = true;
  target->features += ",+avx512bf16";
  target->required.push_back("avx512bf16");
  if (target->has_tiles) {
    target->native_tiles = true;
    target->features += ",+amx-bf16,+amx-tile";
    target->required.insert(target->required.end(), {"amx-bf16", "amx-tile"});
  }
  std::sort(target->required.begin(), target->required.end());
}

}  // namespace tandem

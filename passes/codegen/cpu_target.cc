#include "passes/codegen/cpu_target.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/tile_registers.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

namespace tandem {
namespace {

// Features that change which instructions LLVM selects for our kernels; others (crypto, tsx, ...) do not matter.
constexpr const char* kKernelFeatures[] = {"avx",     "avx2",     "avx512bw", "avx512cd", "avx512dq",
                                           "avx512f", "avx512vl", "bmi",      "bmi2",     "f16c",
                                           "fma",     "lzcnt",    "popcnt",   "sse4.1",   "sse4.2"};

CpuTarget Fixed(const std::string& cpu, std::vector<std::string> features, int vector_bits) {
  CpuTarget target;
  target.triple = "x86_64-unknown-linux-gnu";
  target.cpu = cpu;
  target.vector_bits = vector_bits;
  target.has_fma = true;
  for (const std::string& f : features) absl::StrAppend(&target.features, target.features.empty() ? "+" : ",+", f);
  target.required = std::move(features);
  return target;
}

}  // namespace

absl::StatusOr<CpuTarget> HostCpuTarget() {
  CpuTarget target;
  target.triple = llvm::sys::getProcessTriple();
  target.cpu = llvm::sys::getHostCPUName().str();
  llvm::StringMap<bool> have = llvm::sys::getHostCPUFeatures();
  if (have.empty()) return absl::UnimplementedError("the CPU's features cannot be found out on this machine");
  // Only the features above are switched on: the same kernels come out on any machine that has them.
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

absl::StatusOr<CpuTarget> CpuTargetByName(absl::string_view name) {
  std::vector<std::string> avx2 = {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "popcnt", "sse4.1", "sse4.2"};
  if (name == "host") return HostCpuTarget();
  if (name == "avx2") return Fixed("x86-64-v3", avx2, 256);
  if (name == "avx512" || name == "avx512bf16" || name == "amx") {
    CpuTarget target = Fixed("x86-64-v4",
                             {"avx", "avx2", "avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl", "bmi", "bmi2",
                              "f16c", "fma", "lzcnt", "popcnt", "sse4.1", "sse4.2"},
                             512);
    target.has_avx512bf16 = name != "avx512";
    target.has_tiles = name == "amx";
    return target;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "unknown CPU target '", name, "'; known are \"host\", \"amx\", \"avx512bf16\", \"avx512\" and \"avx2\""));
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

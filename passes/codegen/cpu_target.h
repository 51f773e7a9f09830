// The CPU that kernels are compiled for.
#ifndef TANDEM_PASSES_CODEGEN_CPU_TARGET_H_
#define TANDEM_PASSES_CODEGEN_CPU_TARGET_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tandem {

struct CpuTarget {
  std::string triple;            // "x86_64-unknown-linux-gnu"
  std::string cpu;               // LLVM's name, "znver4"
  std::string vendor;            // "AMD", "Intel"; "any" for a level (x86-64-v3) that CPUs of several vendors have
  std::string features;          // LLVM's form, "+avx,+avx2,-sse4a"
  int vector_bits = 256;         // preferred register width
  bool has_fma = false;          // fused multiply-add in hardware
  bool has_avx512bf16 = false;   // the CPU can convert to bfloat16; `features` lacks this until UseBFloat16
  bool native_bfloat16 = false;  // code may use that conversion (UseBFloat16)
  // The CPU multiplies tiles of bfloat16 numbers (AMX). `features` lacks this until UseBFloat16.
  bool has_tiles = false;
  bool native_tiles = false;  // code may use tiles (UseBFloat16)
  // Features that code for this target may use, in /proc/cpuinfo's spelling, sorted ("avx2", "avx512f", "fma"): what a
  // machine must have to run it. Written into executables.
  std::vector<std::string> required;
};

// Returns the target for the machine that the compiler runs on.
absl::StatusOr<CpuTarget> HostCpuTarget();
// Returns the target of a name: "native" for the machine that the compiler runs on, or "x86-64-v3", "x86-64-v4",
// "cooperlake", "znver4", "sapphirerapids" for another machine. InvalidArgument, listing all, for anything else.
absl::StatusOr<CpuTarget> CpuTargetByName(absl::string_view name);
std::vector<std::string> CpuTargetNames();
// Lets code for the target use the CPU's conversion to bfloat16 and its tiles, if the CPU has them. Code requires them
// then.
void UseBFloat16(CpuTarget* target);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_CPU_TARGET_H_

// Description of the CPU that kernels are compiled for.
#ifndef TANDEM_PASSES_CODEGEN_CPU_TARGET_H_
#define TANDEM_PASSES_CODEGEN_CPU_TARGET_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tandem {

struct CpuTarget {
  std::string triple;     // "x86_64-unknown-linux-gnu"
  std::string cpu;        // LLVM's name, "znver4"
  std::string features;   // LLVM's form, "+avx,+avx2,-sse4a"
  int vector_bits = 256;  // preferred register width
  bool has_fma = false;   // fused multiply-add in hardware
  // Features that code for this target may use, in /proc/cpuinfo's spelling, sorted ("avx2", "avx512f", "fma"): what a
  // machine must have to run it. Written into executables.
  std::vector<std::string> required;
};

// The machine that the compiler runs on.
absl::StatusOr<CpuTarget> HostCpuTarget();
// "host", or one of the fixed descriptions "avx512" and "avx2" (for tests and for compiling for another machine).
absl::StatusOr<CpuTarget> CpuTargetByName(absl::string_view name);
// Features in `target.required` that this machine lacks; empty when it can run the code.
std::vector<std::string> MissingFeatures(const CpuTarget& target);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_CPU_TARGET_H_

// KernelText, the description of a kernel in one line, and other helpers of commands that launch kernels.
#ifndef TANDEM_RUNTIME_COMMANDS_KERNEL_TEXT_H_
#define TANDEM_RUNTIME_COMMANDS_KERNEL_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/format/index.h"

namespace tandem {

// Returns a text such as "kernel_3 row: td.add td.relu".
inline std::string KernelText(const format::Kernel& kernel) {
  return absl::StrCat(kernel.name, " ", kernel.skeleton, ": ", absl::StrJoin(kernel.ops, " "));
}

// Returns the scratch bytes of a GPU's kernel; 0 for a CPU's.
inline uint64_t ScratchBytes(const format::Kernel& kernel) { return kernel.gpu ? kernel.gpu->scratch_bytes : 0; }

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COMMANDS_KERNEL_TEXT_H_

// The optimised LLVM IR of kernels as an executable keeps it (phase `codegen`): as bitcode, because writing text takes
// longer than optimising does; text is made when somebody wants to see it.
#ifndef TANDEM_PASSES_CODEGEN_KERNEL_IR_H_
#define TANDEM_PASSES_CODEGEN_KERNEL_IR_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tandem {

// Appends a kernel to `all`, the bytes that KernelIrText reads.
void AppendKernelIr(absl::string_view name, absl::string_view bitcode, std::string* all);

// Returns "; NAME" and LLVM IR for each kernel, in order. DataLossError for bytes that are no such list or no bitcode.
// LLVM checks the structure of bitcode but was not written to withstand an attacker: do not call this on files of
// strangers.
absl::StatusOr<std::string> KernelIrText(absl::string_view all);

// Returns one kernel's bitcode as text.
absl::StatusOr<std::string> LlvmIrText(absl::string_view bitcode);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_KERNEL_IR_H_

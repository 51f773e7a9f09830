// The semantic check of an executable's index. After it, the runtime follows indices and adds offsets without further
// checks.
#ifndef TANDEM_RUNTIME_EXECUTABLE_EXECUTABLE_VERIFY_H_
#define TANDEM_RUNTIME_EXECUTABLE_EXECUTABLE_VERIFY_H_

#include <string>

#include "absl/status/status.h"
#include "runtime/format/index.h"

namespace tandem {

// Checks that every index is in range, every enumeration value known, every buffer inside its space and as large as its
// shape says, every command made of operands that its body and section allow, and that lanes, rows and replicas fit
// together. Launches have the operands and results that the kernel's description says, of its types and sizes; the
// description is bound to the kernel's code by a checksum (kernel_entry.h).
// For GPUs it also checks that launches are possible, and that segments hold every command once and in an order that
// respects memory dependencies (command_dependencies.h). Not checked: that the machine code of kernels does what their
// descriptions say, and packed weights' sizes (the library that packs checks them). Errors: DataLoss (exit code 65)
// "<name>: <field>: <what>". `index` has the tables that the schema calls optional: Executable adds them.
absl::Status VerifyExecutable(const format::Index& index, const std::string& name);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_EXECUTABLE_EXECUTABLE_VERIFY_H_

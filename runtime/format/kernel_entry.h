// A checksum that ties a kernel's machine code to its description in the index.
#ifndef TANDEM_RUNTIME_FORMAT_KERNEL_ENTRY_H_
#define TANDEM_RUNTIME_FORMAT_KERNEL_ENTRY_H_

#include <cstdint>

#include "runtime/format/index.h"

namespace tandem {

// Returns the checksum of a kernel's symbol, domain, arguments, count and launch, and of the code in `kernel.segment`,
// for which it uses the checksum in `index.segments`. BuildExecutable stores the result when it puts the description
// and the code of a kernel together. If it differs later, the code has been paired with another kernel's description.
uint32_t KernelEntryChecksum(const format::Index& index, const format::Kernel& kernel);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_FORMAT_KERNEL_ENTRY_H_

// What ties a kernel's machine code to what the index says that it takes.
#ifndef TANDEM_RUNTIME_KERNEL_ENTRY_H_
#define TANDEM_RUNTIME_KERNEL_ENTRY_H_

#include <cstdint>

#include "runtime/format/index.h"

namespace tandem {

// The checksum of a kernel's symbols, domain, arguments, count and launch, and of the code that `kernel.segment` (and
// its walk on a CPU) holds, as the checksums in `index.segments`. It is written when code generation's description and
// code are put together (BuildExecutable); where it differs, code was paired with another kernel's description.
uint32_t KernelEntryChecksum(const format::Index& index, const format::Kernel& kernel);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_KERNEL_ENTRY_H_

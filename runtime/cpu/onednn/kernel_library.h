// What the compiler asks about library calls of CPUs.
#ifndef TANDEM_RUNTIME_CPU_ONEDNN_KERNEL_LIBRARY_H_
#define TANDEM_RUNTIME_CPU_ONEDNN_KERNEL_LIBRARY_H_

#include "runtime/session/kernel_library.h"

namespace tandem {

const KernelLibrary& CpuKernelLibrary();

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_ONEDNN_KERNEL_LIBRARY_H_

// What the compiler asks about library calls of GPUs.
#ifndef TANDEM_RUNTIME_CUDA_DEVICE_KERNEL_LIBRARY_H_
#define TANDEM_RUNTIME_CUDA_DEVICE_KERNEL_LIBRARY_H_

#include "runtime/session/kernel_library.h"

namespace tandem {

const KernelLibrary& CudaKernelLibrary();

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_DEVICE_KERNEL_LIBRARY_H_

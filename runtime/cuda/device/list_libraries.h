// The libraries with which GPUs compute.
#ifndef TANDEM_RUNTIME_CUDA_DEVICE_LIST_LIBRARIES_H_
#define TANDEM_RUNTIME_CUDA_DEVICE_LIST_LIBRARIES_H_

#include <vector>

#include "base/loaded_library.h"

namespace tandem {

// Returns the CUDA driver and NVIDIA's libraries, each with a reason if it is not found at run time.
std::vector<LoadedLibrary> ListCudaLibraries();

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_DEVICE_LIST_LIBRARIES_H_

// The calls that allocate memory of a GPU, or pinned memory, and free it: one at a time in a process.
//
// The driver may let such a call wait until the process' GPUs have done their work, and lets launches wait for the call
// meanwhile. Between a collective's launches on several GPUs this is a deadlock: its kernel on the first GPU runs until
// the one on the second GPU starts. So a group of collectives blocks these calls while it starts.
#ifndef TANDEM_RUNTIME_CUDA_DRIVER_MEMORY_CALLS_H_
#define TANDEM_RUNTIME_CUDA_DRIVER_MEMORY_CALLS_H_

#include <cstddef>
#include <mutex>

#include "runtime/cuda/driver/cuda_types.h"
#include "runtime/cuda/driver/driver_api.h"

namespace tandem {

// Call the driver's functions of these names. Thread-safe; must not be called while the thread holds the mutex.
CUresult MemAlloc(const DriverApi& driver, CUdeviceptr* address, size_t bytes);
CUresult MemFree(const DriverApi& driver, CUdeviceptr address);
CUresult MemHostAlloc(const DriverApi& driver, void** address, size_t bytes, unsigned flags);
CUresult MemFreeHost(const DriverApi& driver, void* address);

// Returns the mutex that MemAlloc, MemFree, MemHostAlloc and MemFreeHost hold while they run.
std::timed_mutex& MemoryCallsMutex();

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_DRIVER_MEMORY_CALLS_H_

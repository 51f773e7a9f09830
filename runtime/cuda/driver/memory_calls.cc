#include "runtime/cuda/driver/memory_calls.h"

namespace tandem {

std::timed_mutex& MemoryCallsMutex() {
  static auto& mutex = *new std::timed_mutex;
  return mutex;
}

CUresult MemAlloc(const DriverApi& driver, CUdeviceptr* address, size_t bytes) {
  std::lock_guard lock(MemoryCallsMutex());
  return driver.cuMemAlloc_v2(address, bytes);
}

CUresult MemFree(const DriverApi& driver, CUdeviceptr address) {
  std::lock_guard lock(MemoryCallsMutex());
  return driver.cuMemFree_v2(address);
}

CUresult MemHostAlloc(const DriverApi& driver, void** address, size_t bytes, unsigned flags) {
  std::lock_guard lock(MemoryCallsMutex());
  return driver.cuMemHostAlloc(address, bytes, flags);
}

CUresult MemFreeHost(const DriverApi& driver, void* address) {
  std::lock_guard lock(MemoryCallsMutex());
  return driver.cuMemFreeHost(address);
}

}  // namespace tandem

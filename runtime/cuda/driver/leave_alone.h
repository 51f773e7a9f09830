// Keeps objects of a GPU that does not answer, or was lost, from being destroyed.
#ifndef TANDEM_RUNTIME_CUDA_DRIVER_LEAVE_ALONE_H_
#define TANDEM_RUNTIME_CUDA_DRIVER_LEAVE_ALONE_H_

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace tandem {

// Keeps `owned` until the end of the process: destroying it would call the driver, which could wait for the GPU for
// ever. Null is allowed. Thread-safe.
template <typename T>
void LeaveAlone(std::unique_ptr<T> owned) {
  static auto& mutex = *new std::mutex;
  static auto& left = *new std::vector<std::unique_ptr<T>>;
  std::lock_guard lock(mutex);
  left.push_back(std::move(owned));
}

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_DRIVER_LEAVE_ALONE_H_

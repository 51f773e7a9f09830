// Copies batches to the GPUs before their step begins.
#ifndef TANDEM_RUNTIME_CUDA_RUN_BATCH_PREFETCHER_H_
#define TANDEM_RUNTIME_CUDA_RUN_BATCH_PREFETCHER_H_

#include <array>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/status.h"
#include "runtime/cuda/run/gpu_replica.h"
#include "runtime/session/session.h"

namespace tandem {

// Holds two batches at most. Thread-safe: one thread may call Prefetch while another calls Take.
class BatchPrefetcher {
 public:
  // `replicas` are those of this process, and must outlive the prefetcher. The other arguments are those of
  // ResolveStepInputs.
  BatchPrefetcher(const Executable& executable, const std::vector<std::unique_ptr<GpuReplica>>& replicas,
                  int first_replica, int processes)
      : executable_(executable), replicas_(replicas), first_replica_(first_replica), processes_(processes) {}

  // Copies the inputs into the prefetcher's own memory on the devices, and returns when they are there. If two batches
  // are waiting already, the older one is dropped. Take returns errors of the copies. Once memory has run out,
  // further calls do nothing.
  void Prefetch(const StepInputs& inputs);

  // If these very tensors were prefetched, queues their copies into the program's inputs on the compute streams, and
  // returns true. If another thread is prefetching them, waits for it.
  absl::StatusOr<bool> Take(const StepInputs& inputs);
  // Frees the memory of the batch that Take has found. Must be called when the step that uses the batch is done.
  void Release();

 private:
  enum class State { kFree, kFilling, kReady, kTaken };
  struct Place {  // a batch's memory on one replica's device, and the stream that copies it there
    Place() = default;
    Place(Place&&) = default;
    ~Place();  // waits for the copies that are queued

    PinnedMemory host;
    CudaMemory device;
    CudaStream stream;
  };
  struct Slot {
    State state = State::kFree;
    StepInputs inputs;  // holds references to the tensors, so that equal addresses mean equal tensors
    uint64_t age = 0;
    absl::Status status;
    std::vector<Place> places;
  };
  absl::Status Fill(Slot& slot);
  absl::Status FillReplica(const std::vector<HostTensor>& inputs, GpuReplica& replica, Place& place);

  const Executable& executable_;
  const std::vector<std::unique_ptr<GpuReplica>>& replicas_;
  const int first_replica_, processes_;
  std::mutex mutex_;
  std::condition_variable filled_;
  std::array<Slot, 2> slots_;
  uint64_t next_age_ = 0;
  bool disabled_ = false;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_RUN_BATCH_PREFETCHER_H_

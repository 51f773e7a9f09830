// Brings batches to the GPUs before their step begins.
#ifndef TANDEM_RUNTIME_CUDA_BATCH_PREFETCHER_H_
#define TANDEM_RUNTIME_CUDA_BATCH_PREFETCHER_H_

#include <array>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/status.h"
#include "runtime/cuda/gpu_replica.h"
#include "runtime/session.h"

namespace tandem {

// Two batches at most. Thread-safe: one thread brings, another takes.
class BatchPrefetcher {
 public:
  // The replicas, those of this process, must outlive the prefetcher. The others as for ResolveStepInputs.
  BatchPrefetcher(const Executable& executable, const std::vector<std::unique_ptr<GpuReplica>>& replicas,
                  int first_replica, int processes)
      : executable_(executable), replicas_(replicas), first_replica_(first_replica), processes_(processes) {}

  // Copies the inputs into memory of its own on the devices, and returns when they are there. Where two batches wait
  // already, the older one is forgotten. Errors are kept for Take; memory that is not to be had ends prefetching.
  void Prefetch(const StepInputs& inputs);

  // Queues, on the compute streams, the copies of the batch into the program's inputs, if these very tensors were
  // brought: true then. Waits while they are being brought.
  absl::StatusOr<bool> Take(const StepInputs& inputs);
  // The step that took a batch is done.
  void Release();

 private:
  enum class State { kFree, kFilling, kReady, kTaken };
  struct Place {  // of one replica
    Place() = default;
    Place(Place&&) = default;
    ~Place();  // waits for what is queued

    PinnedMemory host;
    CudaMemory device;
    CudaStream stream;
  };
  struct Slot {
    State state = State::kFree;
    StepInputs inputs;  // keeps the tensors, so that equal addresses mean equal tensors
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

#endif  // TANDEM_RUNTIME_CUDA_BATCH_PREFETCHER_H_

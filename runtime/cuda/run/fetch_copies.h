// Copies fetched tensors with rows to the host, each after the part of the step that writes it.
#ifndef TANDEM_RUNTIME_CUDA_RUN_FETCH_COPIES_H_
#define TANDEM_RUNTIME_CUDA_RUN_FETCH_COPIES_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "runtime/cuda/plan/segment_plan.h"
#include "runtime/cuda/run/gpu_replica.h"
#include "runtime/session/step_inputs.h"

namespace tandem {

// Copies are queued, to pinned memory, after the last segment that writes the tensor. If that is the step's last
// segment, they follow it on the compute stream. Otherwise they have a stream of their own: with several replicas,
// predictions are copied while the backward pass runs. Outputs that would make a replica's copies exceed `kMostBytes`
// stay on the device, to be read when the step is done.
class FetchCopies {
 public:
  static constexpr uint64_t kMostBytes = uint64_t{64} << 20;

  // The arguments must outlive the object.
  FetchCopies(const Executable& executable, const SegmentPlan& plan,
              const std::vector<std::unique_ptr<GpuReplica>>& replicas);
  // Waits for the copies that are queued.
  ~FetchCopies();

  // Sets which outputs the next step copies. Allocates memory for those that have none yet.
  absl::Status Begin(const std::vector<int>& fetches, const std::vector<ReplicaInputs>& inputs);
  // True if the step copies anything; if not, the calls below are not needed.
  bool active() const { return !fetches_.empty(); }
  // To be called in the replica's context when segment `segment` of the plan has been issued there: queues the copies
  // of outputs whose last writer is this segment.
  absl::Status AfterSegment(uint32_t segment, size_t replica);
  // To be called when all segments have been issued: makes the compute stream wait for the copies.
  absl::Status Join(size_t replica);
  // Returns a replica's rows of an output, once its compute stream has done its work; null if the output was not
  // copied.
  const uint8_t* Rows(int output, size_t replica) const;

 private:
  struct Place {
    uint64_t offset = 0, bytes = 0;  // offset in the pinned memory; bytes of the replica's rows in this step
  };
  struct Replica {
    CudaStream stream;
    CudaEvent event;
    PinnedMemory host;
    uint64_t host_bytes = 0;
    std::vector<Place> places;  // indexed like `fetches_`
    bool aside = false;         // true if copies were queued on `stream` in this step
  };

  const format::Index& index_;
  const format::Program& program_;
  const std::vector<std::unique_ptr<GpuReplica>>& gpu_replicas_;
  std::vector<int> segments_;  // indexed by output: the last segment that writes it, or -1
  int last_segment_ = -1;
  std::vector<Replica> replicas_;
  std::vector<int> fetches_;  // outputs that this step copies
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_RUN_FETCH_COPIES_H_

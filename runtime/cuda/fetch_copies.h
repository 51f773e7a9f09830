// Fetched tensors with rows on their way to the host, behind the part of the step that makes them.
#ifndef TANDEM_RUNTIME_CUDA_FETCH_COPIES_H_
#define TANDEM_RUNTIME_CUDA_FETCH_COPIES_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "runtime/cuda/gpu_replica.h"
#include "runtime/cuda/segment_plan.h"
#include "runtime/step_inputs.h"

namespace tandem {

// Copies go to pinned memory behind the last segment that writes the tensor. Where that is the step's last they follow
// it on the compute stream; else they have a stream of their own: with several replicas predictions travel while the
// backward pass runs. Outputs beyond `kMostBytes` of a replica stay where they are, to be read when the step is done.
class FetchCopies {
 public:
  static constexpr uint64_t kMostBytes = uint64_t{64} << 20;

  // The arguments must outlive the object.
  FetchCopies(const Executable& executable, const SegmentPlan& plan,
              const std::vector<std::unique_ptr<GpuReplica>>& replicas);
  // Waits for what is queued.
  ~FetchCopies();

  // What the step that is issued next shall bring. Allocates what has not been allocated for these outputs.
  absl::Status Begin(const std::vector<int>& fetches, const std::vector<ReplicaInputs>& inputs);
  // Whether the step brings anything: where it does not, the calls below are not needed.
  bool active() const { return !fetches_.empty(); }
  // In the replica's context, when segment `segment` of the plan was issued there: queues the copies that wait for
  // nothing later.
  absl::Status AfterSegment(uint32_t segment, size_t replica);
  // When all were: the compute stream ends after the copies.
  absl::Status Join(size_t replica);
  // A replica's rows, when its compute stream has done its work; null where the output was not copied.
  const uint8_t* Rows(int output, size_t replica) const;

 private:
  struct Place {
    uint64_t offset = 0, bytes = 0;  // in the pinned memory; of the replica's rows in this step
  };
  struct Replica {
    CudaStream stream;
    CudaEvent event;
    PinnedMemory host;
    uint64_t host_bytes = 0;
    std::vector<Place> places;  // by fetch of `fetches_`
    bool aside = false;         // copies were queued on the stream
  };

  const format::Index& index_;
  const format::Program& program_;
  const std::vector<std::unique_ptr<GpuReplica>>& gpu_replicas_;
  std::vector<int> segments_;  // by output: the last that writes it, or -1
  int last_segment_ = -1;
  std::vector<Replica> replicas_;
  std::vector<int> fetches_;  // that this step copies
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_FETCH_COPIES_H_

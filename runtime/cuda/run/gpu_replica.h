// A replica of a program on its GPU: memory, streams, and the work before and after its commands.
#ifndef TANDEM_RUNTIME_CUDA_RUN_GPU_REPLICA_H_
#define TANDEM_RUNTIME_CUDA_RUN_GPU_REPLICA_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/cuda/device/cuda_device.h"
#include "runtime/cuda/plan/replica_memory.h"
#include "runtime/cuda/plan/segment_plan.h"
#include "runtime/cuda/run/command_issuer.h"
#include "runtime/session/step_inputs.h"

namespace tandem {

// All calls make the device's context current.
class GpuReplica {
 public:
  // The arguments must outlive the replica.
  static absl::StatusOr<std::unique_ptr<GpuReplica>> Create(const Executable& executable, int index,
                                                            std::shared_ptr<CudaDevice> device,
                                                            VariableStore& variables, const SegmentPlan& plan,
                                                            DeviceProgram& program);

  // Waits for the work that is queued, unless the device was lost.
  ~GpuReplica();

  CudaDevice& device() const { return memory_->device(); }
  const std::shared_ptr<CudaDevice>& shared_device() const { return memory_->shared_device(); }
  const ReplicaMemory& memory() const { return *memory_; }
  CommandIssuer& issuer() { return *issuer_; }
  CUstream stream(format::Stream stream) const {
    return stream == format::Stream::kCompute ? compute_.get() : communication_.get();
  }

  // The pinned memory that IssueHead copies from: scalars, then inputs (StagingLayout).
  uint8_t* host_staging() const { return static_cast<uint8_t*>(host_staging_.get()); }

  // Issues, on the compute stream, the work before the commands: copies scalars and, unless they are on the device
  // already, the inputs, and clears the finite flag. `rows`: rows of the replica; a full batch is one copy.
  absl::Status IssueHead(int64_t rows, bool full, bool inputs_on_device);
  // Issues the work after the commands: copies the flag and all small outputs without rows to pinned memory.
  absl::Status IssueTail();

  // The following return what IssueTail copied in the last step whose copies have arrived.
  bool finite() const;
  // Returns null when output `i` is not one that IssueTail copies.
  const uint8_t* TailOutput(int i) const;

  // Launches the work that `issue` issues on the compute stream as a CUDA graph. The graph is captured when `key`
  // occurs for the first time.
  absl::Status LaunchGraph(std::tuple<uint32_t, uint32_t, bool> key, absl::FunctionRef<absl::Status()> issue);

  // RecordEnd marks the end of a segment on its stream, and WaitFor makes a stream wait for such an end.
  absl::Status RecordEnd(uint32_t segment, format::Stream stream);
  absl::Status WaitFor(uint32_t segment, format::Stream stream);
  // Makes stream `later` wait for all work that has been issued on the other stream.
  absl::Status Join(format::Stream later);

 private:
  GpuReplica() = default;
  absl::StatusOr<CUgraphExec> Capture(absl::FunctionRef<absl::Status()> issue);
  const DriverApi& driver() const { return device().driver(); }

  std::unique_ptr<ReplicaMemory> memory_;
  std::unique_ptr<CommandIssuer> issuer_;
  CudaStream compute_, communication_;
  std::vector<CudaEvent> ends_;  // indexed by segment; empty if no stream waits for the segment
  CudaEvent joins_[2];           // events of Join, indexed by the stream that waits
  PinnedMemory host_staging_, host_tail_;
  struct TailOutput_ {
    CUdeviceptr from = 0;
    uint64_t offset = 0, bytes = 0;  // place in host_tail_, in bytes
  };
  std::vector<TailOutput_> tail_outputs_;  // indexed by output; `bytes` is 0 if the output is not copied
  std::map<std::tuple<uint32_t, uint32_t, bool>, CudaGraphExec> graphs_;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_RUN_GPU_REPLICA_H_

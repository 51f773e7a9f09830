// Times of steps by events on the GPUs' streams.
#ifndef TANDEM_RUNTIME_CUDA_STEP_CLOCK_H_
#define TANDEM_RUNTIME_CUDA_STEP_CLOCK_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "runtime/cuda/gpu_replica.h"
#include "runtime/session.h"

namespace tandem {

// While it runs, steps are issued one by one, not as CUDA graphs: events stand around each.
class StepClock {
 public:
  // The arguments must outlive the clock. `time_steps`: for times().
  StepClock(const Executable& executable, const SegmentPlan& plan,
            const std::vector<std::unique_ptr<GpuReplica>>& replicas, bool time_steps);

  bool runs() const { return time_steps_ || trace_ != nullptr; }
  void set_trace(StepTrace* trace) { trace_ = trace; }

  // Around a run, and around each step of a replica; the device's context is current. Nothing while it does not run.
  absl::Status BeginRun();
  absl::Status BeginStep(size_t replica, uint32_t step, CUstream stream);
  absl::Status EndStep(size_t replica, uint32_t step, CUstream stream);
  // When all streams have done their work. `rows`: by replica.
  absl::Status EndRun(const std::vector<ReplicaInputs>& inputs);

  std::vector<StepTime> times() const;

 private:
  struct Replica {
    CudaEvent base;
    int64_t base_time = 0;  // TraceNow() when it was recorded
    std::vector<std::pair<CudaEvent, CudaEvent>> steps;
    std::vector<uint32_t> issued;
  };
  struct Count {
    double nanoseconds = 0;
    int64_t calls = 0;
  };

  const Executable& executable_;
  const SegmentPlan& plan_;
  const std::vector<std::unique_ptr<GpuReplica>>& replicas_;
  const bool time_steps_;
  StepTrace* trace_ = nullptr;
  std::vector<Replica> clocks_;
  std::vector<Count> counts_;  // by step
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_STEP_CLOCK_H_

// Measures the times of commands by events on the GPUs' streams.
#ifndef TANDEM_RUNTIME_CUDA_RUN_COMMAND_CLOCK_H_
#define TANDEM_RUNTIME_CUDA_RUN_COMMAND_CLOCK_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "runtime/cuda/run/gpu_replica.h"
#include "runtime/session/session.h"

namespace tandem {

// While the clock runs, commands are issued one by one, not as CUDA graphs: each has an event before and after it.
class CommandClock {
 public:
  // The arguments must outlive the clock. `time_commands` is true if times() will be called.
  CommandClock(const Executable& executable, const SegmentPlan& plan,
               const std::vector<std::unique_ptr<GpuReplica>>& replicas, bool time_commands);

  bool runs() const { return time_commands_ || trace_ != nullptr; }
  void set_trace(CommandTrace* trace) { trace_ = trace; }

  // To be called around a run, and around each command of a replica, with the device's context current. They do nothing
  // while the clock does not run.
  absl::Status BeginRun();
  absl::Status BeginCommand(size_t replica, uint32_t command, CUstream stream);
  absl::Status EndCommand(size_t replica, uint32_t command, CUstream stream);
  // To be called when all streams have done their work. `inputs` is indexed by replica and has the replicas' numbers of
  // rows.
  absl::Status EndRun(const std::vector<ReplicaInputs>& inputs);

  std::vector<CommandTime> times() const;

 private:
  struct Replica {
    CudaEvent base;
    int64_t base_time = 0;  // TraceNow() when the event `base` was recorded
    std::vector<std::pair<CudaEvent, CudaEvent>> commands;
    std::vector<uint32_t> issued;
  };
  struct Count {
    double nanoseconds = 0;
    int64_t calls = 0;
  };

  const Executable& executable_;
  const SegmentPlan& plan_;
  const std::vector<std::unique_ptr<GpuReplica>>& replicas_;
  const bool time_commands_;
  CommandTrace* trace_ = nullptr;
  std::vector<Replica> clocks_;
  std::vector<Count> counts_;  // indexed by command
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_RUN_COMMAND_CLOCK_H_

// A replica's memory on its GPU: one allocation for everything but the variables, at addresses that never change.
#ifndef TANDEM_RUNTIME_CUDA_PLAN_REPLICA_MEMORY_H_
#define TANDEM_RUNTIME_CUDA_PLAN_REPLICA_MEMORY_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/commands/gpu_launch.h"
#include "runtime/cuda/device/cuda_device.h"
#include "runtime/executable/executable.h"
#include "runtime/session/session.h"
#include "runtime/variables/variable_store.h"

namespace tandem {

// The layout of the scalars (8 bytes each) and, behind them, the inputs. It is the same in the host's pinned memory and
// on the device, so that a full batch is one copy.
struct StagingLayout {
  std::vector<uint64_t> input_offsets, input_row_bytes;
  uint64_t scalar_bytes = 0;  // bytes of all scalars, including the padding behind them
  uint64_t bytes = 0;
};
StagingLayout MakeStagingLayout(const Executable& executable);

class ReplicaMemory {
 public:
  // Allocates the memory, places the variables in the store, binds them, and copies the constants. `workspace_bytes`:
  // what the library calls and kernels of a stream need. ResourceExhausted (exit code 2) names the arenas and the
  // largest values in them.
  static absl::StatusOr<std::unique_ptr<ReplicaMemory>> Create(const Executable& executable, int replica,
                                                               std::shared_ptr<CudaDevice> device,
                                                               VariableStore& variables, uint64_t workspace_bytes);

  CudaDevice& device() const { return *device_; }
  const std::shared_ptr<CudaDevice>& shared_device() const { return device_; }
  const StagingLayout& staging_layout() const { return layout_; }

  CUdeviceptr Address(const format::Buffer& buffer) const;
  CUdeviceptr staging() const { return staging_; }
  CUdeviceptr flag() const { return flag_; }  // address of the int32 flag that CheckFinite sets
  // address of kGpuCounters counters, behind which the workspace follows
  CUdeviceptr counters() const { return counters_; }
  CUdeviceptr workspace() const { return counters_ + kGpuCounterBytes; }
  // Address of the tables of all commands, Command::GpuTableBytes each.
  CUdeviceptr command_tables() const { return command_tables_; }
  uint64_t workspace_bytes() const { return workspace_bytes_; }

 private:
  ReplicaMemory() = default;

  std::shared_ptr<CudaDevice> device_;
  StagingLayout layout_;
  CudaMemory memory_;
  CUdeviceptr step_ = 0, batch_ = 0, lane_ = 0, microbatch_ = 0, constants_ = 0, staging_ = 0, flag_ = 0, counters_ = 0,
              command_tables_ = 0;
  uint64_t workspace_bytes_ = 0;
  std::vector<CUdeviceptr> variables_;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_PLAN_REPLICA_MEMORY_H_

// Issues the steps of a program on one replica's streams.
#ifndef TANDEM_RUNTIME_CUDA_STEP_ISSUER_H_
#define TANDEM_RUNTIME_CUDA_STEP_ISSUER_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/cuda/access_watch.h"
#include "runtime/cuda/cuda_device.h"
#include "runtime/cuda/library_calls.h"
#include "runtime/cuda/replica_memory.h"
#include "runtime/cuda/segment_plan.h"

namespace tandem {

// A program's kernels and library calls on one device; for all replicas there.
class DeviceProgram {
 public:
  // Errors: FailedPrecondition (exit code 2) when the executable has nothing for the device's compute capability, or
  // the driver is too old for its PTX; those of LibraryCallRunner::Prepare with the step's name and place in the
  // source.
  // `plan_file`: Session::Options::gpu_plans.
  static absl::StatusOr<std::unique_ptr<DeviceProgram>> Load(const Executable& executable,
                                                             std::shared_ptr<CudaDevice> device,
                                                             const std::string& plan_file);

  // Of kernels and library calls, on one stream.
  uint64_t workspace_bytes() const { return workspace_bytes_; }

 private:
  friend class StepIssuer;
  DeviceProgram() = default;
  absl::Status LoadKernels(const Executable& executable, CudaDevice& device);
  absl::Status PrepareCalls(const Executable& executable, const std::string& plan_file);

  struct Functions {
    CUfunction main = nullptr, finish = nullptr;
    CUfunction group = nullptr;  // of kernels of grouped launches, where the PTX has one
  };
  std::shared_ptr<CudaDevice> device_;
  CudaModule module_;
  std::vector<Functions> functions_;                  // by kernel
  std::unique_ptr<LibraryCallRunner> runner_;         // null without library calls
  std::vector<std::unique_ptr<PreparedCall>> calls_;  // by step; null for other steps
  uint64_t workspace_bytes_ = 0;
};

// Everything but collectives, which take all replicas at once.
class StepIssuer {
 public:
  // The arguments must outlive the issuer. FailedPrecondition for a step that a GPU cannot run.
  static absl::StatusOr<std::unique_ptr<StepIssuer>> Create(const Executable& executable, const SegmentPlan& plan,
                                                            const ReplicaMemory& memory, DeviceProgram& program);

  // Rows of the replica, and where they begin in the global batch. The device's context must be current. Errors carry
  // the step's name.
  absl::Status Issue(uint32_t step, int64_t rows, int64_t first_row, CUstream stream);

  // Checks what the step wrote: the flag becomes 1 where it is not finite.
  absl::Status CheckOutputs(uint32_t step, int64_t rows, CUstream stream);

 private:
  // A launch with its arguments; begin, end and row_offset are the three before the last two.
  struct Launch {
    uint32_t kernel = 0;
    std::vector<uint64_t> values;
    std::vector<void*> pointers;
    int64_t count = 0;                    // of elements; rows and once: unused
    std::vector<uint32_t> reads, writes;  // buffers
  };
  // All members of a group.
  struct Group {
    uint32_t kernel = 0;
    unsigned grid = 0;
    uint64_t table_bytes = 0;
    std::array<uint64_t, 3> values = {};  // members, blocks, guard
    std::vector<uint32_t> reads, writes;
  };
  StepIssuer(const Executable& executable, const SegmentPlan& plan, const ReplicaMemory& memory, DeviceProgram& program)
      : executable_(executable), index_(executable.index()), plan_(plan), memory_(memory), program_(program) {}

  absl::Status Prepare();
  void AddLaunch(uint32_t step, uint32_t kernel, const std::vector<uint32_t>& reads,
                 const std::vector<uint32_t>& writes, uint64_t count);
  absl::Status AddGroup(uint32_t step, const fb::GroupedLaunchT& group, CUdeviceptr& free);
  absl::Status IssueStep(uint32_t number, int64_t rows, int64_t first_row, CUstream stream);
  absl::Status IssueLaunch(Launch& launch, bool map, int64_t rows, int64_t first_row, CUstream stream);
  absl::Status IssueGroup(Group& group, int64_t rows, CUstream stream);
  absl::Status IssueLibrary(uint32_t number, int64_t rows, CUstream stream);
  absl::Status IssueCopy(uint32_t number, int64_t rows, CUstream stream);
  absl::Status IssueLaneReduce(uint32_t number, int64_t rows, CUstream stream);
  absl::Status IssueScatterAdd(uint32_t number, int64_t rows, CUstream stream);
  absl::Status ClearOutputs(uint32_t number, CUstream stream);

  const fb::BufferT& Buffer(uint32_t b) const { return *buffers()[b]; }
  const std::vector<std::unique_ptr<fb::BufferT>>& buffers() const {
    return index_.programs[index_.replicas[0]->program]->buffers;
  }
  uint64_t Bytes(const fb::BufferT& b, int64_t rows) const { return b.row_bytes > 0 ? rows * b.row_bytes : b.bytes; }
  void Declare(const std::vector<uint32_t>& reads, const std::vector<uint32_t>& writes, int64_t rows,
               uint64_t workspace, bool guarded, std::vector<DeviceAccess> others = {}) const;
  CUdeviceptr Guard(uint32_t number) const { return plan_.guarded[number] ? memory_.flag() : 0; }
  const DriverApi& driver() const { return memory_.device().driver(); }

  const Executable& executable_;
  const fb::ExecutableT& index_;
  const SegmentPlan& plan_;
  const ReplicaMemory& memory_;
  DeviceProgram& program_;
  std::vector<std::vector<Launch>> launches_;  // by step
  std::map<uint32_t, Group> groups_;           // by step
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_STEP_ISSUER_H_

// A command of a program for GPUs, ready to be issued on one replica's streams. Each kind has a file in this folder;
// NewCudaCommand is the one place that lists them. Collectives, which involve all replicas at once, are run by the
// session.
#ifndef TANDEM_RUNTIME_CUDA_COMMANDS_CUDA_COMMAND_H_
#define TANDEM_RUNTIME_CUDA_COMMANDS_CUDA_COMMAND_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/cuda/driver/access_watch.h"
#include "runtime/cuda/plan/device_program.h"
#include "runtime/cuda/plan/replica_memory.h"
#include "runtime/cuda/plan/segment_plan.h"
#include "runtime/executable/executable.h"

namespace tandem {

// The objects that the commands of one replica share.
struct CudaContext {
  const Executable& executable;
  const SegmentPlan& plan;
  const ReplicaMemory& memory;
  DeviceProgram& program;
  CUdeviceptr free_table;  // first unused address of the memory for commands' tables

  const format::Index& index() const { return executable.index(); }
  const format::Program& program_table() const { return index().programs[index().replicas[0].program]; }
  const format::Buffer& Buffer(uint32_t b) const { return program_table().buffers[b]; }
  CUdeviceptr Address(uint32_t b) const { return memory.Address(Buffer(b)); }
  const DriverApi& driver() const { return memory.device().driver(); }
};

// Returns the number of elements; those of one row if the buffer is batched.
int64_t ElementsOf(const format::Buffer& buffer);
// Sets the device's flag for failed checks to 1 if a number in the buffer is not finite. A batched buffer has `rows`
// rows.
absl::Status CheckFinite(const CudaContext& context, uint32_t buffer, int64_t rows, CUstream stream);

class CudaCommand {
 public:
  // `context` must outlive the command.
  CudaCommand(const CudaContext& context, uint32_t number) : context_(context), number_(number) {}
  CudaCommand(const CudaCommand&) = delete;
  CudaCommand& operator=(const CudaCommand&) = delete;
  virtual ~CudaCommand() = default;

  // Issues the command for `rows` rows of the replica, which begin at `first_row` in the global batch. The device's
  // context must be current.
  virtual absl::Status Issue(int64_t rows, int64_t first_row, CUstream stream) = 0;
  // Writes the results for no rows: zeros to the outputs in the step arena and in lane slots (memory of sums).
  virtual absl::Status Clear(CUstream stream);

  const format::Command& table() const { return *context_.plan.tables[number_]; }
  bool map() const { return context_.plan.map[number_]; }

 protected:
  const CudaContext& context() const { return context_; }
  const format::Buffer& Buffer(uint32_t b) const { return context_.Buffer(b); }
  CUdeviceptr Address(uint32_t b) const { return context_.Address(b); }
  const DriverApi& driver() const { return context_.driver(); }
  // For a command behind a finite check, returns the address of the flag for failed checks: once the flag is set, the
  // command must write nothing. Returns 0 for other commands.
  CUdeviceptr guard() const { return context_.plan.guarded[number_] ? context_.memory.flag() : 0; }
  uint32_t number() const { return number_; }

  // Declares accesses for tests that watch which memory streams access (access_watch.h).
  void Declare(const std::vector<uint32_t>& reads, const std::vector<uint32_t>& writes, int64_t rows,
               uint64_t workspace, bool guarded, std::vector<DeviceAccess> others = {}) const;

 private:
  const CudaContext& context_;
  const uint32_t number_;
};

// Makes a command. FailedPrecondition for a command that a GPU cannot run. Advances `context.free_table` by the size of
// the command's tables.
absl::StatusOr<std::unique_ptr<CudaCommand>> NewCudaCommand(CudaContext& context, uint32_t number);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_COMMANDS_CUDA_COMMAND_H_

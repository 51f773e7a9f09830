// Issues the commands of a program on one replica's streams.
#ifndef TANDEM_RUNTIME_CUDA_RUN_COMMAND_ISSUER_H_
#define TANDEM_RUNTIME_CUDA_RUN_COMMAND_ISSUER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/cuda/commands/cuda_command.h"

namespace tandem {

// Issues all commands except collectives, which involve all replicas at once.
class CommandIssuer {
 public:
  // The arguments must outlive the issuer. FailedPrecondition for a command that a GPU cannot run.
  static absl::StatusOr<std::unique_ptr<CommandIssuer>> Create(const Executable& executable, const SegmentPlan& plan,
                                                               const ReplicaMemory& memory, DeviceProgram& program);

  // Issues a command for `rows` rows of the replica, which begin at `first_row` in the global batch. The device's
  // context must be current. Errors carry the command's name.
  absl::Status Issue(uint32_t command, int64_t rows, int64_t first_row, CUstream stream);

  // Checks the command's outputs: sets the device's flag to 1 if a number in them is not finite.
  absl::Status CheckOutputs(uint32_t command, int64_t rows, CUstream stream);

 private:
  explicit CommandIssuer(const CudaContext& context) : context_(context) {}

  CudaContext context_;
  std::vector<std::unique_ptr<CudaCommand>> commands_;  // indexed by command
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_RUN_COMMAND_ISSUER_H_

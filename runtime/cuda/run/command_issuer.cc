#include "runtime/cuda/run/command_issuer.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/status_macros.h"

namespace tandem {

absl::StatusOr<std::unique_ptr<CommandIssuer>> CommandIssuer::Create(const Executable& executable,
                                                                     const SegmentPlan& plan,
                                                                     const ReplicaMemory& memory,
                                                                     DeviceProgram& program) {
  auto issuer =
      std::unique_ptr<CommandIssuer>(new CommandIssuer({executable, plan, memory, program, memory.command_tables()}));
  for (uint32_t i = 0; i < plan.tables.size(); ++i) {
    TD_ASSIGN_OR_RETURN(std::unique_ptr<CudaCommand> command, NewCudaCommand(issuer->context_, i));
    issuer->commands_.push_back(std::move(command));
  }
  return issuer;
}

absl::Status CommandIssuer::Issue(uint32_t number, int64_t rows, int64_t first_row, CUstream stream) {
  // In a map section a replica without rows runs nothing. Its results get their values for no rows, such as zero sums.
  CudaCommand& command = *commands_[number];
  absl::Status status = command.map() && rows == 0 ? command.Clear(stream) : command.Issue(rows, first_row, stream);
  return Annotate(status, absl::StrCat(command.table().name, ": "));
}

absl::Status CommandIssuer::CheckOutputs(uint32_t number, int64_t rows, CUstream stream) {
  const Command& command = *context_.plan.commands[number];
  if (!command.has_plain_outputs()) return absl::OkStatus();
  for (uint32_t b : command.table().outputs) {
    TD_RETURN_IF_ERROR(CheckFinite(context_, b, rows, stream));
  }
  return absl::OkStatus();
}

}  // namespace tandem

// GroupedLaunch on a CPU: runs one kernel over the elements of many tensors, such as the updates of all variables.
#ifndef TANDEM_RUNTIME_CPU_COMMANDS_GROUPED_LAUNCH_H_
#define TANDEM_RUNTIME_CPU_COMMANDS_GROUPED_LAUNCH_H_

#include <vector>

#include "absl/types/span.h"
#include "runtime/cpu/commands/cpu_command.h"

namespace tandem {

class CpuGroupedLaunch final : public CpuCommand {
 public:
  CpuGroupedLaunch(const PlanContext& context, const format::Command& table);

  KernelFunction function() const { return function_; }
  // Returns the operands of the kernel for one member.
  absl::Span<const Operand> arguments(int member) const {
    return absl::MakeConstSpan(arguments_).subspan(static_cast<size_t>(member) * num_args_, num_args_);
  }

  void RunPiece(GlobalRun& run, int device, const Piece& piece, int thread) const override;
  bool is_listable() const override { return true; }
  void AddCalls(CallList& list, const MicrobatchContext& context, int device, const Piece& piece) const override;

 private:
  KernelFunction function_;
  size_t num_args_;
  std::vector<Operand> arguments_;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_COMMANDS_GROUPED_LAUNCH_H_

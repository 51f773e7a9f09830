// The command KernelLaunch on a CPU: runs one compiled kernel.
#ifndef TANDEM_RUNTIME_CPU_COMMANDS_KERNEL_LAUNCH_H_
#define TANDEM_RUNTIME_CPU_COMMANDS_KERNEL_LAUNCH_H_

#include "runtime/cpu/commands/cpu_command.h"

namespace tandem {

class CpuKernelLaunch final : public CpuCommand {
 public:
  CpuKernelLaunch(const PlanContext& context, const format::Command& table);

  KernelFunction function() const { return function_; }
  // Returns the number of elements, or for a kernel over blocks the number of their rows; 1 for other domains.
  int64_t count() const { return count_; }

  void RunPiece(GlobalRun& run, int device, const Piece& piece, int thread) const override;
  absl::Status RunRows(const MapRun& run, const MicrobatchContext& context, int64_t rows,
                       int64_t global_row) const override;
  bool is_listable() const override { return true; }
  bool AddRowCalls(CallList& list, const MicrobatchContext& context, int device, int64_t first_row) const override;
  void AddCalls(CallList& list, const MicrobatchContext& context, int device, const Piece& piece) const override;

 private:
  int64_t BlockRows(const PlanContext& context) const;

  KernelFunction function_;
  format::Domain domain_;
  int64_t count_;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_COMMANDS_KERNEL_LAUNCH_H_

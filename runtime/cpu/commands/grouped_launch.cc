#include "runtime/cpu/commands/grouped_launch.h"

#include "absl/container/inlined_vector.h"
#include "runtime/cpu/step/call_list.h"

namespace tandem {

CpuGroupedLaunch::CpuGroupedLaunch(const PlanContext& context, const format::Command& table)
    : CpuCommand(context, table) {
  const format::GroupedLaunch& group = *table.body.As<format::GroupedLaunch>();
  function_ = context.kernels.function(static_cast<int>(group.kernel));
  num_args_ = group.num_args;
  for (uint32_t b : group.args) arguments_.push_back(context.MakeOperand(b));
  for (size_t i = 0; i < group.counts.size(); ++i) {
    work.Add(static_cast<int>(i), static_cast<int64_t>(group.counts[i]), kTaskElements);
  }
}

void CpuGroupedLaunch::RunPiece(GlobalRun& run, int device, const Piece& piece, int) const {
  const MicrobatchContext context = run.At(device);
  absl::InlinedVector<void*, 32> args;
  for (const Operand& o : arguments(piece.item)) args.push_back(context.Address(o));
  function_(args.data(), piece.begin, piece.end, 0);
}

void CpuGroupedLaunch::AddCalls(CallList& list, const MicrobatchContext& context, int device,
                                const Piece& piece) const {
  list.AddKernel(function_, piece.begin, piece.end, 0);
  for (const Operand& o : arguments(piece.item)) list.AddAddress(context, device, o);
}

}  // namespace tandem

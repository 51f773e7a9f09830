// CheckFinite on a CPU: ends the step if a value is a NaN or infinity, on all processes of a group.
#include <algorithm>
#include <set>

#include "base/status_macros.h"
#include "runtime/collectives/process_group.h"
#include "runtime/cpu/commands/kinds.h"
#include "runtime/cpu/kernels/all_finite.h"
#include "runtime/cpu/step/call_list.h"

namespace tandem {
namespace {

class CpuCheckFinite final : public CpuCommand {
 public:
  CpuCheckFinite(const PlanContext& context, const format::Command& table) : CpuCommand(context, table) {
    std::set<uint32_t> combined, checked;
    for (const auto& section : context.program.sections) {
      for (const auto& command : section.commands) {
        const format::AllReduce* all_reduce = command.body.As<format::AllReduce>();
        if (all_reduce == nullptr) continue;
        combined.insert(command.outputs.begin(), command.outputs.end());
        if (all_reduce->checks) checked.insert(command.outputs.begin(), command.outputs.end());
      }
    }
    for (size_t i = 0; i < inputs().size(); ++i) {
      const Operand& o = inputs()[i];
      const bool floating = o.dtype == DType::kFloat32 || o.dtype == DType::kFloat64 || o.dtype == DType::kBFloat16;
      if (floating && !checked.contains(table.inputs[i])) work.Add(static_cast<int>(i), o.elements, kTaskElements);
    }
    differs_ = std::any_of(table.inputs.begin(), table.inputs.end(), [&](uint32_t b) { return !combined.contains(b); });
  }

  void Begin(GlobalRun& run, ThreadPool&) const override {
    if (!run.state.sums_finite.load(std::memory_order_relaxed)) run.FoundNonFinite();
  }

  void RunPiece(GlobalRun& run, int device, const Piece& piece, int) const override {
    // The values of a replica without rows are not defined.
    if (run.any_rows() && run.state.devices[device].rows == 0) return;
    const Operand& o = inputs()[piece.item];
    if (!AllFinite(o.dtype, run.ElementAddress(device, o, piece.begin), piece.end - piece.begin)) run.FoundNonFinite();
  }

  absl::Status Exchange(GlobalRun& run) const override {
    if (!differs_) return absl::OkStatus();
    ProcessGroup* group = run.state.group;
    const std::byte mine{run.finite()};
    std::vector<std::byte> all(group->size());
    TD_RETURN_IF_ERROR(group->AllGather(absl::MakeConstSpan(&mine, 1), absl::MakeSpan(all), table().name));
    if (std::find(all.begin(), all.end(), std::byte{false}) != all.end()) run.FoundNonFinite();
    return absl::OkStatus();
  }

  bool is_listable() const override { return true; }
  void AddCalls(CallList& list, const MicrobatchContext& context, int, const Piece& piece) const override {
    const Operand& o = inputs()[piece.item];
    list.AddCheckFinite(o.dtype, context.Address(o) + piece.begin * SizeOf(o.dtype), piece.end - piece.begin);
  }

 private:
  // True if an input is not the result of an all-reduce. Then processes may find different answers, and must exchange
  // them.
  bool differs_ = false;
};

}  // namespace

CpuCommandOr NewCpuCheckFinite(const PlanContext& context, const format::Command& table) {
  return std::make_unique<CpuCheckFinite>(context, table);
}

}  // namespace tandem

// Combines the replicas' values in the order of the reduction tree, in place: those of this process, then what is left
// of them with the other processes of a group, then copies for all devices.
#include <cstring>
#include <string>

#include "absl/container/inlined_vector.h"
#include "base/status_macros.h"
#include "runtime/collectives/process_group.h"
#include "runtime/commands/collective_text.h"
#include "runtime/cpu/commands/kinds.h"
#include "runtime/reduction_tree.h"

namespace tandem {
namespace {

using fb::ReduceKind;

class CpuAllReduce final : public CpuCommand {
 public:
  CpuAllReduce(const PlanContext& context, const fb::CommandT& table, const fb::CollectiveT& collective)
      : CpuCommand(context, table), kind_(table.body.AsAllReduce()->kind), what_(CollectiveText(collective)) {
    for (size_t i = 0; i < inputs().size(); ++i) work.Add(static_cast<int>(i), inputs()[i].elements, kTaskElements);
  }

  bool is_for_all_devices() const override { return true; }

  // Without any rows there is nothing to combine, and all devices hold the same.
  void RunPiece(GlobalRun& run, int, const Piece& piece, int) const override {
    const Operand& o = inputs()[piece.item];
    if (!run.any_rows()) return;
    const auto devices = static_cast<int>(run.state.devices.size());
    absl::InlinedVector<const void*, 64> leaves;
    for (int d = 0; d < devices; ++d) {
      leaves.push_back(run.state.devices[d].rows > 0 ? run.ElementAddress(d, o, piece.begin) : nullptr);
    }
    // A mean over all processes is a sum first.
    const bool part = run.state.group != nullptr;
    TreeReduce(part && kind_ == ReduceKind::Mean ? ReduceKind::Sum : kind_, o.dtype, leaves,
               run.ElementAddress(0, o, piece.begin), piece.end - piece.begin);
    if (!part) Copy(run, piece);
  }

  absl::Status End(GlobalRun& run, ThreadPool& pool) const override {
    const StepState& state = run.state;
    if (!run.any_rows()) return absl::OkStatus();
    absl::InlinedVector<ProcessGroup::Values, 16> values;
    for (const Operand& o : inputs()) values.push_back({o.dtype, run.ElementAddress(0, o, 0), o.elements});
    TD_RETURN_IF_ERROR(state.group->AllReduce(kind_ == ReduceKind::Mean ? ReduceKind::Sum : kind_, values,
                                              absl::MakeConstSpan(state.processes_with_rows.get(), state.group->size()),
                                              what_));
    if (kind_ == ReduceKind::Mean) {
      for (const ProcessGroup::Values& v : values) Divide(v.dtype, v.data, state.replicas_with_rows, v.count);
    }
    if (state.devices.size() > 1) {
      pool.ParallelFor(static_cast<int64_t>(work.pieces.size()),
                       [&](int64_t i, int) { Copy(run, work.pieces[static_cast<size_t>(i)]); });
    }
    return absl::OkStatus();
  }

 private:
  // The first device's value to the others.
  void Copy(GlobalRun& run, const Piece& piece) const {
    const Operand& o = inputs()[piece.item];
    const uint8_t* from = run.ElementAddress(0, o, piece.begin);
    for (int d = 1; d < static_cast<int>(run.state.devices.size()); ++d) {
      std::memcpy(run.ElementAddress(d, o, piece.begin), from, (piece.end - piece.begin) * SizeOf(o.dtype));
    }
  }

  const ReduceKind kind_;
  const std::string what_;  // for errors
};

}  // namespace

CpuCommandOr NewCpuAllReduce(const PlanContext& context, const fb::CommandT& table) {
  const fb::CollectiveT& collective = *context.index().collectives[table.body.AsAllReduce()->collective];
  if (!collective.algorithm.empty()) return NewCpuCrossDeviceReduce(context, table);
  return std::make_unique<CpuAllReduce>(context, table, collective);
}

}  // namespace tandem

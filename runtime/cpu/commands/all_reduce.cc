// Combines the replicas' values in the order of the reduction tree, in place: first those of this process, then the
// results of all processes of a group; then it copies the result to all devices. If the command says so, it also checks
// the combined values for NaN and infinity.
#include <cstring>
#include <string>

#include "absl/container/inlined_vector.h"
#include "base/status_macros.h"
#include "runtime/collectives/process_group.h"
#include "runtime/collectives/reduction_tree.h"
#include "runtime/commands/collective_text.h"
#include "runtime/cpu/commands/kinds.h"
#include "runtime/cpu/kernels/all_finite.h"

namespace tandem {
namespace {

using format::ReduceKind;

class CpuAllReduce final : public CpuCommand {
 public:
  CpuAllReduce(const PlanContext& context, const format::Command& table, const format::Collective& collective)
      : CpuCommand(context, table),
        kind_(table.body.As<format::AllReduce>()->kind),
        checks_(table.body.As<format::AllReduce>()->checks),
        what_(CollectiveText(collective)) {
    for (size_t i = 0; i < inputs().size(); ++i) work.Add(static_cast<int>(i), inputs()[i].elements, kTaskElements);
  }

  bool is_for_all_devices() const override { return true; }

  // If no replica has rows, there is nothing to combine, and all devices hold the same values.
  void RunPiece(GlobalRun& run, int, const Piece& piece, int) const override {
    const Operand& o = inputs()[piece.item];
    if (!run.any_rows()) return;
    const auto devices = static_cast<int>(run.state.devices.size());
    absl::InlinedVector<const void*, 64> leaves;
    for (int d = 0; d < devices; ++d) {
      leaves.push_back(run.state.devices[d].rows > 0 ? run.ElementAddress(d, o, piece.begin) : nullptr);
    }
    // In a group this only computes a sum. Exchange divides it when the sums of all processes have been added.
    const bool part = run.state.group != nullptr;
    TreeReduce(part && kind_ == ReduceKind::kMean ? ReduceKind::kSum : kind_, o.dtype, leaves,
               run.ElementAddress(0, o, piece.begin), piece.end - piece.begin);
    if (part) return;
    if (checks_) Check(run, o.dtype, run.ElementAddress(0, o, piece.begin), piece.end - piece.begin);
    Copy(run, piece);
  }

  absl::Status Exchange(GlobalRun& run) const override {
    const StepState& state = run.state;
    if (!run.any_rows()) return absl::OkStatus();
    absl::InlinedVector<ProcessGroup::Values, 16> values;
    for (const Operand& o : inputs()) values.push_back({o.dtype, run.ElementAddress(0, o, 0), o.elements});
    ProcessGroup::ResultFn on_result;
    if (checks_) {
      on_result = [&run, dtype = values[0].dtype](const void* data, int64_t n) { Check(run, dtype, data, n); };
    }
    TD_RETURN_IF_ERROR(state.group->AllReduce(kind_ == ReduceKind::kMean ? ReduceKind::kSum : kind_, values,
                                              absl::MakeConstSpan(state.processes_with_rows.get(), state.group->size()),
                                              what_, on_result));
    if (kind_ == ReduceKind::kMean) {
      for (const ProcessGroup::Values& v : values) Divide(v.dtype, v.data, state.replicas_with_rows, v.count);
    }
    return absl::OkStatus();
  }

  absl::Status End(GlobalRun& run, ThreadPool& pool) const override {
    if (run.any_rows() && run.state.devices.size() > 1) {
      pool.ParallelFor(static_cast<int64_t>(work.pieces.size()),
                       [&](int64_t i, int) { Copy(run, work.pieces[static_cast<size_t>(i)]); });
    }
    return absl::OkStatus();
  }

 private:
  // Checks the sum even if the result is a mean: a sum that is not finite makes a mean that is not finite.
  static void Check(GlobalRun& run, DType dtype, const void* values, int64_t n) {
    if (!AllFinite(dtype, values, n)) run.state.sums_finite.store(false, std::memory_order_relaxed);
  }

  // Copies the first device's value to the others.
  void Copy(GlobalRun& run, const Piece& piece) const {
    const Operand& o = inputs()[piece.item];
    const uint8_t* from = run.ElementAddress(0, o, piece.begin);
    for (int d = 1; d < static_cast<int>(run.state.devices.size()); ++d) {
      std::memcpy(run.ElementAddress(d, o, piece.begin), from, (piece.end - piece.begin) * SizeOf(o.dtype));
    }
  }

  const ReduceKind kind_;
  const bool checks_;
  const std::string what_;  // the collective's name, for errors
};

}  // namespace

CpuCommandOr NewCpuAllReduce(const PlanContext& context, const format::Command& table) {
  const format::Collective& collective = context.index().collectives[table.body.As<format::AllReduce>()->collective];
  if (!collective.algorithm.empty()) return NewCpuCrossDeviceReduce(context, table);
  return std::make_unique<CpuAllReduce>(context, table, collective);
}

}  // namespace tandem

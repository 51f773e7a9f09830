// An all-reduce that named cross-device ops (base/cross_device_ops.h) do instead of the reduction tree.
#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/cross_device_ops.h"
#include "base/status_macros.h"
#include "base/user_code.h"
#include "runtime/collectives/process_group.h"
#include "runtime/collectives/reduction_tree.h"
#include "runtime/commands/collective_text.h"
#include "runtime/cpu/commands/kinds.h"

namespace tandem {
namespace {

using PerReplica = CrossDeviceOps::PerReplica;

class CpuCrossDeviceReduce final : public CpuCommand {
 public:
  CpuCrossDeviceReduce(const PlanContext& context, const format::Command& table, const format::Collective& collective,
                       std::unique_ptr<CrossDeviceOps> ops)
      : CpuCommand(context, table),
        collective_(collective),
        what_(CollectiveText(collective)),
        kind_(table.body.As<format::AllReduce>()->kind),
        ops_(std::move(ops)) {}

  bool is_for_all_devices() const override { return true; }
  // There are no pieces, because the ops divide their work among threads by themselves.
  void RunPiece(GlobalRun&, int, const Piece&, int) const override {}
  bool has_end(const StepState&) const override { return true; }

  absl::Status End(GlobalRun& run, ThreadPool& pool) const override {
    const StepState& state = run.state;
    if (!run.any_rows()) return absl::OkStatus();
    const int devices = static_cast<int>(state.devices.size());
    std::vector<PerReplica> tensors;
    for (const Operand& o : inputs()) {
      PerReplica tensor{o.dtype, o.elements, {}};
      for (int d = 0; d < devices; ++d) {
        tensor.values.push_back(run.ElementAddress(d, o, 0));
        if (state.devices[d].rows == 0) std::memset(tensor.values[d], 0, Bytes(tensor));
      }
      tensors.push_back(std::move(tensor));
    }
    const auto parallel_for = [&](int64_t n, absl::FunctionRef<void(int64_t)> fn) {
      pool.ParallelFor(n, [&](int64_t i, int) { fn(i); });
    };
    if (devices > 1) {
      TD_RETURN_IF_ERROR(Call("AllReduce", tensors, [&] { return ops_->BatchAllReduce(tensors, parallel_for); }));
    }
    if (state.group != nullptr) {
      std::vector<ProcessGroup::Values> values;
      for (const PerReplica& t : tensors) values.push_back({t.dtype, t.values[0], t.elements});
      TD_RETURN_IF_ERROR(
          state.group->AllReduce(format::ReduceKind::kSum, values,
                                 absl::MakeConstSpan(state.processes_with_rows.get(), state.group->size()), what_));
    }
    if (state.group != nullptr && devices > 1) {
      TD_RETURN_IF_ERROR(Call("Broadcast", tensors, [&] { return ops_->Broadcast(0, tensors, parallel_for); }));
    }
    if (kind_ == format::ReduceKind::kMean) {
      for (const PerReplica& t : tensors) {
        parallel_for(devices, [&](int64_t d) { Divide(t.dtype, t.values[d], state.replicas_with_rows, t.elements); });
      }
    }
    return absl::OkStatus();
  }

 private:
  static size_t Bytes(const PerReplica& tensor) { return static_cast<size_t>(tensor.elements) * SizeOf(tensor.dtype); }

  // Calls `f` and checks that it leaves the same values on all replicas. Otherwise the replicas would silently have
  // different variables from this step on.
  template <typename F>
  absl::Status Call(absl::string_view function, const std::vector<PerReplica>& tensors, F f) const {
    const std::string where = absl::StrCat("cross-device ops \"", collective_.algorithm, "\": ", function);
    TD_RETURN_IF_ERROR(Annotate(CallUserCode(f), absl::StrCat(where, ": ")));
    for (size_t i = 0; i < tensors.size(); ++i) {
      const PerReplica& t = tensors[i];
      for (size_t r = 1; r < t.values.size(); ++r) {
        if (std::memcmp(t.values[0], t.values[r], Bytes(t)) == 0) continue;
        const std::string name = i < collective_.tensors.size() ? collective_.tensors[i] : "";
        return absl::FailedPreconditionError(absl::StrCat(
            where, " left replica ", r, " other bits of ", name.empty() ? absl::StrCat("tensor ", i) : name, " (",
            t.elements, t.elements == 1 ? " element of " : " elements of ", Name(t.dtype),
            ") than replica 0, from element ", FirstDifference(t, r), " on; it has to leave the same on all"));
      }
    }
    return absl::OkStatus();
  }

  static size_t FirstDifference(const PerReplica& tensor, size_t replica) {
    const char* a = static_cast<const char*>(tensor.values[0]);
    return (std::mismatch(a, a + Bytes(tensor), static_cast<const char*>(tensor.values[replica])).first - a) /
           SizeOf(tensor.dtype);
  }

  const format::Collective& collective_;
  const std::string what_;  // the collective's name, for errors
  const format::ReduceKind kind_;
  const std::unique_ptr<CrossDeviceOps> ops_;
};

}  // namespace

CpuCommandOr NewCpuCrossDeviceReduce(const PlanContext& context, const format::Command& table) {
  const format::Collective& collective = context.index().collectives[table.body.As<format::AllReduce>()->collective];
  absl::StatusOr<std::unique_ptr<CrossDeviceOps>> ops = NewCrossDeviceOps(collective.algorithm);
  if (!ops.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the program was compiled for cross-device ops of the user: ", ops.status().message()));
  }
  return std::make_unique<CpuCrossDeviceReduce>(context, table, collective, *std::move(ops));
}

}  // namespace tandem

// LaneReduce on a CPU: combines the results of all lanes (parts of the batch) in the order of the reduction tree.
#include <algorithm>

#include "absl/container/inlined_vector.h"
#include "runtime/collectives/reduction_tree.h"
#include "runtime/cpu/commands/kinds.h"
#include "runtime/cpu/step/call_list.h"

namespace tandem {
namespace {

class CpuLaneReduce final : public CpuCommand {
 public:
  CpuLaneReduce(const PlanContext& context, const format::Command& table)
      : CpuCommand(context, table), kind_(table.body.As<format::LaneReduce>()->kind) {
    for (size_t i = 0; i < inputs().size(); ++i) work.Add(static_cast<int>(i), inputs()[i].elements, kTaskElements);
  }

  // If several threads run a replica's lanes, every thread first reduces the subtree of its own lanes (those that
  // CpuSession assigns to it) into the slot of the first. A slot is cheap to write in the next step if no other thread
  // than that of its lane has read it (thread_pool.h).
  void Begin(GlobalRun& run, ThreadPool& pool) const override {
    if (table().run_inline) return;
    const auto devices = static_cast<int64_t>(run.state.devices.size());
    const int lanes = run.state.lanes_per_replica;
    int64_t parts = 1;
    int part_lanes = 1;
    while (part_lanes < lanes) part_lanes *= 2;
    for (; parts * devices < pool.num_threads() && part_lanes > 1; parts *= 2) part_lanes /= 2;
    if (parts == 1) part_lanes = 1;
    run.part_lanes = part_lanes;
    if (part_lanes == 1) return;
    const int64_t device_tasks = run.device_tasks();
    pool.ParallelFor(devices * parts * device_tasks, [&](int64_t i, int thread) {
      const int device = static_cast<int>(i / (parts * device_tasks));
      const int first_lane = static_cast<int>(i / device_tasks % parts) * part_lanes;
      if (first_lane >= lanes || run.state.LaneRows(device, first_lane) == 0) return;
      run.ForPieces(device, static_cast<int>(i % device_tasks), thread, [&](const Piece& piece) {
        Reduce(run.state, device, piece, first_lane, std::min(first_lane + part_lanes, lanes), 1,
               Slot(run.state, device, first_lane, piece));
      });
    });
  }

  void RunPiece(GlobalRun& run, int device, const Piece& piece, int) const override {
    Reduce(run.state, device, piece, 0, run.state.lanes_per_replica, run.part_lanes,
           run.ElementAddress(device, outputs()[piece.item], piece.begin));
  }

  bool is_listable() const override { return true; }
  void AddCalls(CallList& list, const MicrobatchContext& context, int device, const Piece& piece) const override {
    const Operand &in = inputs()[piece.item], &out = outputs()[piece.item];
    list.AddReduce(kind_, in.dtype, device, in.offset + piece.begin * SizeOf(in.dtype),
                   context.Address(out) + piece.begin * SizeOf(out.dtype), piece.end - piece.begin);
  }

 private:
  uint8_t* Slot(const StepState& state, int device, int lane, const Piece& piece) const {
    const Operand& in = inputs()[piece.item];
    return state.LaneSlot(device, lane) + in.offset + piece.begin * SizeOf(in.dtype);
  }

  // Reduces the tree over lanes first, first + stride, .. < last, whose slots hold lanes' results or results of
  // subtrees.
  void Reduce(const StepState& state, int device, const Piece& piece, int first, int last, int stride,
              uint8_t* out) const {
    absl::InlinedVector<const void*, 64> leaves;
    for (int lane = first; lane < last; lane += stride) {
      leaves.push_back(state.LaneRows(device, lane) > 0 ? Slot(state, device, lane, piece) : nullptr);
    }
    TreeReduce(kind_, inputs()[piece.item].dtype, leaves, out, piece.end - piece.begin);
  }

  const format::ReduceKind kind_;
};

}  // namespace

CpuCommandOr NewCpuLaneReduce(const PlanContext& context, const format::Command& table) {
  return std::make_unique<CpuLaneReduce>(context, table);
}

}  // namespace tandem

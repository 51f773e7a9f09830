// td-assign-buffers: assigns every value its place in memory, such as an offset in an arena (passes/Passes.td).
#include <algorithm>

#include "base/align.h"
#include "graph/ir/shape.h"
#include "graph/ir/signature.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "mlir/IR/Matchers.h"
#include "passes/analysis/offset_assignment.h"
#include "passes/analysis/values_of_variables.h"
#include "passes/base/pass_util.h"
#include "passes/base/passes.h"
#include "passes/base/step_signature.h"
#include "passes/exec/dialect.h"
#include "passes/phases/memory/buffer_table.h"
#include "passes/phases/memory/live_values.h"
#include "passes/phases/memory/memory_report.h"
#include "passes/target/target.h"

namespace tandem {

#define GEN_PASS_DEF_ASSIGNBUFFERSPASS
#include "passes/passes.h.inc"

namespace {

class Placement {
 public:
  Placement(mlir::ModuleOp module, mlir::func::FuncOp step, const Target& target)
      : module_(module),
        step_(step),
        has_lanes_(target.has_lanes()),
        alignment_(target.buffer_alignment()),
        guard_bytes_(ConfigOf(module).getGuardBuffers() ? 256 : 0),
        buffers_(ValuesOfVariables(step, Variables::kAll)) {
    if (target.keeps_invariants()) invariant_ = ValuesOfVariables(step, Variables::kNotUpdated);
  }

  void Run() {
    PlaceArguments();
    const int64_t batch_bytes = PlaceKept();
    int64_t microbatch_bytes = 0, step_bytes = 0;
    if (!has_lanes_) step_bytes = PlaceTopLevel();
    for (auto map : step_.getOps<exec::MapMicrobatchesOp>()) {
      if (has_lanes_) PlaceLaneSlots(map);
      const int64_t bytes = PlaceBlock(map.getBody().front(), exec::Space::kMicrobatch, map.getMicrobatchRows());
      microbatch_bytes = std::max(microbatch_bytes, bytes);
    }
    if (has_lanes_) step_bytes = PlaceTopLevel();
    // All other values have places now. Views and results that overwrite an operand share theirs.
    PlaceViews(step_.getBody().front());
    buffers_.Annotate(step_);
    SetArenas(module_, exec::ArenasAttr::get(module_.getContext(), microbatch_bytes, lane_bytes_, step_bytes,
                                             batch_bytes, constant_bytes_));
    SetPeaks(module_, peaks_);
  }

 private:
  void PlaceArguments() {
    int64_t inputs = 0, scalars = 0;
    for (mlir::BlockArgument a : step_.getArguments()) {
      const unsigned i = a.getArgNumber();
      if (mlir::StringAttr input = td::InputOf(step_, i)) {
        buffers_.AddNumbered(a, input.str(), exec::Space::kInput, inputs++, 0);
      } else if (mlir::StringAttr scalar = td::ScalarOf(step_, i)) {
        buffers_.AddNumbered(a, scalar.str(), exec::Space::kScalar, scalars++, 8);
      } else if (mlir::FlatSymbolRefAttr variable = td::VariableOf(step_, i)) {
        PlaceVariable(variable, a, variable.getValue().str());
      }
    }
  }

  // Places `value`, which is the old or the new value of `variable`, in the variable's buffer.
  void PlaceVariable(mlir::FlatSymbolRefAttr variable, mlir::Value value, std::string name) {
    const auto [it, is_new] = variables_.try_emplace(variable, value);
    if (!is_new) return buffers_.Share(value, it->second);
    const auto index = static_cast<int64_t>(variables_.size()) - 1;
    buffers_.AddNumbered(value, std::move(name), exec::Space::kVariable, index, StaticBytes(value.getType()));
  }

  // Assigns offsets in the batch arena, by lifetime, to the batched values that maps keep for other maps. Microbatches
  // run in any order, so a value is live during the whole map that writes it, and no two values of one map share
  // memory. Returns the arena's size.
  int64_t PlaceKept() {
    const BlockTimes times(step_.getBody().front());
    LiveValues kept;
    for (auto map : step_.getOps<exec::MapMicrobatchesOp>()) {
      const int64_t device_rows = map.getRowsPerLane() * map.getLanes() / ConfigOf(module_).getReplicas();
      for (mlir::OpResult result : map->getOpResults()) {
        if (!td::IsBatched(result.getType())) continue;
        kept.Add(result, times.RangeOf(result, device_rows * RowBytes(result.getType())));
      }
    }
    const int64_t bytes = PlaceByLifeTime(kept, exec::Space::kBatch, 0);
    for (mlir::Value result : kept.values) buffers_.Share(YieldedAs(mlir::cast<mlir::OpResult>(result)), result);
    if (!kept.values.empty()) ReportArena(exec::Space::kBatch, bytes, kept);
    return bytes;
  }

  // Returns the value in the map's body that becomes the map's result `result`.
  static mlir::Value YieldedAs(mlir::OpResult result) {
    auto map = mlir::cast<exec::MapMicrobatchesOp>(result.getOwner());
    return map.getBody().front().getTerminator()->getOperand(result.getResultNumber());
  }

  void PlaceLaneSlots(exec::MapMicrobatchesOp map) {
    llvm::SmallVector<exec::LaneSlotAttr> slots;
    // All maps use the same memory for their lanes' sums (slots), which are read right after the map.
    int64_t offset = 0;
    for (mlir::OpResult result : map->getOpResults()) {
      const exec::Combine combine = map.getCombine(result.getResultNumber());
      if (combine == exec::Combine::kKeep) continue;
      mlir::Value part = YieldedAs(result);
      const int64_t bytes = StaticBytes(part.getType());
      buffers_.Add(part, exec::Space::kLane, offset, bytes);
      slots.push_back(
          exec::LaneSlotAttr::get(map.getContext(), buffers_.NumberOf(part),
                                  combine == exec::Combine::kMax ? exec::ReduceKind::kMax : exec::ReduceKind::kSum));
      offset += AlignUp(bytes + guard_bytes_, alignment_);
    }
    lane_bytes_ = std::max(lane_bytes_, offset);
    SetLaneSlots(map, slots);
  }

  // Places the values of the step's own block. Returns the size of the step arena.
  int64_t PlaceTopLevel() {
    for (mlir::OpOperand& operand : step_.getBody().front().getTerminator()->getOpOperands()) {
      mlir::FlatSymbolRefAttr update = td::UpdateOf(step_, operand.getOperandNumber());
      if (update) PlaceVariable(update, operand.get(), ValueName(operand.get()));
    }
    const int64_t bytes = PlaceBlock(step_.getBody().front(), exec::Space::kStep, 0);
    if (has_lanes_) return bytes;
    // If a device has one lane only, the map's sums are written straight into the buffers of the map's results.
    for (auto map : step_.getOps<exec::MapMicrobatchesOp>()) {
      for (mlir::OpResult result : map->getOpResults()) {
        if (!td::IsBatched(result.getType())) buffers_.Share(YieldedAs(result), result);
      }
    }
    return bytes;
  }

  // Places a constant. Each map has its own copies of constants; equal ones share a place in memory.
  void PlaceConstant(mlir::Value constant, mlir::Attribute value) {
    const int64_t bytes = StaticBytes(constant.getType());
    const auto [offset, is_new] = constant_offsets_.try_emplace(value, constant_bytes_);
    if (is_new) constant_bytes_ += AlignUp(bytes, alignment_);
    buffers_.Add(constant, exec::Space::kConstant, offset->second, bytes);
  }

  // True if `v` is invariant and only invariant commands read it, for example a kernel that is scaled and then packed.
  // It need not be kept from step to step.
  bool IsIntermediate(mlir::Value v) const {
    return invariant_.contains(v) && !v.use_empty() && llvm::all_of(v.getUsers(), [&](mlir::Operation* user) {
             return mlir::isa<exec::LaunchOp, exec::LibraryCallOp, exec::CopyOp>(user) &&
                    llvm::all_of(user->getResults(), [&](mlir::Value r) { return invariant_.contains(r); });
           });
  }

  // Assigns offsets, by lifetime, to the values of `block` that have no place yet. Returns the arena's size.
  int64_t PlaceBlock(mlir::Block& block, exec::Space space, int64_t microbatch_rows) {
    const BlockTimes times(block);
    LiveValues values, intermediates;
    for (mlir::Operation& op : block) {
      mlir::Attribute constant;
      if (mlir::matchPattern(&op, mlir::m_Constant(&constant))) {
        PlaceConstant(op.getResult(0), constant);
        continue;
      }
      for (mlir::OpResult v : op.getResults()) {
        if (buffers_.Has(v) || SharedOperand(v)) continue;
        const mlir::Type type = v.getType();
        const int64_t bytes = td::IsBatched(type) ? microbatch_rows * RowBytes(type) : StaticBytes(type);
        if (IsIntermediate(v)) {
          intermediates.Add(v, times.RangeOf(v, bytes));
        } else {
          values.Add(v, invariant_.contains(v) ? times.WholeRange(bytes) : times.RangeOf(v, bytes));
        }
      }
    }
    // Intermediates share memory only with one another: a command is invariant only if no other command touches its
    // memory (td-mark-invariants).
    const int64_t bytes = PlaceByLifeTime(intermediates, space, PlaceByLifeTime(values, space, 0));
    ReportArena(space, bytes, values);
    return bytes;
  }

  // Assigns offsets, by lifetime, behind the first `begin` bytes of an arena. Returns the arena's size.
  int64_t PlaceByLifeTime(const LiveValues& live, exec::Space space, int64_t begin) {
    const ArenaPlan plan = AssignOffsets(Guarded(live.ranges), alignment_);
    for (size_t i = 0; i < live.values.size(); ++i) {
      buffers_.Add(live.values[i], space, begin + plan.offsets[i], live.ranges[i].bytes);
    }
    return begin + plan.bytes;
  }

  // With guard_buffers, values that are placed by lifetime never share memory (views, lane slots and equal constants
  // still do), and unused bytes follow each of them, so that a write beyond its end changes no other buffer
  // (runtime/cpu/run/buffer_guard.h).
  std::vector<LiveRange> Guarded(std::vector<LiveRange> ranges) const {
    if (guard_bytes_ == 0) return ranges;
    int last = 0;
    for (const LiveRange& range : ranges) last = std::max(last, range.last);
    for (LiveRange& range : ranges) range = {range.bytes + guard_bytes_, 0, last};
    return ranges;
  }

  void ReportArena(exec::Space space, int64_t bytes, const LiveValues& live) {
    peaks_.push_back(ReportPeak(module_.getContext(), space, bytes, live));
  }

  // Places values in the buffers of others: an argument of a map's body in that of the map's operand, a reshape in that
  // of its operand, and a result that overwrites an operand in that of this operand.
  void PlaceViews(mlir::Block& block) {
    for (mlir::Operation& op : block) {
      if (auto map = mlir::dyn_cast<exec::MapMicrobatchesOp>(op)) {
        mlir::Block& body = map.getBody().front();
        for (auto [a, operand] : llvm::zip(body.getArguments(), map.getOperands())) buffers_.Share(a, operand);
        PlaceViews(body);
        continue;
      }
      for (mlir::OpResult result : op.getOpResults()) {
        const mlir::OpOperand* shared = SharedOperand(result);
        if (shared == nullptr) continue;
        if (mlir::isa<td::ReshapeOp>(op)) {
          buffers_.AddView(result, shared->get());
        } else {
          buffers_.Share(result, shared->get());
        }
      }
    }
  }

  mlir::ModuleOp module_;
  mlir::func::FuncOp step_;
  const bool has_lanes_;
  const int64_t alignment_;
  const int64_t guard_bytes_;
  BufferAssignment buffers_;
  llvm::DenseSet<mlir::Value> invariant_;
  // For each variable the first value that was placed in its buffer.
  llvm::DenseMap<mlir::Attribute, mlir::Value> variables_;
  llvm::DenseMap<mlir::Attribute, int64_t> constant_offsets_;
  int64_t constant_bytes_ = 0;
  int64_t lane_bytes_ = 0;
  llvm::SmallVector<exec::PeakAttr> peaks_;
};

class AssignBuffersPass : public impl::AssignBuffersPassBase<AssignBuffersPass> {
 public:
  void runOnOperation() final {
    mlir::func::FuncOp step = StepFunction(getOperation());
    if (!step) return;
    if (mlir::failed(VerifyStepSignature(step)) || mlir::failed(VerifyLaunches(getOperation(), step))) {
      return signalPassFailure();
    }
    Placement(getOperation(), step, *TargetOf(getOperation())).Run();
  }
};

}  // namespace

}  // namespace tandem

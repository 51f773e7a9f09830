#include "runtime/cpu/global_steps.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <mutex>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "runtime/block_kernel.h"
#include "runtime/cpu/scatter_add.h"
#include "runtime/reduction_tree.h"

namespace tandem {
namespace {

using Leaves = absl::InlinedVector<const void*, 64>;

// The tasks of one step.
class GlobalStep {
 public:
  GlobalStep(const StepState& state, const PlannedStep& p, bool others = false)
      : state_(state),
        p_(p),
        work_(others && p.others ? *p.others : p.work),
        begin_(state.threads[0].records != nullptr ? TraceNow() : 0) {
    for (const DeviceState& d : state.devices) any_rows_ |= d.rows > 0;
  }

  absl::StatusOr<bool> Run(ThreadPool& pool) {
    // An all-reduce handles all devices in one task.
    const int64_t devices = p_.kind == fb::StepBody::AllReduce ? 1 : static_cast<int64_t>(state_.devices.size());
    const int64_t device_tasks = static_cast<int64_t>(work_.tasks.size()) - 1, tasks = device_tasks * devices;
    if (p_.kind == fb::StepBody::AllReduce && state_.devices.size() == 1) return true;
    if (p_.kind == fb::StepBody::LaneReduce && !p_.step->run_inline) ReduceParts(device_tasks, pool);
    auto task = [&](int64_t i, int thread) {
      RunTask(static_cast<int>(i / device_tasks), static_cast<int>(i % device_tasks), thread);
    };
    if (p_.step->run_inline) {
      // One loop of one task: it takes a thread index and sets the thread up, but wakes nobody.
      pool.ParallelFor(1, [&](int64_t, int thread) {
        for (int64_t i = 0; i < tasks; ++i) task(i, thread);
      });
    } else {
      pool.ParallelFor(tasks, task);
    }
    if (!status_.ok()) return status_;
    return finite_.load();
  }

  void RunTask(int device, int task, int thread) {
    ForPieces(device, task, thread, [&](const Piece& piece) { RunPiece(device, piece, thread); });
  }

  // After the last task.
  absl::Status status() const { return status_.ok() ? status_ : Annotate(status_, absl::StrCat(p_.step->name, ": ")); }

 private:
  // Calls f with the pieces of a task, which a trace records as one.
  template <typename F>
  void ForPieces(int device, int task, int thread, F f) {
    std::vector<StepRecord>* records = state_.threads[thread].records;
    const int64_t begin = records != nullptr ? TraceNow() : 0;
    for (int piece = work_.tasks[task]; piece < work_.tasks[task + 1]; ++piece) f(work_.pieces[piece]);
    if (records != nullptr) Record(*records, device, begin);
  }

  void RunPiece(int device, const Piece& piece, int thread) {
    ShardContext context = At(device);
    switch (p_.kind) {
      case fb::StepBody::KernelLaunch: {
        absl::InlinedVector<void*, 32> args;
        for (const Operand& o : p_.inputs) args.push_back(context.Address(o));
        for (const Operand& o : p_.outputs) args.push_back(context.Address(o));
        const bool blocks = p_.domain == fb::Domain::Blocks;
        if (blocks) args.insert(args.end(), kFetchedMatrices, args.back());
        p_.function(args.data(), piece.begin, piece.end, blocks ? state_.devices[device].rows : 0);
        break;
      }
      case fb::StepBody::GroupedLaunch: {
        absl::InlinedVector<void*, 32> args;
        const Operand* operands = &p_.group_args[static_cast<size_t>(piece.item) * p_.num_args];
        for (int i = 0; i < p_.num_args; ++i) args.push_back(context.Address(operands[i]));
        p_.function(args.data(), piece.begin, piece.end, 0);
        break;
      }
      case fb::StepBody::LibraryCall: {
        absl::InlinedVector<void*, 4> args;
        for (const Operand& o : p_.inputs) args.push_back(context.Address(o));
        absl::Status status = p_.library->RunParts(thread, args, context.Address(p_.outputs[0]),
                                                   state_.threads[thread].library.data(), piece.begin, piece.end);
        std::lock_guard<std::mutex> lock(mutex_);
        status_.Update(status);
        break;
      }
      case fb::StepBody::LaneReduce:
        ReduceLanes(device, piece, 0, state_.lanes_per_replica, part_lanes_,
                    ElementAddress(device, p_.outputs[piece.item], piece.begin));
        break;
      case fb::StepBody::AllReduce:
        AllReduce(piece);
        break;
      case fb::StepBody::ScatterAdd:
        Scatter(device, piece);
        break;
      case fb::StepBody::CheckFinite:
        // The values of a replica without rows are not defined.
        if (any_rows_ && state_.devices[device].rows == 0) break;
        if (!AllFinite(p_.inputs[piece.item].dtype, ElementAddress(device, p_.inputs[piece.item], piece.begin),
                       piece.end - piece.begin)) {
          finite_.store(false, std::memory_order_relaxed);
        }
        break;
      default:
        std::memcpy(context.Address(p_.outputs[0]), context.Address(p_.inputs[0]), p_.outputs[0].bytes());
    }
  }

  // Tasks of this execution that one thread runs are one record.
  void Record(std::vector<StepRecord>& records, int device, int64_t begin) const {
    if (!records.empty() && records.back().id == p_.id && records.back().begin >= begin_) {
      records.back().end = TraceNow();
    } else {
      records.push_back({p_.id, device, -1, 0, begin, TraceNow()});
    }
  }

  ShardContext At(int device) const {
    ShardContext context;
    context.device = &state_.devices[device];
    context.constants = state_.constants;
    return context;
  }

  uint8_t* ElementAddress(int device, const Operand& o, int64_t element) const {
    return At(device).Address(o) + element * SizeOf(o.dtype);
  }

  bool Present(size_t device) const { return state_.devices[device].rows > 0; }

  void Scatter(int device, const Piece& piece) {
    ShardContext context = At(device);
    const Operand &updates = p_.inputs[0], &indices = p_.inputs[1];
    ScatterSource source;
    source.updates = context.Address(updates);
    source.indices = context.Address(indices);
    source.dtype = updates.dtype;
    source.index_dtype = indices.dtype;
    source.width = p_.width;
    source.count = indices.elements;
    if (indices.row_bytes > 0) {
      source.count *= state_.devices[device].rows;
      source.lane_count = indices.elements * state_.rows_per_lane;
      source.lanes = state_.lanes_per_replica;
    }
    ScatterAddRows(source, piece.begin / p_.width, piece.end / p_.width, ElementAddress(device, p_.outputs[0], 0));
  }

  // Where a replica's lanes are those of several threads, as CpuSession deals them out, every thread reduces the
  // subtree of its own in the slot of the first: what the lanes' own threads alone have read is cheap to write in the
  // next step (thread_pool.h).
  void ReduceParts(int64_t device_tasks, ThreadPool& pool) {
    const auto devices = static_cast<int64_t>(state_.devices.size());
    const int lanes = state_.lanes_per_replica;
    int64_t parts = 1;
    for (part_lanes_ = 1; part_lanes_ < lanes;) part_lanes_ *= 2;
    for (; parts * devices < pool.num_threads() && part_lanes_ > 1; parts *= 2) part_lanes_ /= 2;
    if (parts == 1) part_lanes_ = 1;
    if (part_lanes_ == 1) return;
    pool.ParallelFor(devices * parts * device_tasks, [&](int64_t i, int thread) {
      const int device = static_cast<int>(i / (parts * device_tasks));
      const int first_lane = static_cast<int>(i / device_tasks % parts) * part_lanes_;
      if (first_lane >= lanes || state_.LaneRows(device, first_lane) == 0) return;
      ForPieces(device, static_cast<int>(i % device_tasks), thread, [&](const Piece& piece) {
        const Operand& in = p_.inputs[piece.item];
        uint8_t* slot = state_.LaneSlot(device, first_lane) + in.offset + piece.begin * SizeOf(in.dtype);
        ReduceLanes(device, piece, first_lane, std::min(first_lane + part_lanes_, lanes), 1, slot);
      });
    });
  }

  // The tree over lanes first, first + stride, .. < last, whose leaves are those of the whole tree or subtrees of it.
  void ReduceLanes(int device, const Piece& piece, int first, int last, int stride, uint8_t* out) {
    const Operand& in = p_.inputs[piece.item];
    Leaves leaves;
    for (int lane = first; lane < last; lane += stride) {
      bool present = state_.LaneRows(device, lane) > 0;
      leaves.push_back(present ? state_.LaneSlot(device, lane) + in.offset + piece.begin * SizeOf(in.dtype) : nullptr);
    }
    TreeReduce(p_.reduce, in.dtype, leaves, out, piece.end - piece.begin);
  }

  // Without any rows there is nothing to combine, and all devices hold the same.
  void AllReduce(const Piece& piece) {
    const Operand& o = p_.inputs[piece.item];
    if (!any_rows_) return;
    Leaves leaves;
    for (size_t d = 0; d < state_.devices.size(); ++d) {
      leaves.push_back(Present(d) ? ElementAddress(static_cast<int>(d), o, piece.begin) : nullptr);
    }
    uint8_t* out = ElementAddress(0, o, piece.begin);
    TreeReduce(p_.reduce, o.dtype, leaves, out, piece.end - piece.begin);
    for (size_t d = 1; d < state_.devices.size(); ++d) {
      std::memcpy(ElementAddress(static_cast<int>(d), o, piece.begin), out,
                  (piece.end - piece.begin) * SizeOf(o.dtype));
    }
  }

  const StepState& state_;
  const PlannedStep& p_;
  const PlannedWork& work_;
  const int64_t begin_;  // 0 when nothing is traced
  bool any_rows_ = false;
  int part_lanes_ = 1;  // LaneReduce: lanes that have been reduced into the slot of their first
  std::atomic<bool> finite_{true};
  std::mutex mutex_;
  absl::Status status_;
};

// Finite numbers have an exponent that is not all ones.
template <typename Bits>
bool ExponentsFinite(const void* data, int64_t n, Bits mask) {
  const char* p = static_cast<const char*>(data);
  Bits bad = 0;
  for (int64_t i = 0; i < n; ++i) {
    Bits bits;
    std::memcpy(&bits, p + i * sizeof bits, sizeof bits);
    bad |= (bits & mask) == mask;
  }
  return bad == 0;
}

}  // namespace

absl::Status RunTogether(const StepState& state, absl::Span<const PlannedStep> steps, ThreadPool& pool) {
  std::deque<GlobalStep> runs;
  for (const PlannedStep& step : steps) runs.emplace_back(state, step);
  const int64_t devices = static_cast<int64_t>(state.devices.size());
  absl::InlinedVector<int64_t, 16> first = {0};  // of a device's tasks, that of each step
  for (const PlannedStep& step : steps)
    first.push_back(first.back() + static_cast<int64_t>(step.work.tasks.size()) - 1);
  const int64_t device_tasks = first.back();
  pool.ParallelFor(devices * device_tasks, [&](int64_t i, int thread) {
    const int64_t task = i % device_tasks;
    const int64_t step = std::upper_bound(first.begin(), first.end(), task) - first.begin() - 1;
    runs[step].RunTask(static_cast<int>(i / device_tasks), static_cast<int>(task - first[step]), thread);
  });
  for (const GlobalStep& run : runs) TD_RETURN_IF_ERROR(run.status());
  return absl::OkStatus();
}

absl::StatusOr<bool> RunGlobalStep(const StepState& state, const PlannedStep& step, ThreadPool& pool, bool others) {
  return GlobalStep(state, step, others).Run(pool);
}

bool AllFinite(DType dtype, const void* data, int64_t n) {
  if (dtype == DType::kFloat32) return ExponentsFinite<uint32_t>(data, n, 0x7f800000u);
  if (dtype == DType::kBFloat16) return ExponentsFinite<uint16_t>(data, n, 0x7f80u);
  if (dtype == DType::kFloat64) return ExponentsFinite<uint64_t>(data, n, 0x7ff0000000000000ull);
  return true;
}

}  // namespace tandem

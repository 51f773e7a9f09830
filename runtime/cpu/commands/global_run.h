// GlobalRun: one execution of a command of a global section, with its tasks and its result.
#ifndef TANDEM_RUNTIME_CPU_COMMANDS_GLOBAL_RUN_H_
#define TANDEM_RUNTIME_CPU_COMMANDS_GLOBAL_RUN_H_

#include <atomic>
#include <cstdint>
#include <mutex>

#include "absl/status/status.h"
#include "runtime/cpu/step/operand.h"
#include "runtime/cpu/step/step_state.h"
#include "runtime/session/command_trace.h"

namespace tandem {

class GlobalRun {
 public:
  // `id`: the command's id in a trace.
  GlobalRun(const StepState& state, const PlannedWork& work, int id)
      : state(state), work_(work), id_(id), begin_(state.threads[0].records != nullptr ? TraceNow() : 0) {}

  int64_t device_tasks() const { return static_cast<int64_t>(work_.tasks.size()) - 1; }
  // True if a replica has rows in this step, on any process.
  bool any_rows() const { return state.replicas_with_rows > 0; }

  MicrobatchContext At(int device) const {
    MicrobatchContext context;
    context.device = &state.devices[device];
    context.home = state.CommonOf(device);
    context.constants = state.constants;
    return context;
  }
  uint8_t* ElementAddress(int device, const Operand& o, int64_t element) const {
    return At(device).Address(o) + element * SizeOf(o.dtype);
  }

  // Calls f with each piece of a task. A trace records the task as one entry.
  template <typename F>
  void ForPieces(int device, int task, int thread, F f) {
    std::vector<CommandRecord>* records = state.threads[thread].records;
    const int64_t begin = records != nullptr ? TraceNow() : 0;
    for (int piece = work_.tasks[task]; piece < work_.tasks[task + 1]; ++piece) f(work_.pieces[piece]);
    if (records != nullptr) Record(*records, device, begin);
  }

  // Calls f, which works for all devices at once. A trace records it as the first device's, in `records` of the calling
  // thread.
  template <typename F>
  absl::Status ForAll(std::vector<CommandRecord>* records, F f) {
    const int64_t begin = records != nullptr ? TraceNow() : 0;
    absl::Status status = f();
    if (records != nullptr) records->push_back({id_, 0, -1, 0, begin, TraceNow()});
    return status;
  }

  void FoundNonFinite() { finite_.store(false, std::memory_order_relaxed); }
  void Update(const absl::Status& status) {
    std::lock_guard<std::mutex> lock(mutex_);
    status_.Update(status);
  }

  // Valid after the last task has ended.
  bool finite() const { return finite_.load(); }
  const absl::Status& status() const { return status_; }

  const StepState& state;
  // for LaneReduce: number of neighbouring lanes whose sum is already in the first one's slot (memory of its sums)
  int part_lanes = 1;

 private:
  // Makes one record of all tasks of this execution that one thread runs.
  void Record(std::vector<CommandRecord>& records, int device, int64_t begin) const {
    if (!records.empty() && records.back().id == id_ && records.back().begin >= begin_) {
      records.back().end = TraceNow();
    } else {
      records.push_back({id_, device, -1, 0, begin, TraceNow()});
    }
  }

  const PlannedWork& work_;
  const int id_;
  const int64_t begin_;  // when this execution began (TraceNow); 0 when nothing is traced
  std::atomic<bool> finite_{true};
  std::mutex mutex_;
  absl::Status status_;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_COMMANDS_GLOBAL_RUN_H_

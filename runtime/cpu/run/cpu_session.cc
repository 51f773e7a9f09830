#include "runtime/cpu/run/cpu_session.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/one_omp_thread.h"
#include "base/release_memory.h"
#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "runtime/collectives/process_group.h"
#include "runtime/cpu/kernels/instruction_set.h"
#include "runtime/cpu/kernels/object_loader.h"
#include "runtime/cpu/run/buffer_guard.h"
#include "runtime/cpu/run/command_times.h"
#include "runtime/cpu/run/communication_thread.h"
#include "runtime/cpu/run/find_non_finite.h"
#include "runtime/cpu/run/global_section.h"
#include "runtime/cpu/run/list_calls.h"
#include "runtime/cpu/run/map_commands.h"
#include "runtime/cpu/run/row_spread.h"
#include "runtime/cpu/run/step_plan.h"
#include "runtime/cpu/step/lane_progress.h"
#include "runtime/cpu/step/step_state.h"
#include "runtime/session/session.h"
#include "runtime/session/step_inputs.h"

namespace tandem {
namespace {

// Returns the distance in bytes from one lane's slot (memory of its sums) to the next. Slots of neighbouring lanes are
// read together at equal offsets, so they must not start in the same cache set.
uint64_t LaneStride(uint64_t bytes) { return (bytes + 4095) / 4096 * 4096 + 5 * 64; }

constexpr char kRunning[] = "running a step";

class CpuSession final : public Session {
 public:
  CpuSession(std::shared_ptr<const Executable> executable, std::shared_ptr<VariableStore> variables, Options options)
      : executable_(std::move(executable)),
        variables_(std::move(variables)),
        pool_(std::move(options.pool)),
        processes_(options.group != nullptr ? options.group->size() : 1),
        group_(processes_ > 1 ? options.group : nullptr),
        time_commands_(options.time_commands) {}

  absl::Status Init() {
    TD_ASSIGN_OR_RETURN(kernels_, LoadedKernels::Load(*executable_));
    TD_RETURN_IF_ERROR(UseInstructions(executable_->index().instructions));
    TD_RETURN_IF_ERROR(CreateSessionVariables(*executable_, *variables_));
    if (std::string place = variables_->place(); !place.empty()) {
      return absl::FailedPreconditionError(absl::StrCat(executable_->name(), ": the variables live on ", place,
                                                        "; a program for cpu devices cannot share them"));
    }
    return Prepare();
  }

  bool CanHaveSiblings() const override { return group_ == nullptr && !plan_.writes_variables; }

  absl::StatusOr<std::unique_ptr<Session>> MakeSibling(std::shared_ptr<ThreadPool> pool) override {
    if (!CanHaveSiblings()) return Session::MakeSibling(std::move(pool));
    auto sibling = std::make_unique<CpuSession>(executable_, variables_, Options{.pool = std::move(pool)});
    sibling->kernels_ = kernels_;
    TD_RETURN_IF_ERROR(sibling->Prepare());
    const bool shares = plan_.shares_invariants && guard_ == nullptr && made_step_.load(std::memory_order_acquire);
    if (shares) sibling->state_.common = state_.CommonOf(0);
    return sibling;
  }

  absl::StatusOr<StepResult> Run(const StepInputs& inputs, const std::vector<int>& fetches) override {
    const OneOmpThread one_omp_thread(kRunning);
    return CatchResourceErrors(executable_->name(), [&] { return RunStep(inputs, fetches); });
  }

  absl::StatusOr<std::string> FindNonFinite(const StepInputs& inputs) override {
    const OneOmpThread one_omp_thread(kRunning);
    if (state_.common != nullptr) {
      return absl::FailedPreconditionError(
          absl::StrCat(executable_->name(), ": a session that shares values with another cannot compute them again"));
    }
    return CatchResourceErrors(executable_->name(), [&]() -> absl::StatusOr<std::string> {
      std::lock_guard<std::mutex> lock(mutex_);
      TD_RETURN_IF_ERROR(SetInputs(inputs));
      invariants_at_.reset();
      // The search exchanges nothing with the group, because another process may stop at an earlier command.
      state_.group = nullptr;
      return FindNonFiniteCommand(*executable_, state_, plan_, *pool_);
    });
  }

  std::vector<CommandTime> command_times() const override { return SumCommandTimes(*executable_, state_); }

  void set_trace(CommandTrace* trace) override {
    std::lock_guard<std::mutex> lock(mutex_);
    if (trace != nullptr) trace->threads.resize(std::max(trace->threads.size(), state_.threads.size()));
    for (size_t i = 0; i < state_.threads.size(); ++i) {
      state_.threads[i].records = trace != nullptr ? &trace->threads[i] : nullptr;
    }
    state_.communication = trace != nullptr ? &trace->communication : nullptr;
  }

  SessionMemory memory() const override {
    SessionMemory m;
    for (const ThreadState& t : state_.threads) {
      m.microbatch += t.microbatch.bytes() + t.library.bytes();
      m.lane += t.lane.bytes();
    }
    for (const DeviceState& d : state_.devices) {
      m.step += d.step.bytes();
      m.batch += d.batch.bytes();
      m.lane += d.lanes.bytes();
    }
    return m;
  }

 private:
  int LocalReplicas() const { return executable_->num_replicas() / processes_; }

  // Plans the step of the loaded kernels and makes its memory.
  absl::Status Prepare() {
    TD_ASSIGN_OR_RETURN(plan_, MakeStepPlan(*executable_, *kernels_, LocalReplicas(), pool_->num_threads()));
    TD_RETURN_IF_ERROR(AllocateState());
    if (group_ != nullptr && group_->waits_for_network() && plan_.overlaps) {
      TD_ASSIGN_OR_RETURN(communication_, CommunicationThread::Start());
    }
    if (GuardsBuffers()) {
      guard_ = std::make_unique<BufferGuard>(*executable_, state_, plan_.scratch_bytes + plan_.staging_bytes);
      state_.guard = guard_.get();
    } else {
      if (executable_->index().programs[0].flat) {
        TD_ASSIGN_OR_RETURN(calls_, ListCalls(*executable_, state_, plan_));
      }
    }
    return absl::OkStatus();
  }

  absl::Status AllocateState() {
    const format::Index& index = executable_->index();
    const format::Program& program = index.programs[index.replicas[0].program];
    state_.one_copy = variables_->one_copy();
    state_.constants = reinterpret_cast<const uint8_t*>(executable_->constants().data());
    state_.lanes_per_replica = executable_->lanes_per_replica();
    compiled_ = {.rows_per_lane = index.rows_per_lane, .microbatch_rows = index.microbatch_rows};
    state_.rows_per_lane = index.rows_per_lane;
    state_.microbatch_rows = index.microbatch_rows;
    spreads_rows_ = index.mode == "predict" && program.lane_slots.empty() && LocalReplicas() == 1 &&
                    group_ == nullptr && !GuardsBuffers();
    state_.lane_stride = LaneStride(program.lane_bytes);
    if (group_ != nullptr) {
      state_.first_replica = group_->rank() * LocalReplicas();
      state_.processes_with_rows = std::make_unique<bool[]>(processes_);
    }
    for (int r = 0; r < LocalReplicas(); ++r) {
      DeviceState d;
      TD_ASSIGN_OR_RETURN(d.step, Arena::Create(program.step_bytes, "step values"));
      TD_ASSIGN_OR_RETURN(d.batch, Arena::Create(program.batch_bytes, "batch values"));
      TD_ASSIGN_OR_RETURN(d.lanes, Arena::Create(state_.lane_stride * state_.lanes_per_replica, "lanes"));
      for (const auto& v : index.variables) d.variables.push_back(variables_->Buffer(v.name, r));
      d.scalars.resize(index.scalars.size());
      d.inputs.resize(index.inputs.size());
      state_.devices.push_back(std::move(d));
    }
    progress_ = std::vector<LaneProgress>(state_.devices.size() * state_.lanes_per_replica);
    lanes_with_rows_ = static_cast<int>(progress_.size());
    for (int i = 0; i < pool_->num_threads(); ++i) {
      ThreadState t;
      TD_ASSIGN_OR_RETURN(t.microbatch,
                          Arena::Create(program.microbatch_bytes * plan_.microbatch_arenas, "microbatch values"));
      TD_ASSIGN_OR_RETURN(t.lane, Arena::Create(program.lane_bytes, "lane scratch"));
      TD_ASSIGN_OR_RETURN(t.library, Arena::Create(plan_.scratch_bytes + plan_.staging_bytes, "library scratch"));
      t.args.resize(plan_.max_operands);
      if (time_commands_) t.times.resize(plan_.num_ids);
      state_.threads.push_back(std::move(t));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<StepResult> RunStep(const StepInputs& inputs, const std::vector<int>& fetches) {
    std::lock_guard<std::mutex> lock(mutex_);
    TD_RETURN_IF_ERROR(SetInputs(inputs));
    StepResult result;
    result.outputs.resize(executable_->index().outputs.size());
    result.examples = examples_;
    for (int f : fetches) {
      if (f < 0 || f >= static_cast<int>(result.outputs.size())) {
        return absl::InvalidArgumentError(absl::StrCat(executable_->name(), " has no output ", f));
      }
    }
    uint64_t writes = variables_->writes();
    state_.invariants_valid = state_.common != nullptr || invariants_at_ == writes;
    if (plan_.writes_variables) writes = variables_->NoteWrites();
    const bool watched = time_commands_ || state_.threads[0].records != nullptr;
    if (calls_ != nullptr && as_compiled_ && group_ == nullptr && !watched && calls_->Fits()) {
      // A loop of one task sets OpenMP to one thread, as for all tasks, but wakes no other thread.
      pool_->ParallelFor(1, [&](int64_t, int) { result.finite = calls_->Run(); });
      if (!result.finite) return FetchKnown(fetches, std::move(result));
      invariants_at_ = writes;
      TD_RETURN_IF_ERROR(FetchAll(fetches, result));
      return result;
    }
    for (const PlannedSection& section : plan_.sections) {
      if (section.kind == format::SectionKind::kMap) {
        TD_RETURN_IF_ERROR(RunMap(section));
        continue;
      }
      TD_ASSIGN_OR_RETURN(result.finite, RunGlobalSection(state_, section, communication_.get(), *pool_));
      if (!result.finite) return FetchKnown(fetches, std::move(result));
    }
    invariants_at_ = writes;
    made_step_.store(true, std::memory_order_release);
    TD_RETURN_IF_ERROR(FetchAll(fetches, result));
    return result;
  }

  absl::Status FetchAll(const std::vector<int>& fetches, StepResult& result) const {
    for (int f : fetches) {
      const absl::Status status = CatchResourceErrors(executable_->index().outputs[f].name, [&] {
        result.outputs[f] = Fetch(f);
        return absl::OkStatus();
      });
      if (!status.ok()) return Annotate(status, absl::StrCat(executable_->name(), ": output "));
    }
    return absl::OkStatus();
  }

  absl::Status SetInputs(const StepInputs& step) {
    if (!initialized_) TD_RETURN_IF_ERROR(CheckVariablesInitialized(*executable_, *variables_));
    initialized_ = true;
    TD_RETURN_IF_ERROR(ResolveStepInputs(*executable_, step, &inputs_, state_.first_replica, processes_));
    for (size_t r = 0; r < inputs_.size(); ++r) {
      DeviceState& d = state_.devices[r];
      d.rows = inputs_[r].rows;
      d.first_row = inputs_[r].first_row;
      d.inputs.swap(inputs_[r].inputs);
      // The scalars are copied, not swapped, because call lists contain their addresses.
      d.scalars = inputs_[r].scalars;
    }
    if (spreads_rows_) {
      SpreadOver(SpreadRows(state_.devices[0].rows, state_.lanes_per_replica, pool_->free_threads(), compiled_));
    }
    CountRows(step);
    state_.sums_finite.store(true, std::memory_order_relaxed);
    return guard_ != nullptr ? guard_->TakeInputs(state_) : absl::OkStatus();
  }

  // Deals out the rows of the only device as `spread` says.
  void SpreadOver(const RowSpread& spread) {
    state_.rows_per_lane = spread.rows_per_lane;
    state_.microbatch_rows = spread.microbatch_rows;
    lanes_with_rows_ = static_cast<int>((state_.devices[0].rows + spread.rows_per_lane - 1) / spread.rows_per_lane);
    as_compiled_ = spread == compiled_ && lanes_with_rows_ == state_.lanes_per_replica;
  }

  // Counts the replicas and processes with rows, over all processes.
  void CountRows(const StepInputs& step) {
    state_.group = group_;
    state_.replicas_with_rows = 0;
    examples_ = 0;
    const auto count = [&](int64_t rows) {
      state_.replicas_with_rows += rows > 0 ? 1 : 0;
      examples_ += rows;
    };
    if (group_ == nullptr) {
      for (const DeviceState& d : state_.devices) count(d.rows);
      return;
    }
    std::fill_n(state_.processes_with_rows.get(), processes_, false);
    for (size_t r = 0; r < step.replica_rows.size(); ++r) {
      count(step.replica_rows[r]);
      if (step.replica_rows[r] > 0) state_.processes_with_rows[r / state_.devices.size()] = true;
    }
  }

  // Runs a map section. Each thread gets neighbouring lanes, which belong to one replica if there are enough lanes:
  // their sums and the replica's weights then stay in the cache of its core. Threads without a lane help with lanes
  // that are still running.
  absl::Status RunMap(const PlannedSection& section) {
    const int lanes = lanes_with_rows_, together = guard_ != nullptr || !as_compiled_ ? 1 : section.lanes_together;
    failed_.store(false, std::memory_order_relaxed);
    int32_t microbatches = 0;  // number of microbatches of the longest lane
    for (int lane = 0; lane < lanes; ++lane) {
      const int32_t n = MicrobatchesOfLane(state_, Lane(lane));
      progress_[lane].Reset(n);
      microbatches = std::max(microbatches, n);
    }
    auto run_lanes = [&](int64_t task, int thread) {
      const int first = static_cast<int>(task) * together;
      if (together > 1 && LanesAreFull(state_, Lane(first), together)) {
        return Check(section, RunLanesTogether(state_, plan_, section, Lane(first), thread));
      }
      for (int lane = first; lane < first + together; ++lane) {
        Check(section, RunLane(state_, plan_, section, Lane(lane), thread, progress_[lane]));
      }
    };
    if (section.run_inline) {
      // A loop of one task provides a thread index and sets OpenMP to one thread, but wakes no other thread.
      pool_->ParallelFor(1, [&](int64_t, int thread) {
        for (int64_t lane = 0; lane < lanes; ++lane) run_lanes(lane, thread);
      });
    } else {
      pool_->ParallelFor(lanes / together, run_lanes, [&](int thread) {
        if (microbatches > 1) HelpOthers(section, thread);
      });
    }
    if (guard_ != nullptr) {
      const std::string& last = section.commands.back()->table().name;
      TD_RETURN_IF_ERROR(guard_->CheckAll(
          section.commands.size() == 1
              ? absl::StrCat("command ", last)
              : absl::StrCat("one of the commands ", section.commands[0]->table().name, " to ", last)));
    }
    return failed_.load(std::memory_order_relaxed) ? error_ : absl::OkStatus();
  }

  // Runs microbatches of the lane that has most of them left, until no lane has any.
  void HelpOthers(const PlannedSection& section, int thread) {
    for (;;) {
      int32_t most = 0;
      int lane = 0;
      for (int i = 0; i < lanes_with_rows_; ++i) {
        const int32_t claimable = progress_[i].claimable();
        if (claimable <= most) continue;
        most = claimable;
        lane = i;
      }
      if (most == 0) return;
      Check(section, HelpLane(state_, plan_, section, Lane(lane), thread, progress_[lane]));
    }
  }

  LaneId Lane(int64_t task) const {
    const int lanes = state_.lanes_per_replica;
    return {static_cast<int>(task / lanes), static_cast<int>(task % lanes)};
  }

  void Check(const PlannedSection& section, const absl::Status& status) {
    if (status.ok()) return;
    std::lock_guard<std::mutex> lock(error_mutex_);
    if (!failed_.exchange(true)) error_ = Annotate(status, absl::StrCat(section.commands[0]->table().name, ": "));
  }

  StepResult FetchKnown(const std::vector<int>& fetches, StepResult result) const {
    for (int f : OutputsBeforeCheck(*executable_, fetches)) result.outputs[f] = Fetch(f);
    return result;
  }

  HostTensor Fetch(int output) const {
    const Operand& o = plan_.outputs[output];
    const format::Index& index = executable_->index();
    const format::Program& program = index.programs[index.replicas[0].program];
    Shape shape = program.buffers[index.outputs[output].buffer].shape;
    MicrobatchContext context;
    context.device = &state_.devices[0];
    context.home = state_.CommonOf(0);
    if (o.row_bytes == 0) {
      HostTensor value(o.dtype, std::move(shape));
      std::memcpy(value.raw(), context.Address(o), value.byte_size());
      return value;
    }
    shape[0] = 0;
    for (const DeviceState& d : state_.devices) shape[0] += d.rows;
    HostTensor value(o.dtype, std::move(shape));
    auto* out = static_cast<uint8_t*>(value.raw());
    for (const DeviceState& d : state_.devices) {
      context.device = &d;
      std::memcpy(out, context.Address(o), d.rows * o.row_bytes);
      out += d.rows * o.row_bytes;
    }
    return value;
  }

  const std::shared_ptr<const Executable> executable_;
  const std::shared_ptr<VariableStore> variables_;
  const std::shared_ptr<ThreadPool> pool_;
  const int processes_;
  ProcessGroup* const group_;  // null if there is only one process
  const bool time_commands_;
  std::shared_ptr<const LoadedKernels> kernels_;
  StepPlan plan_;
  StepState state_;
  std::unique_ptr<BufferGuard> guard_;                  // null unless TANDEM_FLAGS has --guard-buffers
  std::unique_ptr<CallList> calls_;                     // null unless the program is flat (few small commands)
  std::unique_ptr<CommunicationThread> communication_;  // null if no all-reduce overlaps with other commands
  std::vector<LaneProgress> progress_;                  // one for each lane of each device
  std::vector<ReplicaInputs> inputs_;
  RowSpread compiled_;
  bool spreads_rows_ = false;  // true if a step with fewer rows than compiled_ has may deal them out otherwise
  bool as_compiled_ = true;    // true if the running step visits all lanes and deals out its rows as compiled_ says
  int lanes_with_rows_ = 0;    // number of lanes that the running step visits, from the first on
  int64_t examples_ = 0;       // number of rows of the running step, over all processes
  bool initialized_ = false;
  // VariableStore::writes() after the last step: as long as it is the same, the results of invariant commands are
  // valid
  std::optional<uint64_t> invariants_at_;
  std::atomic<bool> made_step_{false};  // true since the end of the first step
  std::mutex mutex_;
  std::mutex error_mutex_;
  std::atomic<bool> failed_{false};
  absl::Status error_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Session>> NewCpuSession(std::shared_ptr<const Executable> executable,
                                                       std::shared_ptr<VariableStore> variables,
                                                       Session::Options options) {
  auto session = std::make_unique<CpuSession>(std::move(executable), std::move(variables), std::move(options));
  TD_RETURN_IF_ERROR(session->Init());
  // Most of the code that loaded kernels and made primitives will not run again.
  ReleaseLibraryPages({kOwnObject, "libLLVM", "libMLIR", "libdnnl"});
  return session;
}

}  // namespace tandem

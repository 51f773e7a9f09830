#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/release_memory.h"
#include "base/status_macros.h"
#include "runtime/cpu/find_non_finite.h"
#include "runtime/cpu/global_steps.h"
#include "runtime/cpu/map_steps.h"
#include "runtime/cpu/object_loader.h"
#include "runtime/cpu/step_plan.h"
#include "runtime/cpu/step_state.h"
#include "runtime/cpu/step_times.h"
#include "runtime/session.h"

namespace tandem {
namespace {

// Slots of neighbouring lanes are read together at equal offsets: they must not start in the same cache set.
uint64_t LaneStride(uint64_t bytes) { return (bytes + 4095) / 4096 * 4096 + 5 * 64; }

uint64_t ScalarBits(DType dtype, double value) {
  uint64_t bits = 0;
  auto put = [&](auto v) { std::memcpy(&bits, &v, sizeof v); };
  switch (dtype) {
    case DType::kFloat32:
      put(static_cast<float>(value));
      break;
    case DType::kFloat64:
      put(value);
      break;
    case DType::kInt32:
      put(static_cast<int32_t>(value));
      break;
    case DType::kInt64:
      put(static_cast<int64_t>(value));
      break;
    case DType::kUInt8:
      put(static_cast<uint8_t>(value));
      break;
    default:
      put(static_cast<uint8_t>(value != 0));
  }
  return bits;
}

class CpuSession final : public Session {
 public:
  CpuSession(std::shared_ptr<const Executable> executable, std::shared_ptr<VariableStore> variables, Options options)
      : executable_(std::move(executable)),
        variables_(std::move(variables)),
        pool_(std::move(options.pool)),
        time_steps_(options.time_steps) {}

  absl::Status Init() {
    const fb::ExecutableT& index = executable_->index();
    TD_RETURN_IF_ERROR(CheckReplicas());
    TD_ASSIGN_OR_RETURN(kernels_, LoadedKernels::Load(*executable_));
    TD_ASSIGN_OR_RETURN(plan_, MakeStepPlan(*executable_, *kernels_, pool_->num_threads()));
    for (const auto& v : index.variables) {
      TD_RETURN_IF_ERROR(
          variables_->Create({v->name, static_cast<DType>(v->dtype), v->shape, v->trainable, v->slot_of, false}));
    }
    return AllocateState();
  }

  absl::StatusOr<StepResult> Run(const StepInputs& inputs, const std::vector<int>& fetches) override {
    std::lock_guard<std::mutex> lock(mutex_);
    TD_RETURN_IF_ERROR(SetInputs(inputs));
    StepResult result;
    result.outputs.resize(executable_->index().outputs.size());
    for (const DeviceState& d : state_.devices) result.examples += d.rows;
    for (int f : fetches) {
      if (f < 0 || f >= static_cast<int>(result.outputs.size())) {
        return absl::InvalidArgumentError(absl::StrCat(executable_->name(), " has no output ", f));
      }
    }
    const bool timed = time_steps_ && state_.threads[0].records == nullptr;
    for (const PlannedSection& section : plan_.sections) {
      if (section.kind == fb::SectionKind::Map) {
        TD_RETURN_IF_ERROR(RunMap(section));
        continue;
      }
      for (size_t i = 0; i < section.steps.size(); ++i) {
        const PlannedStep& step = section.steps[i];
        if (step.together > 1 && !timed) {  // a clock around each step needs them one by one
          TD_RETURN_IF_ERROR(RunTogether(state_, absl::MakeConstSpan(section.steps).subspan(i, step.together), *pool_));
          i += step.together - 1;
          continue;
        }
        const auto begin = timed ? std::chrono::steady_clock::now() : std::chrono::steady_clock::time_point();
        absl::StatusOr<bool> finite = RunGlobalStep(state_, step, *pool_);
        if (timed) {
          TimeCount& count = state_.threads[0].times[step.id];
          count.nanoseconds += std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count();
          ++count.calls;
        }
        if (!finite.ok()) return Annotate(finite.status(), absl::StrCat(step.step->name, ": "));
        if (!*finite) {
          result.finite = false;
          return result;
        }
      }
    }
    for (int f : fetches) result.outputs[f] = Fetch(f);
    return result;
  }

  absl::StatusOr<std::string> FindNonFinite(const StepInputs& inputs) override {
    std::lock_guard<std::mutex> lock(mutex_);
    TD_RETURN_IF_ERROR(SetInputs(inputs));
    return FindNonFiniteStep(*executable_, state_, plan_, *pool_);
  }

  std::vector<StepTime> step_times() const override { return SumStepTimes(*executable_, state_); }

  void set_trace(StepTrace* trace) override {
    std::lock_guard<std::mutex> lock(mutex_);
    if (trace != nullptr) trace->threads.resize(std::max(trace->threads.size(), state_.threads.size()));
    for (size_t i = 0; i < state_.threads.size(); ++i) {
      state_.threads[i].records = trace != nullptr ? &trace->threads[i] : nullptr;
    }
  }

  SessionMemory memory() const override {
    SessionMemory m;
    for (const ThreadState& t : state_.threads) {
      m.shard += t.shard.bytes() + t.library.bytes();
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
  absl::Status CheckReplicas() const {
    const fb::ExecutableT& index = executable_->index();
    for (const auto& replica : index.replicas) {
      if (replica->program != index.replicas[0]->program) {
        return absl::UnimplementedError(absl::StrCat(executable_->name(), ": replicas with different programs"));
      }
      const std::string& device_class = index.programs[replica->program]->device_class;
      if (device_class != "cpu") {
        return absl::FailedPreconditionError(absl::StrCat(executable_->name(), ": compiled for device class '",
                                                          device_class, "', this runtime has 'cpu'"));
      }
    }
    bool updates = false;
    for (const auto& v : index.variables) updates |= v->updated;
    int devices = variables_->num_devices(), replicas = executable_->num_replicas();
    if (replicas > devices || (updates && replicas != devices)) {
      return absl::FailedPreconditionError(absl::StrCat(executable_->name(), ": ", replicas, " replicas",
                                                        updates ? " that update variables" : "",
                                                        ", but the variables live on ", devices, " devices"));
    }
    return absl::OkStatus();
  }

  absl::Status AllocateState() {
    const fb::ExecutableT& index = executable_->index();
    const fb::ProgramT& program = *index.programs[index.replicas[0]->program];
    state_.constants = reinterpret_cast<const uint8_t*>(executable_->constants().data());
    state_.lanes_per_replica = executable_->lanes_per_replica();
    state_.rows_per_lane = index.rows_per_lane;
    state_.shard_rows = index.shard_rows;
    state_.lane_stride = LaneStride(program.lane_bytes);
    for (int r = 0; r < executable_->num_replicas(); ++r) {
      DeviceState d;
      TD_ASSIGN_OR_RETURN(d.step, Arena::Create(program.step_bytes, "step values"));
      TD_ASSIGN_OR_RETURN(d.batch, Arena::Create(program.batch_bytes, "batch values"));
      TD_ASSIGN_OR_RETURN(d.lanes, Arena::Create(state_.lane_stride * state_.lanes_per_replica, "lanes"));
      for (const auto& v : index.variables) d.variables.push_back(variables_->Buffer(v->name, r));
      d.scalars.resize(index.scalars.size());
      d.inputs.resize(index.inputs.size());
      state_.devices.push_back(std::move(d));
    }
    for (int i = 0; i < pool_->num_threads(); ++i) {
      ThreadState t;
      TD_ASSIGN_OR_RETURN(t.shard, Arena::Create(program.shard_bytes, "shard values"));
      TD_ASSIGN_OR_RETURN(t.lane, Arena::Create(program.lane_bytes, "lane scratch"));
      TD_ASSIGN_OR_RETURN(t.library, Arena::Create(plan_.scratch_bytes + plan_.staging_bytes, "library scratch"));
      t.args.resize(plan_.max_operands);
      if (time_steps_) t.times.resize(plan_.num_ids);
      state_.threads.push_back(std::move(t));
    }
    return absl::OkStatus();
  }

  absl::Status SetInputs(const StepInputs& step) {
    const fb::ExecutableT& index = executable_->index();
    TD_RETURN_IF_ERROR(CheckInitialized());
    if (step.inputs.size() != state_.devices.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("inputs for ", step.inputs.size(), " replicas; the program has ", state_.devices.size()));
    }
    int64_t total = 0;
    for (size_t r = 0; r < step.inputs.size(); ++r) {
      TD_RETURN_IF_ERROR(SetReplicaInputs(step.inputs[r], r));
      state_.devices[r].first_row = total;
      total += state_.devices[r].rows;
    }
    for (size_t i = 0; i < index.scalars.size(); ++i) {
      const fb::ScalarT& s = *index.scalars[i];
      for (DeviceState& d : state_.devices) {
        double value;
        if (s.name == "example_count") {
          value = static_cast<double>(total);
        } else if (s.name == "replica_example_count") {
          value = static_cast<double>(d.rows);
        } else {
          auto found = step.scalars.find(s.name);
          if (found == step.scalars.end()) {
            return absl::InvalidArgumentError(absl::StrCat("the step needs a value for scalar '", s.name, "'"));
          }
          value = found->second;
        }
        d.scalars[i] = ScalarBits(static_cast<DType>(s.dtype), value);
      }
    }
    return absl::OkStatus();
  }

  absl::Status SetReplicaInputs(const std::vector<HostTensor>& tensors, size_t r) {
    const fb::ExecutableT& index = executable_->index();
    DeviceState& d = state_.devices[r];
    if (tensors.size() != index.inputs.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("replica ", r, ": ", tensors.size(), " inputs; the program has ", index.inputs.size()));
    }
    d.rows = 0;
    for (size_t i = 0; i < tensors.size(); ++i) {
      const fb::InputT& in = *index.inputs[i];
      const HostTensor& t = tensors[i];
      bool fits = t.dtype() == static_cast<DType>(in.dtype) && t.shape().size() == in.shape.size() &&
                  std::equal(t.shape().begin() + 1, t.shape().end(), in.shape.begin() + 1);
      if (!fits) {
        return absl::InvalidArgumentError(absl::StrCat("replica ", r, ": input '", in.name, "' is ", Name(t.dtype()),
                                                       ShapeString(t.shape()), "; the program takes ",
                                                       Name(static_cast<DType>(in.dtype)), ShapeString(in.shape)));
      }
      int64_t rows = t.shape()[0];
      if (rows > executable_->rows_per_replica() || (i > 0 && rows != d.rows)) {
        return absl::InvalidArgumentError(absl::StrCat(
            "replica ", r, ": input '", in.name, "' has ", rows, " rows; ",
            i > 0 && rows != d.rows ? absl::StrCat("other inputs have ", d.rows)
                                    : absl::StrCat("the program takes at most ", executable_->rows_per_replica())));
      }
      d.rows = rows;
      d.inputs[i] = static_cast<const uint8_t*>(t.raw());
    }
    return absl::OkStatus();
  }

  absl::Status CheckInitialized() {
    if (initialized_) return absl::OkStatus();
    for (const auto& v : executable_->index().variables) {
      TD_ASSIGN_OR_RETURN(VariableInfo info, variables_->Info(v->name));
      if (!info.initialized) {
        return absl::FailedPreconditionError(
            absl::StrCat("variable ", v->name, " has no value: initialise it or restore a checkpoint"));
      }
    }
    initialized_ = true;
    return absl::OkStatus();
  }

  // A replica's lanes are neighbours; lanes are dealt out in order, so that threads that run side by side read
  // neighbouring rows.
  absl::Status RunMap(const PlannedSection& section) {
    const int lanes = state_.lanes_per_replica;
    const int64_t tasks = static_cast<int64_t>(state_.devices.size()) * lanes;
    failed_.store(false, std::memory_order_relaxed);
    auto run_lane = [&](int64_t task, int thread) {
      absl::Status status =
          RunLane(state_, plan_, section, static_cast<int>(task / lanes), static_cast<int>(task % lanes), thread);
      if (status.ok()) return;
      std::lock_guard<std::mutex> lock(error_mutex_);
      if (!failed_.exchange(true)) error_ = Annotate(status, absl::StrCat(section.steps[0].step->name, ": "));
    };
    if (section.run_inline) {
      // One loop of one task: it takes a thread index and sets the thread up, but wakes nobody.
      pool_->ParallelFor(1, [&](int64_t, int thread) {
        for (int64_t task = 0; task < tasks; ++task) run_lane(task, thread);
      });
    } else {
      pool_->ParallelFor(tasks, run_lane);
    }
    return failed_.load(std::memory_order_relaxed) ? error_ : absl::OkStatus();
  }

  HostTensor Fetch(int output) const {
    const Operand& o = plan_.outputs[output];
    const fb::ExecutableT& index = executable_->index();
    const fb::ProgramT& program = *index.programs[index.replicas[0]->program];
    Shape shape = program.buffers[index.outputs[output]->buffer]->shape;
    ShardContext context;
    context.device = &state_.devices[0];
    if (o.row_bytes == 0) {
      HostTensor value(o.dtype, shape);
      std::memcpy(value.raw(), context.Address(o), value.byte_size());
      return value;
    }
    shape[0] = 0;
    for (const DeviceState& d : state_.devices) shape[0] += d.rows;
    HostTensor value(o.dtype, shape);
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
  const bool time_steps_;
  std::unique_ptr<LoadedKernels> kernels_;
  StepPlan plan_;
  StepState state_;
  bool initialized_ = false;
  std::mutex mutex_;
  std::mutex error_mutex_;
  std::atomic<bool> failed_{false};
  absl::Status error_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Session>> Session::Create(std::shared_ptr<const Executable> executable,
                                                         std::shared_ptr<VariableStore> variables, Options options) {
  if (executable == nullptr || variables == nullptr || options.pool == nullptr) {
    return absl::InvalidArgumentError("a session needs an executable, variables and a thread pool");
  }
  auto session = std::make_unique<CpuSession>(std::move(executable), std::move(variables), std::move(options));
  TD_RETURN_IF_ERROR(session->Init());
  // Loading kernels and making primitives is over: most of that code will not run again.
  ReleaseLibraryPages({"libLLVM", "libMLIR", "libdnnl"});
  return session;
}

}  // namespace tandem

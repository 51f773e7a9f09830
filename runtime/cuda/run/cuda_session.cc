// One issuing thread, the caller's, drives all replicas.
#include "runtime/cuda/run/cuda_session.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/annotate.h"
#include "base/exit_code.h"
#include "base/status_macros.h"
#include "base/timing.h"
#include "runtime/collectives/process_group.h"
#include "runtime/cuda/communicator/communicator.h"
#include "runtime/cuda/device/cuda_device.h"
#include "runtime/cuda/driver/wait_pause.h"
#include "runtime/cuda/plan/segment_plan.h"
#include "runtime/cuda/run/batch_prefetcher.h"
#include "runtime/cuda/run/command_clock.h"
#include "runtime/cuda/run/fetch_copies.h"
#include "runtime/cuda/run/gpu_replica.h"
#include "runtime/executable/command_description.h"
#include "runtime/session/session.h"
#include "runtime/session/step_inputs.h"

namespace tandem {
namespace {

// Copies to pinned memory are cut into pieces of this size, which several threads copy.
constexpr int64_t kCopyPiece = 256 << 10;

class CudaSession final : public Session {
 public:
  CudaSession(std::shared_ptr<const Executable> executable, std::shared_ptr<VariableStore> variables, Options options)
      : executable_(std::move(executable)),
        index_(executable_->index()),
        program_(index_.programs[index_.replicas[0].program]),
        variables_(std::move(variables)),
        options_(std::move(options)),
        group_(options_.group != nullptr && options_.group->size() > 1 ? options_.group : nullptr),
        processes_(group_ != nullptr ? group_->size() : 1),
        first_replica_(group_ != nullptr ? group_->rank() * LocalReplicas() : 0) {}

  ~CudaSession() override {
    prefetcher_.reset();
    communicator_.reset();
  }

  absl::Status Init() {
    if (!program_.gpu) {
      return absl::FailedPreconditionError(absl::StrCat(executable_->name(), ": the program has no schedule for GPUs"));
    }
    if (index_.microbatch_rows != index_.rows_per_lane || executable_->lanes_per_replica() != 1) {
      return absl::FailedPreconditionError(
          absl::StrCat(executable_->name(), ": a program for GPUs has one lane and one microbatch per replica"));
    }
    plan_ = MakeSegmentPlan(*executable_);
    std::vector<std::shared_ptr<CudaDevice>> devices;
    for (int r = 0; r < LocalReplicas(); ++r) {
      const std::string& name =
          options_.devices.empty() ? index_.replicas[first_replica_ + r].device : options_.devices[r];
      TD_ASSIGN_OR_RETURN(std::shared_ptr<CudaDevice> device, DeviceOf(name));
      if (programs_.find(device.get()) == programs_.end()) {
        absl::StatusOr<std::unique_ptr<DeviceProgram>> program =
            DeviceProgram::Load(*executable_, device, options_.gpu_plans);
        if (!program.ok()) return device->Check(program.status());
        programs_[device.get()] = *std::move(program);
      }
      devices.push_back(std::move(device));
    }
    TD_RETURN_IF_ERROR(CreateSessionVariables(*executable_, *variables_));
    for (size_t r = 0; r < devices.size(); ++r) {
      absl::StatusOr<std::unique_ptr<GpuReplica>> replica = GpuReplica::Create(
          *executable_, static_cast<int>(r), devices[r], *variables_, plan_, *programs_[devices[r].get()]);
      if (!replica.ok()) return devices[r]->Check(replica.status());
      replicas_.push_back(*std::move(replica));
    }
    if (executable_->num_replicas() > 1) {
      // This must follow the allocation of the replicas' memory: NCCL synchronises the devices while it starts, and so
      // does an allocation, so each could wait for the other.
      std::vector<CommunicatorDevice> members;
      for (const auto& device : devices) members.push_back({device->ordinal(), device->context()});
      TD_ASSIGN_OR_RETURN(communicator_,
                          MakeCommunicator(&devices[0]->driver(), std::move(members), options_.deterministic, group_));
      communicator_->set_deadline_seconds(options_.deadline_seconds);
    }
    prefetcher_ = std::make_unique<BatchPrefetcher>(*executable_, replicas_, first_replica_, processes_);
    copies_behind_ = std::make_unique<FetchCopies>(*executable_, plan_, replicas_);
    clock_ = std::make_unique<CommandClock>(*executable_, plan_, replicas_, options_.time_commands);
    const PlannedSegment* first = plan_.segments.empty() ? nullptr : &plan_.segments.front();
    const PlannedSegment* last = plan_.segments.empty() ? nullptr : &plan_.segments.back();
    head_captured_ = first != nullptr && first->stream == format::Stream::kCompute && first->pieces.front().captured;
    tail_captured_ = last != nullptr && last->stream == format::Stream::kCompute && last->pieces.back().captured &&
                     plan_.unawaited.empty();
    return absl::OkStatus();
  }

  absl::StatusOr<StepResult> Run(const StepInputs& inputs, const std::vector<int>& fetches) override {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto begin = std::chrono::steady_clock::now();
    TD_RETURN_IF_ERROR(Begin(inputs));
    StepResult result;
    result.outputs.resize(index_.outputs.size());
    for (int f : fetches) {
      if (f < 0 || f >= static_cast<int>(result.outputs.size())) {
        return absl::InvalidArgumentError(absl::StrCat(executable_->name(), " has no output ", f));
      }
    }
    result.examples = std::accumulate(replica_rows_.begin(), replica_rows_.end(), int64_t{0});
    TD_RETURN_IF_ERROR(Guard(IssueStep(inputs, fetches)));
    result.issue_seconds = SecondsSince(begin);
    TD_RETURN_IF_ERROR(Guard(FinishStep()));
    for (const auto& replica : replicas_) result.finite &= replica->finite();
    TD_RETURN_IF_ERROR(Guard(Fetch(result.finite ? fetches : OutputsBeforeCheck(*executable_, fetches), result)));
    return result;
  }

  absl::StatusOr<std::string> FindNonFinite(const StepInputs& inputs) override {
    std::lock_guard<std::mutex> lock(mutex_);
    TD_RETURN_IF_ERROR(Begin(inputs));
    absl::StatusOr<std::string> found = Find();
    TD_RETURN_IF_ERROR(Guard(found.status()));
    return found;
  }

  void Prefetch(const StepInputs& inputs) override { prefetcher_->Prefetch(inputs); }
  bool CanPrefetch() const override { return true; }

  SessionMemory memory() const override {
    SessionMemory m;
    m.microbatch = program_.microbatch_bytes * replicas_.size();
    m.lane = program_.lane_bytes * replicas_.size();
    m.step = program_.step_bytes * replicas_.size();
    m.batch = program_.batch_bytes * replicas_.size();
    for (const auto& replica : replicas_) m.microbatch += replica->memory().workspace_bytes();
    return m;
  }

  std::vector<CommandTime> command_times() const override { return clock_->times(); }

  void set_trace(CommandTrace* trace) override {
    std::lock_guard<std::mutex> lock(mutex_);
    if (trace != nullptr) {
      const size_t lists = std::max<size_t>(options_.pool->num_threads(), replicas_.size());
      trace->threads.resize(std::max(trace->threads.size(), lists));
    }
    clock_->set_trace(trace);
  }

 private:
  int LocalReplicas() const { return executable_->num_replicas() / processes_; }

  static absl::StatusOr<std::shared_ptr<CudaDevice>> DeviceOf(const std::string& name) {
    absl::string_view number = name;
    int ordinal = 0;
    if (!absl::ConsumePrefix(&number, "gpu:") || !absl::SimpleAtoi(number, &ordinal)) {
      return absl::FailedPreconditionError(absl::StrCat("device \"", name, "\" is not a GPU (gpu:0, gpu:1, ...)"));
    }
    absl::StatusOr<std::shared_ptr<CudaDevice>> device = CudaDevice::Get(ordinal);
    if (!device.ok()) return Annotate(device.status(), absl::StrCat("device \"", name, "\": "));
    return device;
  }

  absl::Status Begin(const StepInputs& inputs) {
    TD_RETURN_IF_ERROR(broken_);
    if (!initialized_) TD_RETURN_IF_ERROR(CheckVariablesInitialized(*executable_, *variables_));
    initialized_ = true;
    TD_RETURN_IF_ERROR(ResolveStepInputs(*executable_, inputs, &inputs_, first_replica_, processes_));
    replica_rows_ = inputs.replica_rows;
    if (replica_rows_.empty()) {
      for (const ReplicaInputs& replica : inputs_) replica_rows_.push_back(replica.rows);
    }
    return absl::OkStatus();
  }

  // After an error in the middle of a step the variables' values are unknown, so the session ends. Its collectives are
  // aborted at once, because other threads' calls of the driver may be waiting for them.
  absl::Status Guard(const absl::Status& status) {
    if (status.ok()) return status;
    broken_ = Annotate(status, "", "; the variables on the GPUs may be half updated: go on from the last checkpoint");
    if (communicator_ != nullptr) communicator_->AbortAll();
    if (absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status)) {
      for (const auto& replica : replicas_) replica->device().MarkLost();
    }
    return broken_;
  }

  // Copies the caller's inputs to pinned memory.
  void WriteStaging(bool with_inputs) {
    copies_.clear();
    for (size_t r = 0; r < replicas_.size(); ++r) {
      const StagingLayout& layout = replicas_[r]->memory().staging_layout();
      uint8_t* to = replicas_[r]->host_staging();
      if (!inputs_[r].scalars.empty()) std::memcpy(to, inputs_[r].scalars.data(), 8 * inputs_[r].scalars.size());
      for (size_t i = 0; i < layout.input_offsets.size() && with_inputs; ++i) {
        const int64_t bytes = inputs_[r].rows * static_cast<int64_t>(layout.input_row_bytes[i]);
        for (int64_t done = 0; done < bytes; done += kCopyPiece) {
          copies_.push_back(
              {to + layout.input_offsets[i] + done, inputs_[r].inputs[i] + done, std::min(kCopyPiece, bytes - done)});
        }
      }
    }
    auto copy = [&](int64_t i, int) { std::memcpy(copies_[i].to, copies_[i].from, copies_[i].bytes); };
    if (copies_.size() <= 2 * replicas_.size()) {
      for (size_t i = 0; i < copies_.size(); ++i) copy(i, 0);
    } else {
      options_.pool->ParallelFor(static_cast<int64_t>(copies_.size()), copy);
    }
  }

  absl::Status IssueStep(const StepInputs& inputs, const std::vector<int>& fetches) {
    TD_ASSIGN_OR_RETURN(const bool prefetched, prefetcher_->Take(inputs));
    WriteStaging(!prefetched);
    full_ = std::all_of(inputs_.begin(), inputs_.end(),
                        [&](const ReplicaInputs& r) { return r.rows == executable_->rows_per_replica(); });
    // The first full step is not captured as a graph: in it, libraries load what they load on first use, which is not
    // allowed during capture.
    const bool graphs = full_ && FirstRowsAreUsual() && warm_ && !clock_->runs();
    TD_RETURN_IF_ERROR(copies_behind_->Begin(fetches, inputs_));
    TD_RETURN_IF_ERROR(clock_->BeginRun());
    TD_RETURN_IF_ERROR(IssueAll(prefetched, graphs));
    if (copies_behind_->active()) {
      TD_RETURN_IF_ERROR(ForEachReplica([&](GpuReplica&, size_t r) { return copies_behind_->Join(r); }));
    }
    return absl::OkStatus();
  }

  // True if all replicas before this process's own are full, too. The first row of a replica in the global batch is a
  // parameter of kernels, and a graph contains its value.
  bool FirstRowsAreUsual() const {
    for (size_t r = 0; r < inputs_.size(); ++r) {
      const int64_t before = first_replica_ + static_cast<int64_t>(r);
      if (inputs_[r].first_row != before * executable_->rows_per_replica()) return false;
    }
    return true;
  }

  absl::Status FinishStep() {
    TD_RETURN_IF_ERROR(Wait("a step"));
    TD_RETURN_IF_ERROR(clock_->EndRun(inputs_));
    prefetcher_->Release();
    warm_ |= full_;
    return absl::OkStatus();
  }

  absl::Status ForEachReplica(absl::FunctionRef<absl::Status(GpuReplica&, size_t)> fn) {
    for (size_t r = 0; r < replicas_.size(); ++r) {
      CudaDevice& device = replicas_[r]->device();
      TD_RETURN_IF_ERROR(device.MakeCurrent());
      TD_RETURN_IF_ERROR(device.Check(fn(*replicas_[r], r)));
    }
    return absl::OkStatus();
  }

  absl::Status IssueAll(bool prefetched, bool graphs) {
    auto head = [&](GpuReplica& replica, size_t r) { return replica.IssueHead(inputs_[r].rows, full_, prefetched); };
    auto tail = [&](GpuReplica& replica, size_t) { return replica.IssueTail(); };
    if (!graphs || !head_captured_) TD_RETURN_IF_ERROR(ForEachReplica(head));
    for (uint32_t s = 0; s < plan_.segments.size(); ++s) {
      const PlannedSegment& segment = plan_.segments[s];
      TD_RETURN_IF_ERROR(ForEachReplica([&](GpuReplica& replica, size_t) -> absl::Status {
        for (uint32_t w : segment.waits) TD_RETURN_IF_ERROR(replica.WaitFor(w, segment.stream));
        return absl::OkStatus();
      }));
      for (uint32_t p = 0; p < segment.pieces.size(); ++p) {
        const PlannedPiece& piece = segment.pieces[p];
        if (piece.kind != PlannedPiece::kCommands) {
          TD_RETURN_IF_ERROR(piece.kind == PlannedPiece::kAllReduce ? AllReduce(piece.commands[0], segment.stream)
                                                                    : CombineFlag());
          continue;
        }
        const bool graph = graphs && piece.captured && segment.stream == format::Stream::kCompute;
        const bool with_head = graph && head_captured_ && s == 0 && p == 0;
        const bool with_tail =
            graph && tail_captured_ && s + 1 == plan_.segments.size() && p + 1 == segment.pieces.size();
        TD_RETURN_IF_ERROR(ForEachReplica([&](GpuReplica& replica, size_t r) -> absl::Status {
          auto issue = [&]() -> absl::Status {
            if (with_head) TD_RETURN_IF_ERROR(head(replica, r));
            TD_RETURN_IF_ERROR(IssueCommands(piece, replica, r, segment.stream));
            return with_tail ? tail(replica, r) : absl::OkStatus();
          };
          return graph ? replica.LaunchGraph({s, p, with_head && prefetched}, issue) : issue();
        }));
      }
      if (copies_behind_->active()) {
        TD_RETURN_IF_ERROR(ForEachReplica([&](GpuReplica&, size_t r) { return copies_behind_->AfterSegment(s, r); }));
      }
      if (!segment.awaited) continue;
      TD_RETURN_IF_ERROR(
          ForEachReplica([&](GpuReplica& replica, size_t) { return replica.RecordEnd(s, segment.stream); }));
    }
    if (graphs && tail_captured_) return absl::OkStatus();
    return ForEachReplica([&](GpuReplica& replica, size_t r) -> absl::Status {
      for (uint32_t w : plan_.unawaited) TD_RETURN_IF_ERROR(replica.WaitFor(w, format::Stream::kCompute));
      return tail(replica, r);
    });
  }

  absl::Status IssueCommands(const PlannedPiece& piece, GpuReplica& replica, size_t r, format::Stream on) {
    for (uint32_t command : piece.commands) {
      TD_RETURN_IF_ERROR(clock_->BeginCommand(r, command, replica.stream(on)));
      TD_RETURN_IF_ERROR(replica.issuer().Issue(command, inputs_[r].rows, inputs_[r].first_row, replica.stream(on)));
      TD_RETURN_IF_ERROR(clock_->EndCommand(r, command, replica.stream(on)));
    }
    return absl::OkStatus();
  }

  // Returns the tensor of buffer `b`; if `b` is null, that of the finite flags.
  CollectiveTensor TensorOf(const format::Buffer* b) const {
    CollectiveTensor tensor;
    tensor.elements = b == nullptr ? 1 : NumElements(b->shape);
    tensor.dtype = b == nullptr ? DType::kInt32 : b->dtype;
    for (const auto& replica : replicas_) {
      tensor.buffers.push_back(b == nullptr ? replica->memory().flag() : replica->memory().Address(*b));
    }
    return tensor;
  }

  absl::Status Combine(format::ReduceKind kind, const std::vector<CollectiveTensor>& tensors, bool all_present,
                       format::Stream on) {
    std::vector<bool> present;
    for (const int64_t rows : replica_rows_) present.push_back(all_present || rows > 0);
    absl::InlinedVector<CUstream, 16> streams;
    for (const auto& replica : replicas_) streams.push_back(replica->stream(on));
    // If no replica has rows, there is nothing to combine, and all replicas hold the same values.
    if (std::count(present.begin(), present.end(), true) == 0) return absl::OkStatus();
    return communicator_->AllReduce(kind, tensors, present, streams);
  }

  absl::Status AllReduce(uint32_t number, format::Stream on) {
    const format::Command& table = *plan_.tables[number];
    std::vector<CollectiveTensor> tensors;
    for (uint32_t b : table.inputs) tensors.push_back(TensorOf(&program_.buffers[b]));
    TD_RETURN_IF_ERROR(ForEachReplica(
        [&](GpuReplica& replica, size_t r) { return clock_->BeginCommand(r, number, replica.stream(on)); }));
    absl::Status status = Combine(plan_.commands[number]->collective()->kind, tensors, false, on);
    if (!status.ok()) return Annotate(status, absl::StrCat(table.name, ": "));
    return ForEachReplica(
        [&](GpuReplica& replica, size_t r) { return clock_->EndCommand(r, number, replica.stream(on)); });
  }

  // Combines the flag on the communication stream, where collectives of one communicator follow each other.
  absl::Status CombineFlag() {
    TD_RETURN_IF_ERROR(
        ForEachReplica([](GpuReplica& replica, size_t) { return replica.Join(format::Stream::kCommunication); }));
    TD_RETURN_IF_ERROR(Combine(format::ReduceKind::kMax, {TensorOf(nullptr)}, true, format::Stream::kCommunication));
    return ForEachReplica([](GpuReplica& replica, size_t) { return replica.Join(format::Stream::kCompute); });
  }

  // Waits until all streams have done their work. A single GPU is polled, at first without pauses and then less and
  // less often.
  absl::Status Wait(const std::string& what) {
    if (communicator_ != nullptr) {
      std::vector<CUstream> streams;
      for (const auto& replica : replicas_) streams.push_back(replica->stream(format::Stream::kCompute));
      return communicator_->Wait(streams, options_.deadline_seconds, what);
    }
    CudaDevice& device = replicas_[0]->device();
    TD_RETURN_IF_ERROR(device.MakeCurrent());
    const auto begin = std::chrono::steady_clock::now();
    while (true) {
      const CUresult result = device.driver().cuStreamQuery(replicas_[0]->stream(format::Stream::kCompute));
      if (result != kCudaNotReady) return device.Check(CudaStatus(device.driver(), result, "cuStreamQuery"));
      const double waited = SecondsSince(begin);
      const absl::Duration pause = WaitPause(absl::Seconds(waited));
      if (pause > absl::ZeroDuration()) absl::SleepFor(pause);
      if (waited > options_.deadline_seconds) {
        return absl::DeadlineExceededError(absl::StrCat(device.name(), " (", device.model(), ") did not finish ", what,
                                                        " within ", options_.deadline_seconds, " seconds"));
      }
    }
  }

  absl::Status Fetch(const std::vector<int>& fetches, StepResult& result) {
    std::vector<std::vector<DeviceMemory::Region>> regions(replicas_.size());
    for (int f : fetches) {
      const format::Buffer& b = program_.buffers[index_.outputs[f].buffer];
      Shape shape = b.shape;
      if (b.row_bytes > 0) {
        shape[0] = 0;
        for (const ReplicaInputs& replica : inputs_) shape[0] += replica.rows;
      }
      HostTensor value(b.dtype, shape);
      auto* to = static_cast<uint8_t*>(value.raw());
      if (const uint8_t* small = replicas_[0]->TailOutput(f)) {
        std::memcpy(to, small, value.byte_size());
      } else if (b.row_bytes == 0) {
        regions[0].push_back({replicas_[0]->memory().Address(b), to, static_cast<uint64_t>(value.byte_size())});
      } else {
        for (size_t r = 0; r < replicas_.size(); ++r) {
          const uint64_t bytes = inputs_[r].rows * b.row_bytes;
          if (const uint8_t* rows = copies_behind_->Rows(f, r)) {
            std::memcpy(to, rows, bytes);
          } else if (bytes > 0) {
            regions[r].push_back({replicas_[r]->memory().Address(b), to, bytes});
          }
          to += bytes;
        }
      }
      result.outputs[f] = std::move(value);
    }
    for (size_t r = 0; r < replicas_.size(); ++r) {
      if (!regions[r].empty()) TD_RETURN_IF_ERROR(replicas_[r]->device().Download(regions[r]));
    }
    return absl::OkStatus();
  }

  // Runs command by command in the order of the program, all on the compute streams, and checks the outputs of each. It
  // exchanges nothing with the other processes, because one of them may find a NaN or infinity in an earlier command
  // and stop there.
  absl::StatusOr<std::string> Find() {
    WriteStaging(true);
    const bool any_rows =
        std::any_of(replica_rows_.begin(), replica_rows_.end(), [](int64_t rows) { return rows > 0; });
    TD_RETURN_IF_ERROR(ForEachReplica(
        [&](GpuReplica& replica, size_t r) { return replica.IssueHead(inputs_[r].rows, false, false); }));
    for (uint32_t s = 0; s < plan_.tables.size(); ++s) {
      const format::Command& table = *plan_.tables[s];
      if (plan_.commands[s]->WritesVariables(program_)) return std::string();
      const bool collective = plan_.commands[s]->collective().has_value();
      if (collective && communicator_ != nullptr && group_ == nullptr)
        TD_RETURN_IF_ERROR(AllReduce(s, format::Stream::kCompute));
      TD_RETURN_IF_ERROR(ForEachReplica([&](GpuReplica& replica, size_t r) -> absl::Status {
        const CUstream stream = replica.stream(format::Stream::kCompute);
        if (!collective) {
          TD_RETURN_IF_ERROR(replica.issuer().Issue(s, inputs_[r].rows, inputs_[r].first_row, stream));
        }
        if (inputs_[r].rows > 0 || !any_rows) {
          TD_RETURN_IF_ERROR(replica.issuer().CheckOutputs(s, inputs_[r].rows, stream));
        }
        return replica.IssueTail();
      }));
      TD_RETURN_IF_ERROR(Wait(table.name));
      for (size_t r = 0; r < replicas_.size(); ++r) {
        if (replicas_[r]->finite() || (inputs_[r].rows == 0 && any_rows)) continue;
        const int replica = first_replica_ + static_cast<int>(r);
        return absl::StrCat(DescribeCommand(*executable_, table, replica),
                            plan_.map[s] ? absl::StrCat(", lane ", replica) : "");
      }
    }
    return std::string();
  }

  struct CopyPiece {
    uint8_t* to;
    const uint8_t* from;
    int64_t bytes;
  };

  const std::shared_ptr<const Executable> executable_;
  const format::Index& index_;
  const format::Program& program_;
  const std::shared_ptr<VariableStore> variables_;
  const Options options_;
  ProcessGroup* const group_;  // null if there is only one process
  const int processes_, first_replica_;
  SegmentPlan plan_;
  std::map<CudaDevice*, std::unique_ptr<DeviceProgram>> programs_;
  std::vector<std::unique_ptr<GpuReplica>> replicas_;
  std::unique_ptr<Communicator> communicator_;  // null if there is only one replica
  std::unique_ptr<BatchPrefetcher> prefetcher_;
  std::unique_ptr<FetchCopies> copies_behind_;
  std::unique_ptr<CommandClock> clock_;
  bool head_captured_ = false, tail_captured_ = false;
  std::mutex mutex_;
  absl::Status broken_;
  bool initialized_ = false, warm_ = false;
  std::vector<CopyPiece> copies_;
  // The following members are set for every step.
  std::vector<ReplicaInputs> inputs_;  // indexed by replica of this process
  std::vector<int64_t> replica_rows_;  // numbers of rows of all replicas, in all processes
  bool full_ = false;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Session>> NewCudaSession(std::shared_ptr<const Executable> executable,
                                                        std::shared_ptr<VariableStore> variables,
                                                        Session::Options options) {
  auto session = std::make_unique<CudaSession>(std::move(executable), std::move(variables), std::move(options));
  TD_RETURN_IF_ERROR(session->Init());
  return session;
}

}  // namespace tandem

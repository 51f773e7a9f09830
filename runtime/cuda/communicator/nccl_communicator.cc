// The communicator over NCCL, with a GPU per replica. One thread drives all GPUs of a process, so every collective is a
// group: outside of one, the first rank's call could wait for the second's for ever.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/annotate.h"
#include "base/dtype.h"
#include "base/exit_code.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "base/steady_time.h"
#include "base/threads.h"
#include "runtime/collectives/process_group.h"
#include "runtime/cuda/communicator/collective_check.h"
#include "runtime/cuda/communicator/communicator.h"
#include "runtime/cuda/communicator/nccl_api.h"
#include "runtime/cuda/communicator/nccl_tree.h"
#include "runtime/cuda/driver/leave_alone.h"
#include "runtime/cuda/driver/memory_calls.h"
#include "runtime/cuda/kernels/library_kernels.h"

namespace tandem {
namespace {

uint64_t BytesOf(const CollectiveTensor& t) { return t.elements * SizeOf(t.dtype); }

ncclDataType_t TypeOf(DType type) {
  switch (type) {
    case DType::kFloat64:
      return nccl::kFloat64;
    case DType::kInt32:
      return nccl::kInt32;
    case DType::kInt64:
      return nccl::kInt64;
    default:
      return nccl::kFloat32;
  }
}

// The pause between two checks for errors.
constexpr std::chrono::milliseconds kPollPeriod(20);
// The time for which NCCL may abort its communicators before they are left alone.
constexpr absl::Duration kAbortTime = absl::Seconds(5);

void* Pointer(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

class NcclCommunicator : public Communicator {
 public:
  NcclCommunicator(const DriverApi* driver, const NcclApi* nccl, std::vector<CommunicatorDevice> devices,
                   ProcessGroup* group)
      : Communicator(driver, std::move(devices), group), nccl_(nccl), group_(group) {}

  ~NcclCommunicator() override {
    // Destroying a communicator may wait for other processes, which do not take part after an error. So it is aborted
    // instead.
    if (!complete_ || (group_ != nullptr && !group_->status().ok())) AbortAll();
    if (left_alone_) {
      LeaveAlone(std::move(tree_));
      for (auto& kernels : kernels_) LeaveAlone(std::move(kernels));
      return;
    }
    tree_.reset();
    for (ncclComm_t comm : comms_) nccl_->ncclCommDestroy(comm);
    for (size_t r = 0; r < kernels_.size(); ++r) {
      driver_->cuCtxSetCurrent(devices_[r].context);
      kernels_[r].reset();
    }
  }

  absl::Status Init(bool tree_order) {
    TD_RETURN_IF_ERROR(group_ != nullptr ? ConnectProcesses() : Connect());
    for (const CommunicatorDevice& d : devices_) {
      TD_CU(*driver_, cuCtxSetCurrent(d.context));
      TD_ASSIGN_OR_RETURN(std::unique_ptr<LibraryKernels> kernels, LibraryKernels::Create(driver_));
      kernels_.push_back(std::move(kernels));
    }
    // A sum of two numbers is the same in any order.
    if (tree_order && replicas() > 2) {
      TD_ASSIGN_OR_RETURN(tree_,
                          NcclTree::Create(driver_, nccl_, &devices_, &comms_, &kernels_, first_replica_, replicas()));
    }
    complete_ = true;
    return absl::OkStatus();
  }

  const char* name() const override { return "NCCL"; }
  // NCCL's order of more than two numbers depends on how the GPUs are linked.
  bool tree_order() const override { return replicas() <= 2 || tree_ != nullptr; }

  absl::Status AllReduce(format::ReduceKind kind, absl::Span<const CollectiveTensor> tensors,
                         const std::vector<bool>& present, absl::Span<const CUstream> streams) override {
    TD_RETURN_IF_ERROR(CheckAllReduce(local_replicas(), replicas(), kind, tensors, present, streams.size()));
    if (tree_ != nullptr && kind != format::ReduceKind::kMax) {
      return tree_->AllReduce(
          kind, tensors, present, streams,
          [this](const std::string& what, const std::function<ncclResult_t(int)>& call) { return Group(what, call); });
    }
    // All ranks take part in NCCL's collectives, so an absent replica contributes the identity.
    for (int r = 0; r < local_replicas(); ++r) {
      if (present[first_replica_ + r]) continue;
      for (const CollectiveTensor& t : tensors) TD_RETURN_IF_ERROR(FillIdentity(kind, t, r, streams[r]));
    }
    const ncclRedOp_t op = kind == format::ReduceKind::kMax ? nccl::kMax : nccl::kSum;
    TD_RETURN_IF_ERROR(Group("all-reduce", [&](int r) {
      for (const CollectiveTensor& t : tensors) {
        if (t.elements == 0) continue;
        const ncclResult_t result = nccl_->ncclAllReduce(Pointer(t.buffers[r]), Pointer(t.buffers[r]), t.elements,
                                                         TypeOf(t.dtype), op, comms_[r], streams[r]);
        if (result != nccl::kSuccess) return result;
      }
      return nccl::kSuccess;
    }));
    const int64_t count = std::count(present.begin(), present.end(), true);
    if (kind != format::ReduceKind::kMean || count == 1) return absl::OkStatus();
    for (int r = 0; r < local_replicas(); ++r) {
      TD_CU(*driver_, cuCtxSetCurrent(devices_[r].context));
      for (const CollectiveTensor& t : tensors) {
        TD_RETURN_IF_ERROR(kernels_[r]->Divide(t.dtype, t.buffers[r], count, t.elements, streams[r]));
      }
    }
    return absl::OkStatus();
  }

  absl::Status Poll() override {
    // The group learns before NCCL does which process is lost.
    if (group_ != nullptr) TD_RETURN_IF_ERROR(group_->status());
    for (size_t r = 0; r < comms_.size(); ++r) {
      ncclResult_t error = nccl::kSuccess;
      ncclResult_t result = nccl_->ncclCommGetAsyncError(comms_[r], &error);
      if (result == nccl::kSuccess) result = error;
      if (result == nccl::kSuccess || result == nccl::kInProgress) continue;
      return WithExitCode(
          absl::UnavailableError(absl::StrCat("a collective failed on ", ReplicaName(static_cast<int>(r)),
                                              ": NCCL says ", nccl_->ncclGetErrorString(result))),
          kExitTemporary);
    }
    return absl::OkStatus();
  }

  void AbortAll() override {
    if (comms_.empty()) return;
    // An abort also frees the communicators, so they are not destroyed again. Freeing their memory waits for all work
    // of a GPU, for ever if something else hangs there, so another thread calls the abort.
    const auto aborted = std::make_shared<absl::Notification>();
    absl::StatusOr<std::thread> thread =
        StartThread("aborting collectives", [nccl = nccl_, comms = std::exchange(comms_, {}), aborted] {
          for (ncclComm_t comm : comms) nccl->ncclCommAbort(comm);
          aborted->Notify();
        });
    if (thread.ok()) thread->detach();
    if (!thread.ok() || !aborted->WaitForNotificationWithTimeout(kAbortTime)) left_alone_ = true;
  }

 private:
  absl::Status Connect() {
    std::vector<int> ordinals;
    for (const CommunicatorDevice& d : devices_) ordinals.push_back(d.ordinal);
    std::vector<ncclComm_t> comms(devices_.size());
    TD_ASSIGN_OR_RETURN(const std::unique_lock<std::timed_mutex> no_memory_calls, KeepMemoryCallsOut());
    TD_RETURN_IF_ERROR(NcclStatus(*nccl_,
                                  nccl_->ncclCommInitAll(comms.data(), static_cast<int>(comms.size()), ordinals.data()),
                                  GpusToConnect()));
    comms_ = std::move(comms);
    return absl::OkStatus();
  }

  // NCCL waits for all ranks without a limit. So each process first tells the group that it is ready, and the group has
  // a deadline.
  absl::Status ConnectProcesses() {
    // RunProgram sets it (base/program.cc says why); the environment of another program is its own.
    if (std::getenv("NCCL_RUNTIME_CONNECT") == nullptr) {
      TD_LOG(WARNING)
          << "NCCL_RUNTIME_CONNECT is not set: NCCL 2.22 and later connect GPUs in the first step, where no "
          << "deadline ends the wait for a process that is lost; set it to 0 at the start of the program";
    }
    ncclUniqueId id = {};
    if (group_->rank() == 0) TD_RETURN_IF_ERROR(NcclStatus(*nccl_, nccl_->ncclGetUniqueId(&id), "make an id"));
    const std::byte ready{1};
    std::vector<std::byte> all(group_->size());
    TD_RETURN_IF_ERROR(group_->AllGather({&ready, 1}, absl::MakeSpan(all), "whether all GPUs are ready for NCCL"));
    TD_RETURN_IF_ERROR(group_->Broadcast({reinterpret_cast<std::byte*>(id.internal), sizeof id.internal}, 0,
                                         "the id of NCCL's ranks"));
    std::vector<ncclComm_t> comms(devices_.size());
    TD_ASSIGN_OR_RETURN(const std::unique_lock<std::timed_mutex> no_memory_calls, KeepMemoryCallsOut());
    TD_RETURN_IF_ERROR(NcclStatus(*nccl_, nccl_->ncclGroupStart(), "start to connect processes"));
    absl::Status failed;
    for (int r = 0; r < local_replicas() && failed.ok(); ++r) {
      failed = CudaStatus(*driver_, driver_->cuCtxSetCurrent(devices_[r].context), "cuCtxSetCurrent");
      if (failed.ok()) {
        failed = NcclStatus(*nccl_, nccl_->ncclCommInitRank(&comms[r], replicas(), id, first_replica_ + r),
                            absl::StrCat("connect ", ReplicaName(r), " to other processes"));
      }
    }
    const absl::Status ended = NcclStatus(*nccl_, nccl_->ncclGroupEnd(), GpusToConnect());
    if (failed.ok()) failed = ended;
    if (!failed.ok()) {
      return Annotate(
          failed, "",
          "; each process needs GPUs of its own: set CUDA_VISIBLE_DEVICES where several are on one machine");
    }
    comms_ = std::move(comms);
    return absl::OkStatus();
  }

  // Returns "connect gpu:0, gpu:1", or "connect gpu:0 to other processes".
  std::string GpusToConnect() const {
    std::vector<std::string> names;
    for (const CommunicatorDevice& d : devices_) names.push_back(absl::StrCat("gpu:", d.ordinal));
    return absl::StrCat("connect ", absl::StrJoin(names, ", "), group_ != nullptr ? " to other processes" : "");
  }

  // Runs `call` for every replica of this process, between start and end of a group. The end must follow even a failed
  // call.
  absl::Status Group(const std::string& what, const std::function<ncclResult_t(int)>& call) {
    if (comms_.empty()) return absl::FailedPreconditionError("the communicator was aborted");
    TD_ASSIGN_OR_RETURN(const std::unique_lock<std::timed_mutex> no_memory_calls, KeepMemoryCallsOut());
    TD_RETURN_IF_ERROR(NcclStatus(*nccl_, nccl_->ncclGroupStart(), absl::StrCat("start an ", what)));
    absl::Status failed;
    for (int r = 0; r < local_replicas() && failed.ok(); ++r) {
      failed = NcclStatus(*nccl_, call(r), absl::StrCat("enqueue the ", what, " of ", ReplicaName(r)));
    }
    const absl::Status ended = NcclStatus(*nccl_, nccl_->ncclGroupEnd(), absl::StrCat("start the ", what));
    return failed.ok() ? ended : failed;
  }

  // Blocks calls that allocate or free memory (memory_calls.h) until the returned lock is released. With one GPU there
  // is no second launch to protect, and the lock is empty. A memory call that is running may itself wait for a
  // collective, so this wait ends with an error like the wait for a step: when Poll fails, or at the deadline.
  absl::StatusOr<std::unique_lock<std::timed_mutex>> KeepMemoryCallsOut() {
    std::unique_lock<std::timed_mutex> lock(MemoryCallsMutex(), std::defer_lock);
    if (local_replicas() == 1) return lock;
    const absl::Duration deadline = SteadyNow() + absl::Seconds(deadline_seconds_);
    while (!lock.try_lock_for(kPollPeriod)) {
      absl::Status status = Poll();
      if (status.ok() && SteadyNow() < deadline) continue;
      left_alone_ |= status.ok();
      AbortAll();
      if (!status.ok()) return status;
      return WithExitCode(
          absl::DeadlineExceededError(absl::StrCat("memory of a GPU was neither given nor taken back within ",
                                                   deadline_seconds_, " seconds, and a collective waits for that")),
          kExitTemporary);
    }
    return lock;
  }

  // Fills the buffer with 0 for sums, the lowest value for Max.
  absl::Status FillIdentity(format::ReduceKind kind, const CollectiveTensor& t, int replica, CUstream stream) {
    if (t.elements == 0) return absl::OkStatus();
    TD_CU(*driver_, cuCtxSetCurrent(devices_[replica].context));
    const CUdeviceptr buffer = t.buffers[replica];
    if (kind != format::ReduceKind::kMax) {
      TD_CU(*driver_, cuMemsetD8Async(buffer, 0, BytesOf(t), stream));
      return absl::OkStatus();
    }
    const bool is_float = t.dtype == DType::kFloat32 || t.dtype == DType::kFloat64;
    const bool wide = t.dtype == DType::kFloat64 || t.dtype == DType::kInt64;
    // The upper (or only) word of -infinity, or of the lowest integer; the lower word is 0.
    const unsigned upper = !is_float ? 0x80000000u : wide ? 0xfff00000u : 0xff800000u;
    if (!wide) {
      TD_CU(*driver_, cuMemsetD32Async(buffer, upper, t.elements, stream));
      return absl::OkStatus();
    }
    TD_CU(*driver_, cuMemsetD8Async(buffer, 0, BytesOf(t), stream));
    TD_CU(*driver_, cuMemsetD2D32Async(buffer + 4, 8, upper, 1, t.elements, stream));
    return absl::OkStatus();
  }

  const NcclApi* nccl_;
  ProcessGroup* const group_;      // null if there is only one process
  std::vector<ncclComm_t> comms_;  // indexed by replica of this process
  bool complete_ = false;          // true if Init has succeeded
  std::vector<std::unique_ptr<LibraryKernels>> kernels_;
  std::unique_ptr<NcclTree> tree_;  // null where sums are added in NCCL's order
};

}  // namespace

absl::StatusOr<std::unique_ptr<Communicator>> MakeNcclCommunicator(const DriverApi* driver,
                                                                   std::vector<CommunicatorDevice> devices,
                                                                   bool tree_order, ProcessGroup* group) {
  if (devices.empty()) return absl::InvalidArgumentError("a communicator needs a replica");
  TD_ASSIGN_OR_RETURN(const NcclApi* nccl, LoadNccl());
  auto communicator = std::make_unique<NcclCommunicator>(driver, nccl, std::move(devices), group);
  TD_RETURN_IF_ERROR(communicator->Init(tree_order));
  return communicator;
}

}  // namespace tandem

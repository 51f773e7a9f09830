// The communicator of replicas that share one GPU, and of a single replica: collectives are kernels and copies on
// replica 0's stream, which waits for the others' streams; then these wait for it.
#include <algorithm>
#include <utility>

#include "base/dtype.h"
#include "base/status_macros.h"
#include "runtime/cuda/communicator/collective_check.h"
#include "runtime/cuda/communicator/communicator.h"
#include "runtime/cuda/communicator/device_tree.h"
#include "runtime/cuda/driver/leave_alone.h"
#include "runtime/cuda/kernels/library_kernels.h"

namespace tandem {
namespace {

uint64_t Bytes(const CollectiveTensor& t) { return t.elements * SizeOf(t.dtype); }

class LocalCommunicator : public Communicator {
 public:
  LocalCommunicator(const DriverApi* driver, std::vector<CommunicatorDevice> devices)
      : Communicator(driver, std::move(devices)) {}

  ~LocalCommunicator() override {
    if (left_alone_) {
      LeaveAlone(std::move(kernels_));
      return;
    }
    for (CUevent event : events_) driver_->cuEventDestroy_v2(event);
  }

  absl::Status Init() {
    TD_CU(*driver_, cuCtxSetCurrent(devices_[0].context));
    TD_ASSIGN_OR_RETURN(kernels_, LibraryKernels::Create(driver_));
    if (replicas() == 1) return absl::OkStatus();
    for (int r = 0; r < replicas(); ++r) {
      CUevent event = nullptr;
      TD_CU(*driver_, cuEventCreate(&event, kCudaEventDisableTiming));
      events_.push_back(event);
    }
    return absl::OkStatus();
  }

  const char* name() const override { return "local"; }
  bool tree_order() const override { return true; }

  absl::Status AllReduce(format::ReduceKind kind, absl::Span<const CollectiveTensor> tensors,
                         const std::vector<bool>& present, absl::Span<const CUstream> streams) override {
    TD_RETURN_IF_ERROR(CheckAllReduce(replicas(), replicas(), kind, tensors, present, streams.size()));
    if (replicas() == 1) return absl::OkStatus();
    TD_RETURN_IF_ERROR(Join(streams));
    const int64_t count = std::count(present.begin(), present.end(), true);
    for (const CollectiveTensor& t : tensors) {
      const format::ReduceKind op =
          kind == format::ReduceKind::kMax ? format::ReduceKind::kMax : format::ReduceKind::kSum;
      TD_ASSIGN_OR_RETURN(const int root, Combine(op, t, present, streams[0]));
      if (kind == format::ReduceKind::kMean && count > 1) {
        TD_RETURN_IF_ERROR(kernels_->Divide(t.dtype, t.buffers[root], count, t.elements, streams[0]));
      }
      TD_RETURN_IF_ERROR(CopyToOthers(t, root, streams[0]));
    }
    return Fork(streams);
  }

  absl::Status Poll() override { return absl::OkStatus(); }
  void AbortAll() override {}

 private:
  absl::StatusOr<int> Combine(format::ReduceKind op, const CollectiveTensor& t, const std::vector<bool>& present,
                              CUstream stream) {
    return CombineInTree(present, [&](int a, int b) {
      return kernels_->Combine(op, t.dtype, t.buffers[a], t.buffers[b], t.elements, stream);
    });
  }

  absl::Status Copy(CUdeviceptr to, CUdeviceptr from, uint64_t bytes, CUstream stream) {
    if (bytes > 0 && to != from) TD_CU(*driver_, cuMemcpyDtoDAsync_v2(to, from, bytes, stream));
    return absl::OkStatus();
  }

  absl::Status CopyToOthers(const CollectiveTensor& t, int root, CUstream stream) {
    for (int r = 0; r < replicas(); ++r) {
      TD_RETURN_IF_ERROR(Copy(t.buffers[r], t.buffers[root], Bytes(t), stream));
    }
    return absl::OkStatus();
  }

  absl::Status Join(absl::Span<const CUstream> streams) {
    for (int r = 1; r < replicas(); ++r) {
      if (streams[r] == streams[0]) continue;
      TD_CU(*driver_, cuEventRecord(events_[r], streams[r]));
      TD_CU(*driver_, cuStreamWaitEvent(streams[0], events_[r], 0));
    }
    return absl::OkStatus();
  }

  absl::Status Fork(absl::Span<const CUstream> streams) {
    if (std::all_of(streams.begin(), streams.end(), [&](CUstream s) { return s == streams[0]; })) {
      return absl::OkStatus();
    }
    TD_CU(*driver_, cuEventRecord(events_[0], streams[0]));
    for (int r = 1; r < replicas(); ++r) {
      if (streams[r] != streams[0]) TD_CU(*driver_, cuStreamWaitEvent(streams[r], events_[0], 0));
    }
    return absl::OkStatus();
  }

  std::unique_ptr<LibraryKernels> kernels_;
  std::vector<CUevent> events_;  // indexed by replica
};

}  // namespace

absl::StatusOr<std::unique_ptr<Communicator>> MakeLocalCommunicator(const DriverApi* driver,
                                                                    std::vector<CommunicatorDevice> devices) {
  if (devices.empty()) return absl::InvalidArgumentError("a communicator needs a replica");
  for (const CommunicatorDevice& d : devices) {
    if (d.context != devices[0].context) {
      return absl::InvalidArgumentError("an in-process communicator needs all replicas in one context");
    }
  }
  auto communicator = std::make_unique<LocalCommunicator>(driver, std::move(devices));
  TD_RETURN_IF_ERROR(communicator->Init());
  return communicator;
}

}  // namespace tandem

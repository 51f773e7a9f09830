// Collectives between the devices of one process, or of several.
//
// All calls come from the one thread that drives the process' devices; each only enqueues work on the replicas'
// streams. Buffers and streams are listed by replica of this process. A collective of several tensors is one group:
// NCCL starts it as a whole. The current context may be another one after a call.
#ifndef TANDEM_RUNTIME_CUDA_COMMUNICATOR_H_
#define TANDEM_RUNTIME_CUDA_COMMUNICATOR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/cuda/cuda_types.h"
#include "runtime/cuda/driver_api.h"
#include "runtime/format/index.h"

namespace tandem {

class ProcessGroup;  // runtime/collectives/process_group.h

// A replica's place. Replicas may share a device.
struct CommunicatorDevice {
  int ordinal = 0;  // as cuDeviceGet takes it
  CUcontext context = nullptr;
};

// One tensor of a collective: a buffer per replica of this process, all of the same size and type.
struct CollectiveTensor {
  std::vector<CUdeviceptr> buffers;
  int64_t elements = 0;
  DType dtype = DType::kFloat32;
};

class Communicator {
 public:
  virtual ~Communicator() = default;

  // Of all processes.
  int replicas() const { return replicas_; }
  // "NCCL" or "local".
  virtual const char* name() const = 0;
  // Whether a sum of AllReduce has the bits of the CPU's reduction tree. NCCL: for up to two replicas, or where that
  // was asked for.
  virtual bool tree_order() const = 0;

  // In place: every buffer becomes the combination of all replicas'. `present[r]`: whether replica r of all processes
  // had rows; the others take no part but get the result (as TreeReduce does). At least one must be present. Sum and
  // Max: float32, float64, int32, int64. Mean, the sum divided by the number of replicas present: float32, float64. Max
  // keeps NaN in the in-process communicator; NCCL makes no promise. Errors: InvalidArgument for other types; those of
  // the libraries.
  virtual absl::Status AllReduce(format::ReduceKind kind, absl::Span<const CollectiveTensor> tensors,
                                 const std::vector<bool>& present, absl::Span<const CUstream> streams) = 0;

  // Whether a collective failed since it was enqueued. Unavailable: "NCCL: replica 1 (gpu:1): ...".
  virtual absl::Status Poll() = 0;
  // Ends what is under way, so that no stream waits for it any longer. Takes seconds at most, though it may not come to
  // its end then. Nothing but destruction may follow.
  virtual void AbortAll() = 0;

  // How long AllReduce waits for other threads' calls for memory (memory_calls.h) before it is an error: 600 where
  // nobody sets it.
  void set_deadline_seconds(double seconds) { deadline_seconds_ = seconds; }

  // Waits until `streams` have done their work, polling for errors; after `deadline_seconds` without an end, or after
  // an error, calls AbortAll. Errors: DeadlineExceeded that names `what` and the replicas that did not finish (exit
  // code 75), Poll's, the driver's.
  absl::Status Wait(absl::Span<const CUstream> streams, double deadline_seconds, const std::string& what);

 protected:
  // All processes of `group` have as many devices; null: there is one process.
  Communicator(const DriverApi* driver, std::vector<CommunicatorDevice> devices, const ProcessGroup* group = nullptr);

  int local_replicas() const { return static_cast<int>(devices_.size()); }
  // "replica 3 (gpu:1)", of the device at `index`.
  std::string ReplicaName(int index) const;

  const DriverApi* driver_;
  std::vector<CommunicatorDevice> devices_;
  const int replicas_;
  const int first_replica_;  // of this process, among all
  double deadline_seconds_ = 600;
  bool left_alone_ = false;  // the GPUs do not answer: what is on them is not destroyed
};

// NCCL when all devices differ, the in-process one when all are the same; one replica needs neither and gets the
// latter. Call it before the first step, with all memory allocated: NCCL synchronises devices while it starts.
// `tree_order`: sums have the bits of the CPU's reduction tree over any number of devices. `group`: the processes whose
// devices are connected, over NCCL, rank by rank; all call this, each with as many devices of its own. The group
// must outlive the result: after its first error, Wait returns that.
// Errors: InvalidArgument for some replicas that share a device and some that do not, and for more than 32 devices in
// tree order; those of LoadNccl, NCCL and the group.
absl::StatusOr<std::unique_ptr<Communicator>> MakeCommunicator(const DriverApi* driver,
                                                               std::vector<CommunicatorDevice> devices, bool tree_order,
                                                               ProcessGroup* group = nullptr);

// Over NCCL; every device once.
absl::StatusOr<std::unique_ptr<Communicator>> MakeNcclCommunicator(const DriverApi* driver,
                                                                   std::vector<CommunicatorDevice> devices,
                                                                   bool tree_order, ProcessGroup* group = nullptr);
// By kernels of our own in the order of the reduction tree, for replicas in one context.
absl::StatusOr<std::unique_ptr<Communicator>> MakeLocalCommunicator(const DriverApi* driver,
                                                                    std::vector<CommunicatorDevice> devices);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_COMMUNICATOR_H_

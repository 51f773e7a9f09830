// Collectives between the devices of one process, or of several.
//
// All calls come from the one thread that drives the process' devices; each only enqueues work on the replicas'
// streams. Buffers and streams are listed by replica of this process. A collective of several tensors is one group:
// NCCL starts it as a whole. A call may change the current context.
#ifndef TANDEM_RUNTIME_CUDA_COMMUNICATOR_COMMUNICATOR_H_
#define TANDEM_RUNTIME_CUDA_COMMUNICATOR_COMMUNICATOR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/cuda/driver/cuda_types.h"
#include "runtime/cuda/driver/driver_api.h"
#include "runtime/format/index.h"

namespace tandem {

class ProcessGroup;  // defined in runtime/collectives/process_group.h

// The device of a replica. Replicas may share a device.
struct CommunicatorDevice {
  int ordinal = 0;  // number of the device for cuDeviceGet
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

  // Returns the number of replicas of all processes.
  int replicas() const { return replicas_; }
  // "NCCL" or "local".
  virtual const char* name() const = 0;
  // True if a sum of AllReduce has the bits of the CPU's reduction tree. For NCCL this holds with up to two replicas,
  // or if tree order was requested.
  virtual bool tree_order() const = 0;

  // Works in place: every buffer gets the combination of all replicas' values. `present[r]`: true if replica r, counted
  // over all processes, had rows; the others' values are left out, but they get the result (like TreeReduce). At least
  // one must be present. Sum and Max: float32, float64, int32, int64. Mean, the sum divided by the number of replicas
  // present: float32, float64. Max keeps NaN in the in-process communicator; NCCL makes no promise. Errors:
  // InvalidArgument for other types; those of the libraries.
  virtual absl::Status AllReduce(format::ReduceKind kind, absl::Span<const CollectiveTensor> tensors,
                                 const std::vector<bool>& present, absl::Span<const CUstream> streams) = 0;

  // Returns an error if a collective failed since it was enqueued. Unavailable: "NCCL: replica 1 (gpu:1): ...".
  virtual absl::Status Poll() = 0;
  // Ends the collectives that are running, so that no stream waits for them any longer. Takes seconds at most, and may
  // return before they have ended. Only the destructor may be called afterwards.
  virtual void AbortAll() = 0;

  // Sets how long AllReduce waits for other threads' calls for memory (memory_calls.h) before it returns an error. The
  // default is 600.
  void set_deadline_seconds(double seconds) { deadline_seconds_ = seconds; }

  // Waits until `streams` have done their work, polling for errors; after `deadline_seconds` without an end, or after
  // an error, calls AbortAll. Errors: DeadlineExceeded that names `what` and the replicas that did not finish (exit
  // code 75), Poll's, the driver's.
  absl::Status Wait(absl::Span<const CUstream> streams, double deadline_seconds, const std::string& what);

 protected:
  // All processes of `group` must have the same number of devices. If it is null, there is one process.
  Communicator(const DriverApi* driver, std::vector<CommunicatorDevice> devices, const ProcessGroup* group = nullptr);

  int local_replicas() const { return static_cast<int>(devices_.size()); }
  // Returns a text such as "replica 3 (gpu:1)" for the device at `index`.
  std::string ReplicaName(int index) const;

  const DriverApi* driver_;
  std::vector<CommunicatorDevice> devices_;
  const int replicas_;
  const int first_replica_;  // number of this process's first replica, among all
  double deadline_seconds_ = 600;
  bool left_alone_ = false;  // true if the GPUs do not answer; then nothing on them is destroyed
};

// Makes a communicator: NCCL when all devices differ, the in-process one when all are the same; one replica needs
// neither and gets the latter. Call it before the first step, with all memory allocated: NCCL synchronises devices
// while it starts. `tree_order`: sums have the bits of the CPU's reduction tree over any number of devices. `group`:
// the processes whose devices are connected, over NCCL, rank by rank; all call this, each with as many devices of its
// own. The group must outlive the result: after the group's first error, Wait returns that error.
// Errors: InvalidArgument where some replicas share a device and some do not, and for more than 32 devices in tree
// order; those of LoadNccl, NCCL and the group.
absl::StatusOr<std::unique_ptr<Communicator>> MakeCommunicator(const DriverApi* driver,
                                                               std::vector<CommunicatorDevice> devices, bool tree_order,
                                                               ProcessGroup* group = nullptr);

// Makes a communicator over NCCL; the devices must differ.
absl::StatusOr<std::unique_ptr<Communicator>> MakeNcclCommunicator(const DriverApi* driver,
                                                                   std::vector<CommunicatorDevice> devices,
                                                                   bool tree_order, ProcessGroup* group = nullptr);
// Makes a communicator of Tandem's own kernels, which combine in the order of the reduction tree, for replicas in one
// context.
absl::StatusOr<std::unique_ptr<Communicator>> MakeLocalCommunicator(const DriverApi* driver,
                                                                    std::vector<CommunicatorDevice> devices);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_COMMUNICATOR_COMMUNICATOR_H_

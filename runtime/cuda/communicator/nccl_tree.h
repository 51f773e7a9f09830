// NcclTree: all-reduces over GPUs, of one process or several, in the order of the reduction tree, by NCCL's sends and
// receives.
//
// NCCL adds in an order that depends on how the GPUs are linked. Here every replica owns a part of each tensor: the
// others send it their values of that part, it adds them up by the tree (runtime/collectives/reduction_tree.h), and
// sends the result to all. This moves as many bytes as a ring, and the result has the same bits for any number of
// devices. Small tensors are sent to all as a whole, and every replica adds them up: one exchange instead of two.
#ifndef TANDEM_RUNTIME_CUDA_COMMUNICATOR_NCCL_TREE_H_
#define TANDEM_RUNTIME_CUDA_COMMUNICATOR_NCCL_TREE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/cuda/communicator/communicator.h"
#include "runtime/cuda/communicator/nccl_api.h"
#include "runtime/cuda/kernels/library_kernels.h"

namespace tandem {

class NcclTree {
 public:
  using KernelList = std::vector<std::unique_ptr<LibraryKernels>>;
  // Calls the function, which calls NCCL, for every replica, between the start and the end of a group. The first
  // argument says what the calls do, for errors.
  using Group = absl::FunctionRef<absl::Status(const std::string&, const std::function<ncclResult_t(int)>&)>;

  // The replicas of `devices` are `first_replica` and those behind it, of `replicas` in all processes. Allocates 32 MiB
  // on every GPU. All arguments must outlive the result. `comms` may be emptied; NCCL is not called afterwards.
  static absl::StatusOr<std::unique_ptr<NcclTree>> Create(const DriverApi* driver, const NcclApi* nccl,
                                                          const std::vector<CommunicatorDevice>* devices,
                                                          const std::vector<ncclComm_t>* comms,
                                                          const KernelList* kernels, int first_replica, int replicas);
  ~NcclTree();
  NcclTree(const NcclTree&) = delete;
  NcclTree& operator=(const NcclTree&) = delete;

  // Does what Communicator::AllReduce does; the arguments have passed its checks.
  absl::Status AllReduce(format::ReduceKind kind, absl::Span<const CollectiveTensor> tensors,
                         const std::vector<bool>& present, absl::Span<const CUstream> streams, Group group);

 private:
  // Elements [begin, begin + count) of a tensor. They are cut into a part for each replica, or, if `whole`, every
  // replica reduces all of them.
  struct Piece {
    const CollectiveTensor* tensor;
    int64_t begin, count;
    bool whole;
    // offset in the workspaces of the piece's slots, one for each replica, which receive the other replicas' values
    uint64_t room = 0;
  };
  struct Batch {
    std::vector<Piece> pieces;
    uint64_t bytes = 0;
  };

  // Some elements in a replica's memory.
  struct Stretch {
    CUdeviceptr address = 0;
    int64_t count = 0;
  };
  // Returns elements of a piece, for replica r of this process and its peer p, counted among the replicas of all
  // processes.
  using Values = absl::FunctionRef<Stretch(const Piece& piece, int r, int p)>;

  NcclTree(const DriverApi* driver, const NcclApi* nccl, const std::vector<CommunicatorDevice>* devices,
           const std::vector<ncclComm_t>* comms, const KernelList* kernels, int first_replica, int replicas)
      : driver_(*driver),
        nccl_(*nccl),
        devices_(*devices),
        comms_(*comms),
        kernels_(*kernels),
        first_replica_(first_replica),
        replicas_(replicas) {}
  absl::Status Allocate();

  int local_replicas() const { return static_cast<int>(devices_.size()); }
  std::vector<Batch> MakeBatches(absl::Span<const CollectiveTensor> tensors) const;
  // The part of replica p, counted among the replicas of all processes: its first element in the tensor, its number of
  // elements, and its address on this process's replica r.
  int64_t PartBegin(const Piece& piece, int p) const;
  int64_t PartCount(const Piece& piece, int p) const;
  CUdeviceptr PartAt(const Piece& piece, int r, int p) const;
  uint64_t SlotBytes(const Piece& piece) const;
  // Returns the address of the values that replica q has sent to this process's replica r.
  CUdeviceptr SlotAt(const Piece& piece, int r, int q) const;

  // Every replica r of this process sends each peer p the elements that `sent` returns, and receives those that
  // `received` returns. Nothing is sent or received if they are empty.
  absl::Status Exchange(const Batch& batch, absl::Span<const CUstream> streams, Group group, Values sent,
                        Values received);
  // Every replica receives the other replicas' values of its part into its workspace.
  absl::Status Gather(const Batch& batch, const std::vector<bool>& present, absl::Span<const CUstream> streams,
                      Group group);
  absl::Status Reduce(format::ReduceKind kind, const Batch& batch, const std::vector<bool>& present,
                      absl::Span<const CUstream> streams);
  // Every replica sends the result of its part to all others.
  absl::Status Spread(const Batch& batch, absl::Span<const CUstream> streams, Group group);

  const DriverApi& driver_;
  const NcclApi& nccl_;
  const std::vector<CommunicatorDevice>& devices_;
  const std::vector<ncclComm_t>& comms_;
  const KernelList& kernels_;
  const int first_replica_, replicas_;
  std::vector<CUdeviceptr> workspaces_;  // indexed by replica of this process
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_COMMUNICATOR_NCCL_TREE_H_

#include "runtime/cuda/communicator/nccl_tree.h"

#include <algorithm>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "base/align.h"
#include "base/dtype.h"
#include "base/status_macros.h"
#include "runtime/cuda/communicator/device_tree.h"
#include "runtime/cuda/driver/memory_calls.h"

namespace tandem {
namespace {

constexpr uint64_t kWorkspaceBytes = uint64_t{32} << 20;
// Tensors of at most this many bytes are sent as a whole, because a second exchange would cost more than sending all
// bytes.
constexpr int64_t kWholeBytes = 16 << 10;
// NCCL's limit on the number of calls in a group.
constexpr int64_t kGroupCalls = 2048;
constexpr int64_t kPartAlign = 64;  // alignment of parts, in elements

int64_t ElementBytes(const CollectiveTensor& t) { return SizeOf(t.dtype); }

int64_t CallsOfPiece(int64_t replicas) { return 2 * replicas * (replicas - 1); }

}  // namespace

absl::StatusOr<std::unique_ptr<NcclTree>> NcclTree::Create(const DriverApi* driver, const NcclApi* nccl,
                                                           const std::vector<CommunicatorDevice>* devices,
                                                           const std::vector<ncclComm_t>* comms,
                                                           const KernelList* kernels, int first_replica, int replicas) {
  if (CallsOfPiece(replicas) > kGroupCalls) {
    return absl::InvalidArgumentError(absl::StrCat(
        "sums in the order of the reduction tree are for up to 32 GPUs, not ", replicas, ": leave it to NCCL"));
  }
  auto tree = absl::WrapUnique(new NcclTree(driver, nccl, devices, comms, kernels, first_replica, replicas));
  TD_RETURN_IF_ERROR(tree->Allocate());
  return tree;
}

absl::Status NcclTree::Allocate() {
  for (const CommunicatorDevice& d : devices_) {
    TD_CU(driver_, cuCtxSetCurrent(d.context));
    CUdeviceptr address = 0;
    TD_RETURN_IF_ERROR(CudaStatus(driver_, MemAlloc(driver_, &address, kWorkspaceBytes), "cuMemAlloc_v2"));
    workspaces_.push_back(address);
  }
  return absl::OkStatus();
}

NcclTree::~NcclTree() {
  for (size_t r = 0; r < workspaces_.size(); ++r) {
    driver_.cuCtxSetCurrent(devices_[r].context);
    MemFree(driver_, workspaces_[r]);
  }
}

int64_t NcclTree::PartBegin(const Piece& piece, int p) const {
  if (piece.whole) return piece.begin;
  const int64_t each = AlignUp((piece.count + replicas_ - 1) / replicas_, kPartAlign);
  return piece.begin + std::min(piece.count, each * p);
}

int64_t NcclTree::PartCount(const Piece& piece, int p) const {
  return piece.whole ? piece.count : PartBegin(piece, p + 1) - PartBegin(piece, p);
}

CUdeviceptr NcclTree::PartAt(const Piece& piece, int r, int p) const {
  return piece.tensor->buffers[r] + PartBegin(piece, p) * ElementBytes(*piece.tensor);
}

// Returns the bytes of a slot (the values received from one replica): those of the first part, which is the longest.
uint64_t NcclTree::SlotBytes(const Piece& piece) const {
  return AlignUp(PartCount(piece, 0) * ElementBytes(*piece.tensor), 256);
}

CUdeviceptr NcclTree::SlotAt(const Piece& piece, int r, int q) const {
  return workspaces_[r] + piece.room + q * SlotBytes(piece);
}

// Packs the tensors into batches, each of which fits the workspaces and a group.
std::vector<NcclTree::Batch> NcclTree::MakeBatches(absl::Span<const CollectiveTensor> tensors) const {
  const size_t most_pieces = kGroupCalls / CallsOfPiece(replicas_);
  std::vector<Batch> batches;
  for (const CollectiveTensor& t : tensors) {
    const bool whole = t.elements * ElementBytes(t) <= kWholeBytes;
    const int64_t most = static_cast<int64_t>(kWorkspaceBytes) / 2 / ElementBytes(t);
    for (int64_t begin = 0; begin < t.elements; begin += most) {
      Piece piece = {&t, begin, std::min(most, t.elements - begin), whole};
      const uint64_t bytes = replicas_ * SlotBytes(piece);
      if (batches.empty() || batches.back().pieces.size() == most_pieces ||
          batches.back().bytes + bytes > kWorkspaceBytes) {
        batches.emplace_back();
      }
      piece.room = batches.back().bytes;
      batches.back().bytes += bytes;
      batches.back().pieces.push_back(piece);
    }
  }
  return batches;
}

absl::Status NcclTree::AllReduce(format::ReduceKind kind, absl::Span<const CollectiveTensor> tensors,
                                 const std::vector<bool>& present, absl::Span<const CUstream> streams, Group group) {
  for (const Batch& batch : MakeBatches(tensors)) {
    TD_RETURN_IF_ERROR(Gather(batch, present, streams, group));
    TD_RETURN_IF_ERROR(Reduce(kind, batch, present, streams));
    TD_RETURN_IF_ERROR(Spread(batch, streams, group));
  }
  return absl::OkStatus();
}

absl::Status NcclTree::Exchange(const Batch& batch, absl::Span<const CUstream> streams, Group group, Values sent,
                                Values received) {
  return group("all-reduce in tree order", [&](int r) {
    for (const Piece& piece : batch.pieces) {
      const int64_t size = ElementBytes(*piece.tensor);
      for (int p = 0; p < replicas_; ++p) {
        if (p == first_replica_ + r) continue;
        if (const auto [address, count] = sent(piece, r, p); count > 0) {
          const ncclResult_t result = nccl_.ncclSend(reinterpret_cast<const void*>(address), count * size, nccl::kUInt8,
                                                     p, comms_[r], streams[r]);
          if (result != nccl::kSuccess) return result;
        }
        if (const auto [address, count] = received(piece, r, p); count > 0) {
          const ncclResult_t result =
              nccl_.ncclRecv(reinterpret_cast<void*>(address), count * size, nccl::kUInt8, p, comms_[r], streams[r]);
          if (result != nccl::kSuccess) return result;
        }
      }
    }
    return nccl::kSuccess;
  });
}

absl::Status NcclTree::Gather(const Batch& batch, const std::vector<bool>& present, absl::Span<const CUstream> streams,
                              Group group) {
  return Exchange(
      batch, streams, group,
      [&](const Piece& piece, int r, int p) {
        return present[first_replica_ + r] ? Stretch{PartAt(piece, r, p), PartCount(piece, p)} : Stretch();
      },
      [&](const Piece& piece, int r, int p) {
        return present[p] ? Stretch{SlotAt(piece, r, p), PartCount(piece, first_replica_ + r)} : Stretch();
      });
}

// Each replica of this process reduces its own part in the order of the tree. A subtree's result replaces its first
// leaf, which is a slot or the replica's own values.
absl::Status NcclTree::Reduce(format::ReduceKind kind, const Batch& batch, const std::vector<bool>& present,
                              absl::Span<const CUstream> streams) {
  const format::ReduceKind op = kind == format::ReduceKind::kMax ? format::ReduceKind::kMax : format::ReduceKind::kSum;
  const int64_t count = std::count(present.begin(), present.end(), true);
  for (int r = 0; r < local_replicas(); ++r) {
    const int self = first_replica_ + r;
    TD_CU(driver_, cuCtxSetCurrent(devices_[r].context));
    for (const Piece& piece : batch.pieces) {
      const int64_t n = PartCount(piece, self);
      if (n == 0) continue;
      const CUdeviceptr mine = PartAt(piece, r, self);
      const auto leaf = [&](int q) { return q == self ? mine : SlotAt(piece, r, q); };
      const DType dtype = piece.tensor->dtype;
      TD_ASSIGN_OR_RETURN(const int root, CombineInTree(present, [&](int a, int b) {
                            return kernels_[r]->Combine(op, dtype, leaf(a), leaf(b), n, streams[r]);
                          }));
      if (root != self)
        TD_CU(driver_, cuMemcpyDtoDAsync_v2(mine, leaf(root), n * ElementBytes(*piece.tensor), streams[r]));
      if (kind == format::ReduceKind::kMean && count > 1) {
        TD_RETURN_IF_ERROR(kernels_[r]->Divide(dtype, mine, count, n, streams[r]));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status NcclTree::Spread(const Batch& batch, absl::Span<const CUstream> streams, Group group) {
  const auto is_whole = [](const Piece& piece) { return piece.whole; };
  if (std::all_of(batch.pieces.begin(), batch.pieces.end(), is_whole)) return absl::OkStatus();
  const auto part = [&](const Piece& piece, int r, int owner) {
    return piece.whole ? Stretch() : Stretch{PartAt(piece, r, owner), PartCount(piece, owner)};
  };
  return Exchange(
      batch, streams, group, [&](const Piece& piece, int r, int) { return part(piece, r, first_replica_ + r); },
      [&](const Piece& piece, int r, int p) { return part(piece, r, p); });
}

}  // namespace tandem

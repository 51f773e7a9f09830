#include "runtime/collectives/shared_memory_group.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/stream_copy.h"
#include "runtime/collectives/meeting.h"
#include "runtime/collectives/reduction_tree.h"
#include "runtime/collectives/shared_mapping.h"
#include "runtime/collectives/vector_list.h"
#include "runtime/format/index.h"

namespace tandem {
namespace {

// Bytes of a rank's buffer, of which there are two. Measured with benchmarks/all_reduce: data that is copied in should
// still be in a cache when the others read it.
constexpr int64_t kSegmentBytes = 128 << 10;
// With at most this many bytes of all ranks together, one meeting is faster than two. Every rank then reduces
// everything by itself.
constexpr int64_t kOneMeetingBytes = 64 << 10;
// Bytes of a block: results are copied to other ranks or passed to `on_result` while the first-level cache still has
// them.
constexpr int64_t kBlockBytes = 16 << 10;
constexpr int64_t kSliceAlign = 16;  // alignment of slices, in elements, so that they begin at cache lines
constexpr size_t kFirstPage = 4096;

enum Collective : uint64_t { kAllReduce = 1, kAllGather, kBroadcast };

// Layout of the mapping: a page that only Create uses, the ranks' places in the meeting, two buffers of operands for
// each rank, two of results for all.
class SharedMemoryGroup : public ProcessGroup {
 public:
  static size_t MappingBytes(int size) {
    return kFirstPage + PlaceBytes(size) + 2 * kSegmentBytes * (static_cast<size_t>(size) + 1);
  }

  SharedMemoryGroup(int rank, int size, std::unique_ptr<SharedMapping> mapping, absl::Duration deadline)
      : rank_(rank),
        size_(size),
        mapping_(std::move(mapping)),
        buffers_(mapping_->data() + kFirstPage + PlaceBytes(size)),
        meeting_(reinterpret_cast<Meeting::Place*>(mapping_->data() + kFirstPage), rank, size, mapping_.get(),
                 deadline) {}

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::string transport() const override { return "shared memory"; }
  absl::Status AllGather(absl::Span<const std::byte> mine, absl::Span<std::byte> all, absl::string_view what) override;
  absl::Status Broadcast(absl::Span<std::byte> bytes, int root, absl::string_view what) override;
  void Abort(const absl::Status& why) override { meeting_.Abort(why); }
  absl::Status status() const override { return meeting_.FirstError(); }
  bool waits_for_network() const override { return false; }

 private:
  absl::Status DoAllReduce(format::ReduceKind kind, absl::Span<const Values> values, absl::Span<const bool> present,
                           absl::string_view what, const ResultFn& on_result) override;
  static size_t PlaceBytes(int size) {
    return (size * sizeof(Meeting::Place) + kFirstPage - 1) / kFirstPage * kFirstPage;
  }
  std::byte* Operands(int rank, int turn) const { return buffers_ + (2 * rank + turn) * kSegmentBytes; }
  std::byte* Results(int turn) const { return Operands(size_, turn); }

  // A segment of the concatenation, cut into slices of which each rank reduces one.
  struct Segment {
    int64_t first = 0, count = 0, each = 0;
    int64_t SliceBegin(int rank) const { return std::min(count, each * rank); }
  };
  absl::Status ReduceAtOneMeeting(const VectorList& list, const ResultFn& on_result);
  absl::Status ReduceBySegments(const VectorList& list, const ResultFn& on_result);
  void CopyIn(const VectorList& list, const Segment& segment, int turn);
  void ReduceSlice(const VectorList& list, const Segment& segment, int turn, const ResultFn& on_result);
  void CopyOut(const VectorList& list, const Segment& segment, int turn, const ResultFn& on_result);
  // Copies into a buffer that other ranks read. If ranks share a core, the bytes should stay in that core's cache.
  void Put(std::byte* to, const std::byte* from, int64_t bytes) {
    if (meeting_.has_core_for_each()) {
      StreamCopy(to, from, bytes);
    } else {
      std::memcpy(to, from, bytes);
    }
  }
  // Reduces the elements [first, first + count) of `list`, which begin at `operands` in the ranks' buffers, into the
  // vector.
  void ReduceHere(const VectorList& list, int64_t first, int64_t count, int64_t operands, int turn,
                  const ResultFn& on_result);

  const int rank_, size_;
  const std::unique_ptr<SharedMapping> mapping_;
  std::byte* const buffers_;
  Meeting meeting_;
  std::vector<const void*> leaves_;
};

absl::Status SharedMemoryGroup::DoAllReduce(format::ReduceKind kind, absl::Span<const Values> values,
                                            absl::Span<const bool> present, absl::string_view what,
                                            const ResultFn& on_result) {
  TD_ASSIGN_OR_RETURN(VectorList list, VectorList::Make(kind, values, present, size_));
  TD_RETURN_IF_ERROR(meeting_.Begin(what, {list.fingerprint() ^ kAllReduce, list.bytes()}));
  if (list.count() == 0 || list.nobody() || size_ == 1) return absl::OkStatus();
  return list.bytes() * size_ <= kOneMeetingBytes ? ReduceAtOneMeeting(list, on_result)
                                                  : ReduceBySegments(list, on_result);
}

void SharedMemoryGroup::ReduceHere(const VectorList& list, int64_t first, int64_t count, int64_t operands, int turn,
                                   const ResultFn& on_result) {
  const int64_t size = list.element_size();
  leaves_.resize(size_);
  list.ForEach(first, count, [&](std::byte* data, int64_t n, int64_t offset) {
    for (int r = 0; r < size_; ++r) {
      const void* other = Operands(r, turn) + (operands + offset) * size;
      leaves_[r] = !list.present()[r] ? nullptr : r == rank_ ? data : other;
    }
    TreeReduce(list.kind(), list.dtype(), leaves_, data, n);
    if (on_result) on_result(data, n);
  });
}

absl::Status SharedMemoryGroup::ReduceAtOneMeeting(const VectorList& list, const ResultFn& on_result) {
  const int turn = meeting_.turn();
  if (list.present()[rank_]) {
    list.ForEach(0, list.count(), [&](const std::byte* data, int64_t n, int64_t offset) {
      Put(Operands(rank_, turn) + offset * list.element_size(), data, n * list.element_size());
    });
  }
  TD_RETURN_IF_ERROR(meeting_.Meet());
  ReduceHere(list, 0, list.count(), 0, turn, on_result);
  return absl::OkStatus();
}

// Reduces segment by segment. Each meeting ends the copying of one segment and the reduction of the one before: one
// meeting for each segment, and one more.
absl::Status SharedMemoryGroup::ReduceBySegments(const VectorList& list, const ResultFn& on_result) {
  const int64_t most = kSegmentBytes / list.element_size();
  Segment before;
  int before_turn = 0;
  for (int64_t first = 0; first < list.count(); first += most) {
    Segment segment = {first, std::min(most, list.count() - first)};
    segment.each = ((segment.count + size_ - 1) / size_ + kSliceAlign - 1) / kSliceAlign * kSliceAlign;
    const int turn = meeting_.turn();
    CopyIn(list, segment, turn);
    TD_RETURN_IF_ERROR(meeting_.Meet());
    ReduceSlice(list, segment, turn, on_result);
    CopyOut(list, before, before_turn, on_result);
    before = segment;
    before_turn = turn;
  }
  TD_RETURN_IF_ERROR(meeting_.Meet());
  CopyOut(list, before, before_turn, on_result);
  return absl::OkStatus();
}

// Copies all of the segment except this rank's own slice, which no other rank reads.
void SharedMemoryGroup::CopyIn(const VectorList& list, const Segment& segment, int turn) {
  if (!list.present()[rank_]) return;
  const int64_t size = list.element_size(), begin = segment.SliceBegin(rank_), end = segment.SliceBegin(rank_ + 1);
  for (auto [from, to] : {std::pair<int64_t, int64_t>(0, begin), {end, segment.count}}) {
    std::byte* at = Operands(rank_, turn) + from * size;
    list.ForEach(segment.first + from, to - from,
                 [&](const std::byte* data, int64_t n, int64_t offset) { Put(at + offset * size, data, n * size); });
  }
}

void SharedMemoryGroup::ReduceSlice(const VectorList& list, const Segment& segment, int turn,
                                    const ResultFn& on_result) {
  const int64_t size = list.element_size(), begin = segment.SliceBegin(rank_), end = segment.SliceBegin(rank_ + 1);
  // Works in blocks, so that the copy for the others is made from the cache.
  const int64_t block = kBlockBytes / size;
  for (int64_t at = begin; at < end; at += block) {
    const int64_t count = std::min(block, end - at);
    ReduceHere(list, segment.first + at, count, at, turn, on_result);
    list.ForEach(segment.first + at, count, [&](const std::byte* data, int64_t n, int64_t offset) {
      Put(Results(turn) + (at + offset) * size, data, n * size);
    });
  }
}

void SharedMemoryGroup::CopyOut(const VectorList& list, const Segment& segment, int turn, const ResultFn& on_result) {
  const int64_t size = list.element_size(), begin = segment.SliceBegin(rank_), end = segment.SliceBegin(rank_ + 1);
  for (auto [from, to] : {std::pair<int64_t, int64_t>(0, begin), {end, segment.count}}) {
    const std::byte* at = Results(turn) + from * size;
    list.ForEach(segment.first + from, to - from, [&](std::byte* data, int64_t n, int64_t offset) {
      const int64_t block = kBlockBytes / size;
      for (int64_t begin = 0; begin < n; begin += block) {
        const int64_t count = std::min(block, n - begin);
        std::memcpy(data + begin * size, at + (offset + begin) * size, count * size);
        if (on_result) on_result(data + begin * size, count);
      }
    });
  }
}

absl::Status SharedMemoryGroup::AllGather(absl::Span<const std::byte> mine, absl::Span<std::byte> all,
                                          absl::string_view what) {
  const int64_t bytes = mine.size();
  if (all.size() != mine.size() * size_) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, ": ", size_, " times ", bytes, " bytes do not fill ", all.size()));
  }
  TD_RETURN_IF_ERROR(meeting_.Begin(what, {kAllGather, bytes}));
  if (bytes > 0) std::memmove(all.data() + rank_ * bytes, mine.data(), bytes);
  if (size_ == 1) return absl::OkStatus();
  for (int64_t first = 0; first < bytes; first += kSegmentBytes) {
    const int turn = meeting_.turn();
    const int64_t n = std::min(kSegmentBytes, bytes - first);
    Put(Operands(rank_, turn), all.data() + rank_ * bytes + first, n);
    TD_RETURN_IF_ERROR(meeting_.Meet());
    for (int r = 0; r < size_; ++r) {
      if (r != rank_) std::memcpy(all.data() + r * bytes + first, Operands(r, turn), n);
    }
  }
  return absl::OkStatus();
}

absl::Status SharedMemoryGroup::Broadcast(absl::Span<std::byte> bytes, int root, absl::string_view what) {
  if (root < 0 || root >= size_) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": there is no rank ", root, " among ", size_));
  }
  const int64_t all = bytes.size();
  TD_RETURN_IF_ERROR(meeting_.Begin(what, {kBroadcast + 256 * static_cast<uint64_t>(root), all}));
  if (size_ == 1) return absl::OkStatus();
  for (int64_t first = 0; first < all; first += kSegmentBytes) {
    const int turn = meeting_.turn();
    const int64_t n = std::min(kSegmentBytes, all - first);
    if (rank_ == root) Put(Operands(root, turn), bytes.data() + first, n);
    TD_RETURN_IF_ERROR(meeting_.Meet());
    if (rank_ != root) std::memcpy(bytes.data() + first, Operands(root, turn), n);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<ProcessGroup>> ConnectSharedMemory(const ConnectOptions& options) {
  TD_ASSIGN_OR_RETURN(auto mapping, SharedMapping::Create(options, SharedMemoryGroup::MappingBytes(options.size)));
  return std::make_unique<SharedMemoryGroup>(options.rank, options.size, std::move(mapping), options.deadline);
}

}  // namespace tandem

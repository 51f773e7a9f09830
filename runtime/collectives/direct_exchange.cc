#include "runtime/collectives/direct_exchange.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/status_macros.h"
#include "runtime/collectives/exchange_sizes.h"
#include "runtime/collectives/reduction_tree.h"

namespace tandem {
namespace {

constexpr int kWindow = 8;  // number of segments that are exchanged at the same time
// Vectors below this size are packed together: a message costs as much as copying about this many bytes.
constexpr int64_t kPackBytes = 128 << 10;
constexpr int64_t kPartAlign = 16;  // alignment of parts, in elements: cache lines, if the segment begins at one
constexpr uint64_t kSlots = uint64_t{1} << 24;

std::byte* Room(std::vector<std::unique_ptr<std::byte[]>>& rooms, int which, int64_t bytes) {
  if (static_cast<int>(rooms.size()) <= which) rooms.resize(which + 1);
  if (rooms[which] == nullptr) rooms[which].reset(new std::byte[bytes]);
  return rooms[which].get();
}

}  // namespace

struct DirectExchange::Segment {
  std::vector<VectorList::Stretch> stretches;
  int64_t count = 0;
};

// A segment that is being exchanged.
struct DirectExchange::Flight {
  std::byte* data = nullptr;  // the segment's values: in the vector itself, or a packed copy
  std::byte* received = nullptr;
  // the operands of this rank's part, one for each rank; null for a rank without values
  std::vector<const void*> leaves;
  std::vector<GlooExchange::Message> sends, leaves_in, results_in;
};

DirectExchange::DirectExchange(GlooExchange* exchange, const VectorList* list, uint64_t slot,
                               const ProcessGroup::ResultFn& on_result)
    : exchange_(exchange), list_(list), slot_(slot), on_result_(on_result) {}

DirectExchange::~DirectExchange() = default;

DirectExchange::Flight& DirectExchange::FlightOf(int64_t segment) { return flights_[segment % flights_.size()]; }

// Cuts long vectors into segments, which are reduced in place. Short vectors are packed together into further segments.
// All ranks get the same segments, because the lengths are equal on all.
void DirectExchange::MakeSegments() {
  const int64_t size = list_->element_size(), most = kExchangeSegmentBytes / size;
  for (const VectorList::Stretch& s : list_->stretches()) {
    if (s.count * size < kPackBytes) continue;
    for (int64_t begin = 0; begin < s.count; begin += most) {
      const int64_t n = std::min(most, s.count - begin);
      segments_.push_back({{{s.data + begin * size, n}}, n});
    }
  }
  bool open = false;
  for (const VectorList::Stretch& s : list_->stretches()) {
    if (s.count * size >= kPackBytes) continue;
    if (!open || segments_.back().count + s.count > most) segments_.emplace_back();
    open = true;
    segments_.back().stretches.push_back(s);
    segments_.back().count += s.count;
  }
}

int64_t DirectExchange::PartBegin(int64_t count, int part) const {
  const int64_t each = (count + exchange_->size() - 1) / exchange_->size();
  return std::min(count, (each + kPartAlign - 1) / kPartAlign * kPartAlign * part);
}

absl::Status DirectExchange::Run(Scratch* scratch) {
  scratch_ = scratch;
  MakeSegments();
  const int64_t segments = segments_.size();
  flights_ = std::vector<Flight>(std::min<int64_t>(kWindow, segments));
  for (int i = 0; i < static_cast<int>(flights_.size()); ++i) {
    // There must be room for the other ranks' operands of this rank's part, which has at most 1 / size() of a segment's
    // elements, and some more for its alignment.
    flights_[i].received =
        Room(scratch->received, i, kExchangeSegmentBytes + exchange_->size() * kPartAlign * int64_t{sizeof(double)});
    TD_RETURN_IF_ERROR(Start(i));
  }
  for (int64_t i = 0; i < segments; ++i) {
    TD_RETURN_IF_ERROR(Reduce(i));
    if (i == 0) continue;
    TD_RETURN_IF_ERROR(Finish(i - 1));
    const int64_t next = i - 1 + static_cast<int64_t>(flights_.size());
    if (next < segments) TD_RETURN_IF_ERROR(Start(next));
  }
  return Finish(segments - 1);
}

absl::Status DirectExchange::Start(int64_t index) {
  const Segment& segment = segments_[index];
  Flight& f = FlightOf(index);
  const int rank = exchange_->rank(), ranks = exchange_->size();
  const int64_t size = list_->element_size();
  const uint64_t slot = slot_ + static_cast<uint64_t>(index) * 2 % kSlots;
  f.data = segment.stretches[0].data;
  if (segment.stretches.size() > 1) {
    f.data = Room(scratch_->packed, index % flights_.size(), kExchangeSegmentBytes);
    std::byte* to = f.data;
    for (const VectorList::Stretch& s : segment.stretches) {
      if (list_->present()[rank]) std::memcpy(to, s.data, s.count * size);
      to += s.count * size;
    }
  }
  auto part = [&](int p) { return f.data + PartBegin(segment.count, p) * size; };
  auto part_bytes = [&](int p) { return (PartBegin(segment.count, p + 1) - PartBegin(segment.count, p)) * size; };
  f.leaves.assign(ranks, nullptr);
  if (list_->present()[rank]) f.leaves[rank] = part(rank);
  // A result is received into the memory that its operand was sent from. This is safe because the part's owner sends
  // the result only when it has received all of the operand.
  std::byte* into = f.received;
  for (int i = 1; i < ranks; ++i) {
    const int peer = (rank + i) % ranks;
    if (part_bytes(rank) > 0 && list_->present()[peer]) {
      TD_ASSIGN_OR_RETURN(auto in, exchange_->Receive(peer, slot, into, part_bytes(rank)));
      f.leaves_in.push_back(std::move(in));
      f.leaves[peer] = into;
      into += part_bytes(rank);
    }
    if (part_bytes(peer) > 0) {
      TD_ASSIGN_OR_RETURN(auto in, exchange_->Receive(peer, slot + 1, part(peer), part_bytes(peer)));
      f.results_in.push_back(std::move(in));
    }
  }
  if (!list_->present()[rank]) return absl::OkStatus();
  for (int i = 1; i < ranks; ++i) {
    const int peer = (rank + i) % ranks;
    if (part_bytes(peer) == 0) continue;
    TD_ASSIGN_OR_RETURN(auto out, exchange_->Send(peer, slot, part(peer), part_bytes(peer)));
    f.sends.push_back(std::move(out));
  }
  return absl::OkStatus();
}

absl::Status DirectExchange::Reduce(int64_t index) {
  const Segment& segment = segments_[index];
  Flight& f = FlightOf(index);
  const int rank = exchange_->rank(), ranks = exchange_->size();
  const int64_t begin = PartBegin(segment.count, rank), n = PartBegin(segment.count, rank + 1) - begin;
  if (n == 0) return absl::OkStatus();
  TD_RETURN_IF_ERROR(exchange_->WaitAll(f.leaves_in));
  std::byte* result = f.data + begin * list_->element_size();
  TreeReduce(list_->kind(), list_->dtype(), f.leaves, result, n);
  const uint64_t slot = slot_ + static_cast<uint64_t>(index) * 2 % kSlots + 1;
  for (int i = 1; i < ranks; ++i) {
    TD_ASSIGN_OR_RETURN(auto out, exchange_->Send((rank + i) % ranks, slot, result, n * list_->element_size()));
    f.sends.push_back(std::move(out));
  }
  return absl::OkStatus();
}

absl::Status DirectExchange::Finish(int64_t index) {
  const Segment& segment = segments_[index];
  Flight& f = FlightOf(index);
  TD_RETURN_IF_ERROR(exchange_->WaitAll(f.results_in));
  TD_RETURN_IF_ERROR(exchange_->WaitAll(f.sends));
  if (on_result_) on_result_(f.data, segment.count);
  if (segment.stretches.size() == 1) return absl::OkStatus();
  const std::byte* from = f.data;
  for (const VectorList::Stretch& s : segment.stretches) {
    std::memcpy(s.data, from, s.count * list_->element_size());
    from += s.count * list_->element_size();
  }
  return absl::OkStatus();
}

}  // namespace tandem

#include "runtime/collectives/gloo_group.h"

#include <gloo/allreduce.h>
#include <gloo/context.h>

#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/fingerprint.h"
#include "base/status_macros.h"
#include "runtime/collectives/direct_exchange.h"
#include "runtime/collectives/exchange_sizes.h"
#include "runtime/collectives/gloo_connection.h"
#include "runtime/collectives/gloo_exchange.h"
#include "runtime/collectives/reduction_tree.h"
#include "runtime/collectives/vector_list.h"
#include "runtime/format/index.h"

namespace tandem {
namespace {

using Message = GlooExchange::Message;

// Broadcasts of more bytes than this go in parts through all ranks.
constexpr int64_t kScatterBytes = 1 << 20;

enum Collective : uint64_t { kAllReduce, kAllGather, kBroadcast };

class GlooGroup : public ProcessGroup {
 public:
  GlooGroup(std::unique_ptr<GlooExchange> exchange, bool ring) : exchange_(std::move(exchange)), ring_(ring) {}

  int rank() const override { return exchange_->rank(); }
  int size() const override { return exchange_->size(); }
  std::string transport() const override { return ring_ ? "TCP (Gloo), ring" : "TCP (Gloo)"; }
  absl::Status AllGather(absl::Span<const std::byte> mine, absl::Span<std::byte> all, absl::string_view what) override;
  absl::Status Broadcast(absl::Span<std::byte> bytes, int root, absl::string_view what) override;
  void Abort(const absl::Status& why) override { exchange_->Abort(why); }
  absl::Status status() const override { return exchange_->FirstError(); }
  bool waits_for_network() const override { return true; }

 private:
  absl::Status DoAllReduce(format::ReduceKind kind, absl::Span<const Values> values, absl::Span<const bool> present,
                           absl::string_view what, const ResultFn& on_result) override;
  absl::Status ReduceInOneHop(const VectorList& list, uint64_t slot, const ResultFn& on_result);
  absl::Status ReduceInRing(const VectorList& list, uint32_t tag, const ResultFn& on_result);
  absl::Status BroadcastParts(absl::Span<std::byte> bytes, int root, uint64_t slot);
  // Returns the first slot (message tag) of the next collective. Ranks that make different calls get different slots.
  // Then no messages match, and the calls end with the deadline instead of writing to memory that is too short.
  uint64_t NextSlot(Collective collective, uint64_t fingerprint);
  // Returns the concatenation of the vectors in contiguous memory: the vector itself if there is only one.
  std::byte* Contiguous(const VectorList& list, bool with_values);
  void Scatter(const VectorList& list, const std::byte* from);

  const std::unique_ptr<GlooExchange> exchange_;
  const bool ring_;
  uint64_t sequence_ = 0;
  std::vector<std::byte> packed_, received_;
  DirectExchange::Scratch scratch_;
};

uint64_t GlooGroup::NextSlot(Collective collective, uint64_t fingerprint) {
  const uint64_t meaning[] = {++sequence_, collective, fingerprint};
  const uint64_t hash = Fingerprint64({reinterpret_cast<const char*>(meaning), sizeof(meaning)});
  // The highest byte is one that none of Gloo's own collectives uses, and the lowest 24 bits number the messages.
  return uint64_t{0x54} << 56 | (hash >> 32) << 24;
}

std::byte* GlooGroup::Contiguous(const VectorList& list, bool with_values) {
  if (list.stretches().size() == 1) return list.stretches()[0].data;
  packed_.resize(std::max<int64_t>(packed_.size(), list.bytes()));
  if (with_values) {
    list.ForEach(0, list.count(), [&](const std::byte* data, int64_t n, int64_t offset) {
      std::memcpy(packed_.data() + offset * list.element_size(), data, n * list.element_size());
    });
  }
  return packed_.data();
}

void GlooGroup::Scatter(const VectorList& list, const std::byte* from) {
  if (list.stretches().size() == 1) return;
  list.ForEach(0, list.count(), [&](std::byte* data, int64_t n, int64_t offset) {
    std::memcpy(data, from + offset * list.element_size(), n * list.element_size());
  });
}

absl::Status GlooGroup::DoAllReduce(format::ReduceKind kind, absl::Span<const Values> values,
                                    absl::Span<const bool> present, absl::string_view what, const ResultFn& on_result) {
  TD_RETURN_IF_ERROR(exchange_->Begin(what));
  TD_ASSIGN_OR_RETURN(VectorList list, VectorList::Make(kind, values, present, size()));
  const uint64_t slot = NextSlot(kAllReduce, list.fingerprint());
  if (list.count() == 0 || list.nobody() || size() == 1) return absl::OkStatus();
  if (ring_) return ReduceInRing(list, static_cast<uint32_t>(slot >> 24), on_result);
  if (TakesOneHop(list.bytes(), size())) return ReduceInOneHop(list, slot, on_result);
  return DirectExchange(exchange_.get(), &list, slot, on_result).Run(&scratch_);
}

absl::Status GlooGroup::ReduceInOneHop(const VectorList& list, uint64_t slot, const ResultFn& on_result) {
  const int64_t bytes = list.bytes();
  const bool here = list.present()[rank()];
  std::byte* mine = Contiguous(list, here);
  received_.resize(std::max<int64_t>(received_.size(), bytes * size()));
  std::vector<const void*> leaves(size());
  std::vector<Message> receives, sends;
  for (int i = 1; i < size(); ++i) {
    const int peer = (rank() + i) % size();
    if (!list.present()[peer]) continue;
    TD_ASSIGN_OR_RETURN(Message m, exchange_->Receive(peer, slot, received_.data() + peer * bytes, bytes));
    receives.push_back(std::move(m));
    leaves[peer] = received_.data() + peer * bytes;
  }
  if (here) leaves[rank()] = mine;
  for (int i = 1; here && i < size(); ++i) {
    TD_ASSIGN_OR_RETURN(Message m, exchange_->Send((rank() + i) % size(), slot, mine, bytes));
    sends.push_back(std::move(m));
  }
  TD_RETURN_IF_ERROR(exchange_->WaitAll(receives));
  TD_RETURN_IF_ERROR(exchange_->WaitAll(sends));
  TreeReduce(list.kind(), list.dtype(), leaves, mine, list.count());
  Scatter(list, mine);
  if (on_result) on_result(mine, list.count());
  return absl::OkStatus();
}

absl::Status GlooGroup::ReduceInRing(const VectorList& list, uint32_t tag, const ResultFn& on_result) {
  const bool here = list.present()[rank()];
  std::byte* mine = Contiguous(list, here);
  const void* nobody = nullptr;
  // fills `mine` with the identity of the reduction
  if (!here) TreeReduce(list.kind(), list.dtype(), {&nobody, 1}, mine, list.count());
  auto combine = [&](void* out, const void* a, const void* b, size_t n) {
    if (out == b) std::swap(a, b);
    if (out != a) std::memcpy(out, a, n * list.element_size());
    Combine(list.kind(), list.dtype(), out, b, n);
  };
  auto ring = [&](const std::shared_ptr<gloo::Context>& context, std::chrono::milliseconds timeout) {
    gloo::AllreduceOptions options(context);
    const auto set_output = [&]<typename T>(T) { options.setOutput(reinterpret_cast<T*>(mine), list.count()); };
    switch (list.element_size()) {
      case 2:
        set_output(uint16_t());
        break;
      case 4:
        set_output(uint32_t());
        break;
      default:
        set_output(uint64_t());
    }
    options.setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
    options.setReduceFunction(combine);
    options.setTag(tag);
    options.setTimeout(timeout);
    gloo::allreduce(options);
  };
  TD_RETURN_IF_ERROR(exchange_->RunGloo(ring));
  Scatter(list, mine);
  if (on_result) on_result(mine, list.count());
  return absl::OkStatus();
}

absl::Status GlooGroup::AllGather(absl::Span<const std::byte> mine, absl::Span<std::byte> all, absl::string_view what) {
  TD_RETURN_IF_ERROR(exchange_->Begin(what));
  if (all.size() != mine.size() * size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, ": ", size(), " times ", mine.size(), " bytes do not fill ", all.size()));
  }
  const uint64_t slot = NextSlot(kAllGather, mine.size());
  if (mine.empty()) return absl::OkStatus();
  std::vector<Message> messages;
  std::memmove(all.data() + rank() * mine.size(), mine.data(), mine.size());
  for (int i = 1; i < size(); ++i) {
    const int peer = (rank() + i) % size();
    TD_ASSIGN_OR_RETURN(Message m, exchange_->Receive(peer, slot, all.data() + peer * mine.size(), mine.size()));
    messages.push_back(std::move(m));
  }
  for (int i = 1; i < size(); ++i) {
    TD_ASSIGN_OR_RETURN(Message m,
                        exchange_->Send((rank() + i) % size(), slot, all.data() + rank() * mine.size(), mine.size()));
    messages.push_back(std::move(m));
  }
  return exchange_->WaitAll(messages);
}

absl::Status GlooGroup::Broadcast(absl::Span<std::byte> bytes, int root, absl::string_view what) {
  TD_RETURN_IF_ERROR(exchange_->Begin(what));
  if (root < 0 || root >= size()) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": there is no rank ", root, " among ", size()));
  }
  const uint64_t slot = NextSlot(kBroadcast, bytes.size() * 1024 + root);
  if (bytes.empty()) return absl::OkStatus();
  if (size() > 2 && static_cast<int64_t>(bytes.size()) > kScatterBytes) return BroadcastParts(bytes, root, slot);
  std::vector<Message> messages;
  if (rank() != root) {
    TD_ASSIGN_OR_RETURN(Message m, exchange_->Receive(root, slot, bytes.data(), bytes.size()));
    return exchange_->Wait(m);
  }
  for (int i = 1; i < size(); ++i) {
    TD_ASSIGN_OR_RETURN(Message m, exchange_->Send((rank() + i) % size(), slot, bytes.data(), bytes.size()));
    messages.push_back(std::move(m));
  }
  return exchange_->WaitAll(messages);
}

// Broadcasts in parts: the root sends part p to rank p, which sends it on to the others, so no wire carries more than
// twice the bytes.
absl::Status GlooGroup::BroadcastParts(absl::Span<std::byte> bytes, int root, uint64_t slot) {
  const size_t each = (bytes.size() + size() - 1) / size();
  auto part = [&](int p) { return bytes.subspan(std::min(bytes.size(), each * p), each); };
  std::vector<Message> first, others;
  for (int p = 0; p < size() && rank() != root; ++p) {
    if (part(p).empty()) continue;
    const bool from_root = p == rank() || p == root;
    TD_ASSIGN_OR_RETURN(Message m, exchange_->Receive(from_root ? root : p, slot + p, part(p).data(), part(p).size()));
    (p == rank() ? first : others).push_back(std::move(m));
  }
  TD_RETURN_IF_ERROR(exchange_->WaitAll(first));
  for (int i = 1; i < size(); ++i) {
    const int peer = (rank() + i) % size();
    for (int p : {rank() == root ? peer : rank(), root}) {
      // The root sends each rank its part, and the root's own part to all; the others send theirs to all but the root.
      if (part(p).empty() || peer == root || (rank() != root && p == root)) continue;
      TD_ASSIGN_OR_RETURN(Message m, exchange_->Send(peer, slot + p, part(p).data(), part(p).size()));
      others.push_back(std::move(m));
    }
  }
  return exchange_->WaitAll(others);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ProcessGroup>> ConnectGloo(const ConnectOptions& options) {
  TD_ASSIGN_OR_RETURN(std::shared_ptr<gloo::Context> context, ConnectGlooContext(options));
  TD_ASSIGN_OR_RETURN(auto exchange, GlooExchange::Make(std::move(context), options.deadline));
  return std::make_unique<GlooGroup>(std::move(exchange), options.communication == Communication::kRing);
}

}  // namespace tandem

#include "runtime/cuda/testing/fake_nccl.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "runtime/collectives/gather_texts.h"
#include "runtime/collectives/process_group.h"
#include "runtime/collectives/reduction_tree.h"
#include "runtime/format/index.h"

namespace tandem {
namespace {

// The ranks of one communicator.
struct Clique {
  int ranks = 0;                   // ranks of all processes
  int first = 0, local_ranks = 0;  // the ranks of this process
  bool connected = false;          // connected to the other processes
  bool destroyed = false;          // a communicator of this process was destroyed
  bool has_others() const { return local_ranks < ranks; }
  bool IsLocal(int rank) const { return rank >= first && rank < first + local_ranks; }
};

struct Comm {
  std::shared_ptr<Clique> clique;
  int rank = 0;
};

enum class Kind { kAllReduce, kSend, kReceive };

struct Call {
  Kind kind;
  const void* send;
  void* receive;
  size_t count;
  ncclDataType_t type;
  int op_or_peer;
  Comm* comm;
  CUstream stream;

  bool is_between_two() const { return kind == Kind::kSend || kind == Kind::kReceive; }
  bool Matches(const Call& o) const {
    return kind == o.kind && count == o.count && type == o.type && op_or_peer == o.op_or_peer;
  }
};

struct NcclState {
  std::mutex mutex;                              // guards what an abort uses
  std::shared_ptr<absl::Notification> released;  // null: aborts return
  std::map<const void*, std::unique_ptr<Comm>> live;
  std::vector<std::string> calls, violations;
  struct Failure {
    std::string name;
    ncclResult_t result;
    int n;
  };
  std::vector<Failure> failures;
  std::map<int, ncclResult_t> async_errors;
  std::string killed_at;
  std::function<void()> at_group_end;
  int depth = 0;
  std::vector<Call> group;
  ProcessGroup* processes = nullptr;
  std::vector<Comm*> joining;  // communicators that join by ncclCommInitRank, until the group ends
  std::string id;              // id of what they join
};
NcclState* nccl_state = nullptr;

ncclResult_t Enter(const std::string& name, const std::string& detail = "") {
  std::lock_guard lock(nccl_state->mutex);
  nccl_state->calls.push_back(absl::StrCat(name, detail));
  if (name == nccl_state->killed_at) raise(SIGKILL);
  for (NcclState::Failure& f : nccl_state->failures) {
    if (f.name == name && f.n > 0 && --f.n == 0) return f.result;
  }
  return nccl::kSuccess;
}

ncclResult_t Violate(const std::string& what) {
  std::lock_guard lock(nccl_state->mutex);
  nccl_state->violations.push_back(what);
  return nccl::kInvalidUsage;
}

DType TypeOf(ncclDataType_t type) {
  switch (type) {
    case nccl::kInt32:
      return DType::kInt32;
    case nccl::kInt64:
      return DType::kInt64;
    case nccl::kFloat32:
      return DType::kFloat32;
    case nccl::kFloat64:
      return DType::kFloat64;
    default:
      return DType::kUInt8;
  }
}

Comm* Find(ncclComm_t handle) {
  auto found = nccl_state->live.find(handle);
  return found == nccl_state->live.end() ? nullptr : found->second.get();
}

ncclResult_t Add(const char* name, Kind kind, const void* send, void* receive, size_t count, ncclDataType_t type,
                 int op_or_peer, ncclComm_t handle, CUstream stream) {
  Comm* comm = Find(handle);
  if (comm == nullptr) return Violate(absl::StrCat(name, ": a communicator that does not exist, or no longer"));
  const ncclResult_t result = Enter(name, absl::StrCat(" ", comm->rank, " ", count));
  if (result != nccl::kSuccess) return result;
  if (nccl_state->depth == 0) return Violate(absl::StrCat(name, ": outside of a group, by the thread of all ranks"));
  nccl_state->group.push_back({kind, send, receive, count, type, op_or_peer, comm, stream});
  return result;
}

// Reports a lost process: as an error that is returned later.
void LosePeers() {
  for (const auto& [handle, comm] : nccl_state->live) nccl_state->async_errors[comm->rank] = nccl::kRemoteError;
}

// Computes one all-reduce; its calls are in the order of ranks.
void Compute(const std::vector<Call>& ranks) {
  const Call& first = ranks[0];
  const DType type = TypeOf(first.type);
  const auto count = static_cast<int64_t>(first.count);
  const format::ReduceKind kind = first.op_or_peer == nccl::kMax ? format::ReduceKind::kMax : format::ReduceKind::kSum;
  const size_t bytes = count * SizeOf(type);
  std::string values;
  for (const Call& c : ranks) values.append(static_cast<const char*>(c.send), bytes);
  if (first.comm->clique->has_others()) {
    const std::string call = absl::StrCat("all-reduce of ", count, ", type ", first.type, ", op ", first.op_or_peer);
    const absl::StatusOr<std::vector<std::string>> all =
        GatherTexts(*nccl_state->processes, call + values, "the calls");
    if (!all.ok()) return LosePeers();
    values.clear();
    for (const std::string& text : *all) {
      if (text.compare(0, call.size(), call) != 0) {
        Violate("processes call different collectives: they would hang");
        return;
      }
      values.append(text, call.size());
    }
  }
  // Sums in neither rank order nor the tree's: tests must not expect the tree's bits with more than two ranks.
  std::string sum = values.substr(values.size() - bytes);
  for (size_t at = values.size() - bytes; at > 0;) {
    at -= bytes;
    Combine(kind, type, sum.data(), values.data() + at, count);
  }
  for (const Call& c : ranks) std::memcpy(c.receive, sum.data(), sum.size());
}

ncclResult_t Start(const std::vector<Call>& ranks) {
  const uint64_t bytes = ranks[0].count * SizeOf(TypeOf(ranks[0].type));
  std::vector<CUstream> streams;
  std::vector<DeviceAccess> accesses;
  for (const Call& c : ranks) {
    streams.push_back(c.stream);
    accesses.push_back({reinterpret_cast<uint64_t>(c.send), bytes, false});
    accesses.push_back({reinterpret_cast<uint64_t>(c.receive), bytes, true});
  }
  const CUresult result =
      FakeDriver::current()->EnqueueTogether(streams, "nccl", std::move(accesses), [ranks] { Compute(ranks); });
  return result == kCudaSuccess ? nccl::kSuccess : nccl::kUnhandledCudaError;
}

// A transfer from one rank to another. The address of memory in another process is null here.
struct Transfer {
  int sender, receiver;
  const void* from;
  void* to;
  uint64_t bytes;
};

// The header of what one process sends another.
struct Parcel {
  int64_t sender, receiver, bytes;
};

// Does the sends and receives of a group: reads all of it before it writes anything.
void Transact(const std::vector<Transfer>& transfers, bool has_others) {
  std::string sent;
  for (const Transfer& t : transfers) {
    if (t.from == nullptr) continue;
    const Parcel parcel = {t.sender, t.receiver, static_cast<int64_t>(t.bytes)};
    sent.append(reinterpret_cast<const char*>(&parcel), sizeof parcel);
    sent.append(static_cast<const char*>(t.from), t.bytes);
  }
  std::vector<std::string> all = {sent};
  if (has_others) {
    absl::StatusOr<std::vector<std::string>> gathered = GatherTexts(*nccl_state->processes, sent, "the values");
    if (!gathered.ok()) return LosePeers();
    all = *std::move(gathered);
  }
  std::map<std::pair<int64_t, int64_t>, std::vector<std::string>> arrived;  // by sender and receiver, in their order
  for (const std::string& text : all) {
    for (size_t at = 0; at < text.size();) {
      Parcel parcel;
      std::memcpy(&parcel, text.data() + at, sizeof parcel);
      at += sizeof parcel;
      arrived[{parcel.sender, parcel.receiver}].push_back(text.substr(at, parcel.bytes));
      at += parcel.bytes;
    }
  }
  std::map<std::pair<int64_t, int64_t>, size_t> taken;
  for (const Transfer& t : transfers) {
    if (t.to == nullptr) continue;
    const std::pair<int64_t, int64_t> pair = {t.sender, t.receiver};
    const size_t n = taken[pair]++;
    if (n >= arrived[pair].size() || arrived[pair][n].size() != t.bytes) {
      Violate("a receive without the send of another process, or of another length: it would hang");
      return;
    }
    std::memcpy(t.to, arrived[pair][n].data(), t.bytes);
  }
}

bool Overlap(const void* a, const void* b, uint64_t a_bytes, uint64_t b_bytes) {
  const auto from = reinterpret_cast<uintptr_t>(a), other = reinterpret_cast<uintptr_t>(b);
  return from < other + b_bytes && other < from + a_bytes;
}

// Starts the sends and receives of a group among the ranks of a communicator: they run at the same time.
ncclResult_t StartBetweenTwo(const std::vector<Call>& calls) {
  const Clique& clique = *calls[0].comm->clique;
  std::map<std::pair<int, int>, std::vector<Call>> sends, receives;  // by sender and receiver, in their order
  std::set<std::pair<int, int>> pairs;
  std::vector<CUstream> streams;
  for (const Call& c : calls) {
    const int peer = c.op_or_peer;
    if (peer < 0 || peer >= clique.ranks) return Violate("a peer that does not exist");
    const std::pair<int, int> pair =
        c.kind == Kind::kSend ? std::pair{c.comm->rank, peer} : std::pair{peer, c.comm->rank};
    (c.kind == Kind::kSend ? sends : receives)[pair].push_back(c);
    pairs.insert(pair);
    if (std::find(streams.begin(), streams.end(), c.stream) == streams.end()) streams.push_back(c.stream);
  }
  std::vector<Transfer> transfers;
  std::vector<DeviceAccess> accesses;
  for (const auto& pair : pairs) {
    const std::vector<Call>&sent = sends[pair], &received = receives[pair];
    const bool inside = clique.IsLocal(pair.first) && clique.IsLocal(pair.second);
    if (inside && received.size() != sent.size()) return Violate("a send without its receive, or the other way round");
    for (size_t i = 0; i < std::max(sent.size(), received.size()); ++i) {
      if (inside && (sent[i].count != received[i].count || sent[i].type != received[i].type)) {
        return Violate("a send and its receive differ in count or type");
      }
      const Call& any = sent.empty() ? received[i] : sent[i];
      const uint64_t bytes = any.count * SizeOf(TypeOf(any.type));
      Transfer t = {pair.first, pair.second, nullptr, nullptr, bytes};
      if (!sent.empty()) t.from = sent[i].send;
      if (!received.empty()) t.to = received[i].receive;
      if (t.from != nullptr) accesses.push_back({reinterpret_cast<uint64_t>(t.from), bytes, false});
      if (t.to != nullptr) accesses.push_back({reinterpret_cast<uint64_t>(t.to), bytes, true});
      transfers.push_back(t);
    }
  }
  for (const Transfer& a : transfers) {
    for (const Transfer& b : transfers) {
      if (a.to == nullptr) continue;
      if ((b.from != nullptr && Overlap(a.to, b.from, a.bytes, b.bytes)) ||
          (&a != &b && b.to != nullptr && Overlap(a.to, b.to, a.bytes, b.bytes))) {
        return Violate("a group receives where it sends from or receives to");
      }
    }
  }
  const auto run = [transfers, has_others = clique.has_others()] { Transact(transfers, has_others); };
  const CUresult result = FakeDriver::current()->EnqueueTogether(streams, "nccl", std::move(accesses), run);
  return result == kCudaSuccess ? nccl::kSuccess : nccl::kUnhandledCudaError;
}

// Joins the ranks of all processes.
ncclResult_t Join() {
  std::vector<Comm*> joining = std::exchange(nccl_state->joining, {});
  if (joining.empty()) return nccl::kSuccess;
  Clique& clique = *joining[0]->clique;
  clique.local_ranks = static_cast<int>(joining.size());
  clique.first = joining[0]->rank;
  std::string mine = absl::StrCat(nccl_state->id, " ", clique.ranks);
  const absl::StatusOr<std::vector<std::string>> all =
      GatherTexts(*nccl_state->processes, absl::StrCat(mine, "\n", clique.first, " ", clique.local_ranks), "the ranks");
  if (!all.ok()) return nccl::kRemoteError;
  for (size_t p = 0; p < all->size(); ++p) {
    const std::string expected =
        absl::StrCat(mine, "\n", p * clique.local_ranks, " ", clique.ranks / static_cast<int>(all->size()));
    if ((*all)[p] != expected) return Violate("processes join different communicators: they would hang");
  }
  const char* later = std::getenv("NCCL_RUNTIME_CONNECT");
  clique.connected = later != nullptr && std::string(later) == "0";
  return nccl::kSuccess;
}

// Connects at the first collective, as NCCL 2.22 does unless it was told otherwise: there it waits for all other
// processes.
ncclResult_t ConnectAtFirstUse(Clique& clique) {
  if (clique.connected || !clique.has_others()) return nccl::kSuccess;
  clique.connected = true;
  if (GatherTexts(*nccl_state->processes, "", "to connect").ok()) return nccl::kSuccess;
  return Violate("ncclGroupEnd: connects at the first collective, to a process that is gone: it would hang");
}

ncclResult_t StartGroup(const std::vector<Call>& group) {
  if (group.size() > 2048) return Violate("ncclGroupEnd: more than 2048 calls in a group");
  for (const Call& c : group) {
    if (const ncclResult_t made = ConnectAtFirstUse(*c.comm->clique); made != nccl::kSuccess) return made;
  }
  // Calls by communicator and rank, in their order.
  std::map<const Clique*, std::map<int, std::vector<Call>>> cliques;
  std::vector<const Clique*> order;
  std::map<const Clique*, std::vector<Call>> between_two;
  for (const Call& c : group) {
    const Clique* clique = c.comm->clique.get();
    if (c.is_between_two()) {
      between_two[clique].push_back(c);
      continue;
    }
    if (cliques.count(clique) == 0) order.push_back(clique);
    cliques[clique][c.comm->rank].push_back(c);
  }
  for (const auto& [clique, calls] : between_two) {
    const ncclResult_t result = StartBetweenTwo(calls);
    if (result != nccl::kSuccess) return result;
  }
  for (const Clique* clique : order) {
    const auto& ranks = cliques[clique];
    if (static_cast<int>(ranks.size()) != clique->local_ranks)
      return Violate("a rank is missing in a group: it would hang");
    const size_t calls = ranks.begin()->second.size();
    for (size_t i = 0; i < calls; ++i) {
      std::vector<Call> one;
      for (const auto& [rank, list] : ranks) {
        if (list.size() != calls || !list[i].Matches(ranks.begin()->second[i])) {
          return Violate("ranks call different collectives: they would hang");
        }
        one.push_back(list[i]);
      }
      const ncclResult_t result = Start(one);
      if (result != nccl::kSuccess) return result;
    }
  }
  return nccl::kSuccess;
}

ncclResult_t EndGroup() {
  const ncclResult_t failed = Enter("ncclGroupEnd");
  if (nccl_state->depth == 0) return Violate("ncclGroupEnd: no group was started");
  if (--nccl_state->depth > 0) return failed;
  std::vector<Call> group;
  group.swap(nccl_state->group);
  if (failed != nccl::kSuccess) return failed;
  if (const ncclResult_t joined = Join(); joined != nccl::kSuccess) return joined;
  const bool several =
      std::any_of(group.begin(), group.end(), [](const Call& c) { return c.comm->clique->local_ranks > 1; });
  if (several) FakeDriver::current()->OnlyThisThreadCallsForMemory(true);
  if (nccl_state->at_group_end) nccl_state->at_group_end();
  const ncclResult_t started = StartGroup(group);
  if (several) FakeDriver::current()->OnlyThisThreadCallsForMemory(false);
  return started;
}

ncclComm_t AddRank(const std::shared_ptr<Clique>& clique, int rank) {
  auto comm = std::make_unique<Comm>();
  comm->clique = clique;
  comm->rank = rank;
  auto* handle = reinterpret_cast<ncclComm_t>(comm.get());
  nccl_state->live[handle] = std::move(comm);
  return handle;
}

ncclResult_t InitAll(ncclComm_t* comms, int devices, const int* list) {
  const ncclResult_t result = Enter("ncclCommInitAll", absl::StrCat(" ", devices));
  if (result != nccl::kSuccess) return result;
  if (std::set<int>(list, list + devices).size() != static_cast<size_t>(devices)) {
    return Violate("ncclCommInitAll: a device twice");
  }
  auto clique = std::make_shared<Clique>();
  clique->ranks = clique->local_ranks = devices;
  for (int r = 0; r < devices; ++r) comms[r] = AddRank(clique, r);
  return result;
}

ncclResult_t InitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank) {
  const ncclResult_t result = Enter("ncclCommInitRank", absl::StrCat(" ", rank, " of ", ranks));
  if (result != nccl::kSuccess) return result;
  if (nccl_state->processes == nullptr) return Violate("ncclCommInitRank: there is one process");
  if (nccl_state->depth == 0) return Violate("ncclCommInitRank: outside of a group, by the thread of all ranks");
  std::shared_ptr<Clique> clique;
  if (nccl_state->joining.empty()) {
    clique = std::make_shared<Clique>();
    clique->ranks = ranks;
    nccl_state->id = id.internal;
  } else {
    clique = nccl_state->joining[0]->clique;
    if (nccl_state->id != id.internal || clique->ranks != ranks)
      return Violate("ncclCommInitRank: another communicator");
  }
  *comm = AddRank(clique, rank);
  nccl_state->joining.push_back(Find(*comm));
  return nccl::kSuccess;
}

ncclResult_t Remove(const char* name, ncclComm_t comm) {
  const ncclResult_t result = Enter(name);
  size_t removed = 0;
  {
    std::lock_guard lock(nccl_state->mutex);
    removed = nccl_state->live.erase(comm);
  }
  if (removed == 0) return Violate(absl::StrCat(name, ": a communicator that does not exist"));
  return result;
}

ncclResult_t Abort(ncclComm_t comm) {
  std::shared_ptr<absl::Notification> released;
  {
    std::lock_guard lock(nccl_state->mutex);
    released = nccl_state->released;
  }
  if (released != nullptr) released->WaitForNotification();
  return Remove("ncclCommAbort", comm);
}

// With several processes, the first destruction in each process meets the others, because NCCL may wait for them there.
ncclResult_t Destroy(ncclComm_t handle) {
  if (Comm* comm = Find(handle); comm != nullptr && comm->clique->has_others() && !comm->clique->destroyed) {
    comm->clique->destroyed = true;
    if (!GatherTexts(*nccl_state->processes, "", "to end").ok()) {
      Violate("ncclCommDestroy: another process is gone, or has not destroyed its communicator: it would hang");
    }
  }
  return Remove("ncclCommDestroy", handle);
}

NcclApi Bind() {
  if (nccl_state != nullptr) std::abort();  // a test's mistake
  nccl_state = new NcclState;
  NcclApi api;
  api.ncclGetVersion = [](int* version) { return *version = 22800, nccl::kSuccess; };
  api.ncclGetErrorString = [](ncclResult_t result) {
    return result == nccl::kRemoteError   ? "remote process exited or there was a network error"
           : result == nccl::kSystemError ? "unhandled system error"
                                          : "internal error";
  };
  api.ncclGetLastError = [](ncclComm_t) { return ""; };
  api.ncclCommInitAll = InitAll;
  api.ncclCommInitRank = InitRank;
  api.ncclGetUniqueId = [](ncclUniqueId* id) {
    static int made = 0;
    std::snprintf(id->internal, sizeof id->internal, "id %d of process %d", ++made, static_cast<int>(getpid()));
    return Enter("ncclGetUniqueId");
  };
  api.ncclCommDestroy = Destroy;
  api.ncclCommAbort = Abort;
  api.ncclCommGetAsyncError = [](ncclComm_t handle, ncclResult_t* error) {
    Comm* comm = Find(handle);
    if (comm == nullptr) return Violate("ncclCommGetAsyncError: a communicator that does not exist");
    auto found = nccl_state->async_errors.find(comm->rank);
    *error = found == nccl_state->async_errors.end() ? nccl::kSuccess : found->second;
    return nccl::kSuccess;
  };
  api.ncclGroupStart = [] {
    const ncclResult_t result = Enter("ncclGroupStart");
    if (result == nccl::kSuccess) ++nccl_state->depth;
    return result;
  };
  api.ncclGroupEnd = EndGroup;
  api.ncclAllReduce = [](const void* send, void* receive, size_t count, ncclDataType_t type, ncclRedOp_t op,
                         ncclComm_t comm, CUstream stream) {
    return Add("ncclAllReduce", Kind::kAllReduce, send, receive, count, type, op, comm, stream);
  };
  api.ncclSend = [](const void* send, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, CUstream stream) {
    return Add("ncclSend", Kind::kSend, send, nullptr, count, type, peer, comm, stream);
  };
  api.ncclRecv = [](void* receive, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, CUstream stream) {
    return Add("ncclRecv", Kind::kReceive, nullptr, receive, count, type, peer, comm, stream);
  };
  return api;
}

}  // namespace

FakeNccl::FakeNccl() : api_(Bind()), scoped_(&api_) {}

FakeNccl::~FakeNccl() {
  delete nccl_state;
  nccl_state = nullptr;
}

void FakeNccl::FailCall(const std::string& name, ncclResult_t result, int n) {
  nccl_state->failures.push_back({name, result, n});
}
void FakeNccl::ConnectProcesses(ProcessGroup* group) {
  setenv("NCCL_RUNTIME_CONNECT", "0", /*overwrite=*/0);  // as RunProgram does
  nccl_state->processes = group;
}
void FakeNccl::set_at_group_end(std::function<void()> at_group_end) {
  nccl_state->at_group_end = std::move(at_group_end);
}
void FakeNccl::BlockAborts() { nccl_state->released = std::make_shared<absl::Notification>(); }
void FakeNccl::ReleaseAborts() { nccl_state->released->Notify(); }
void FakeNccl::KillAt(const std::string& name) { nccl_state->killed_at = name; }
void FakeNccl::SetAsyncError(int rank, ncclResult_t result) { nccl_state->async_errors[rank] = result; }
std::vector<std::string> FakeNccl::TakeCalls() {
  std::lock_guard lock(nccl_state->mutex);
  return std::exchange(nccl_state->calls, {});
}
std::vector<std::string> FakeNccl::TakeViolations() {
  std::lock_guard lock(nccl_state->mutex);
  if (nccl_state->depth != 0) nccl_state->violations.push_back("a group was started and did not end");
  return std::exchange(nccl_state->violations, {});
}
int FakeNccl::live_communicators() const {
  std::lock_guard lock(nccl_state->mutex);
  return static_cast<int>(nccl_state->live.size());
}

}  // namespace tandem

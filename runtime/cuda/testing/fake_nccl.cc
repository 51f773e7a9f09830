#include "runtime/cuda/testing/fake_nccl.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <set>

#include "absl/strings/str_cat.h"
#include "runtime/reduction_tree.h"

namespace tandem {
namespace {

// Ranks that belong together.
struct Clique {
  int ranks = 0;
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

struct State {
  std::map<const void*, std::unique_ptr<Comm>> live;
  std::vector<std::string> calls, violations;
  struct Failure {
    std::string name;
    ncclResult_t result;
    int n;
  };
  std::vector<Failure> failures;
  std::map<int, ncclResult_t> async_errors;
  int depth = 0;
  std::vector<Call> group;
};
State* g_state = nullptr;

ncclResult_t Enter(const std::string& name, const std::string& detail = "") {
  g_state->calls.push_back(absl::StrCat(name, detail));
  for (State::Failure& f : g_state->failures) {
    if (f.name == name && f.n > 0 && --f.n == 0) return f.result;
  }
  return nccl::kSuccess;
}

ncclResult_t Violate(const std::string& what) {
  g_state->violations.push_back(what);
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
  auto found = g_state->live.find(handle);
  return found == g_state->live.end() ? nullptr : found->second.get();
}

ncclResult_t Add(const char* name, Kind kind, const void* send, void* receive, size_t count, ncclDataType_t type,
                 int op_or_peer, ncclComm_t handle, CUstream stream) {
  Comm* comm = Find(handle);
  if (comm == nullptr) return Violate(absl::StrCat(name, ": a communicator that does not exist, or no longer"));
  const ncclResult_t result = Enter(name, absl::StrCat(" ", comm->rank, " ", count));
  if (result != nccl::kSuccess) return result;
  if (g_state->depth == 0) return Violate(absl::StrCat(name, ": outside of a group, by the thread of all ranks"));
  g_state->group.push_back({kind, send, receive, count, type, op_or_peer, comm, stream});
  return result;
}

// One all-reduce, with its calls in the order of ranks.
void Compute(const std::vector<Call>& ranks) {
  const Call& first = ranks[0];
  const DType type = TypeOf(first.type);
  const auto count = static_cast<int64_t>(first.count);
  const fb::ReduceKind kind = first.op_or_peer == nccl::kMax ? fb::ReduceKind::Max : fb::ReduceKind::Sum;
  // Neither rank order nor the tree's: results must not be expected to have the tree's bits beyond two ranks.
  std::vector<char> sum(count * SizeOf(type));
  std::memcpy(sum.data(), ranks.back().send, sum.size());
  for (size_t r = ranks.size() - 1; r-- > 0;) Combine(kind, type, sum.data(), ranks[r].send, count);
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

bool Overlap(const void* a, const void* b, uint64_t a_bytes, uint64_t b_bytes) {
  const auto from = reinterpret_cast<uintptr_t>(a), other = reinterpret_cast<uintptr_t>(b);
  return from < other + b_bytes && other < from + a_bytes;
}

// The sends and receives of a group among ranks that belong together: they run at the same time.
ncclResult_t StartBetweenTwo(const std::vector<Call>& calls) {
  struct Transfer {
    const void* from;
    void* to;
    uint64_t bytes;
  };
  std::map<std::pair<int, int>, std::vector<Call>> sends, receives;  // by sender and receiver, in their order
  std::vector<CUstream> streams;
  for (const Call& c : calls) {
    const int peer = c.op_or_peer;
    if (peer < 0 || peer >= c.comm->clique->ranks) return Violate("a peer that does not exist");
    if (c.kind == Kind::kSend) sends[{c.comm->rank, peer}].push_back(c);
    if (c.kind == Kind::kReceive) receives[{peer, c.comm->rank}].push_back(c);
    if (std::find(streams.begin(), streams.end(), c.stream) == streams.end()) streams.push_back(c.stream);
  }
  std::vector<Transfer> transfers;
  std::vector<DeviceAccess> accesses;
  for (const auto& [pair, sent] : sends) {
    const std::vector<Call>& received = receives[pair];
    if (received.size() != sent.size()) return Violate("a send without its receive, or the other way round");
    for (size_t i = 0; i < sent.size(); ++i) {
      if (sent[i].count != received[i].count || sent[i].type != received[i].type) {
        return Violate("a send and its receive differ in count or type");
      }
      const uint64_t bytes = sent[i].count * SizeOf(TypeOf(sent[i].type));
      transfers.push_back({sent[i].send, received[i].receive, bytes});
      accesses.push_back({reinterpret_cast<uint64_t>(sent[i].send), bytes, false});
      accesses.push_back({reinterpret_cast<uint64_t>(received[i].receive), bytes, true});
    }
  }
  for (const auto& [pair, received] : receives) {
    if (sends.count(pair) == 0) return Violate("a send without its receive, or the other way round");
  }
  for (const Transfer& a : transfers) {
    for (const Transfer& b : transfers) {
      if (Overlap(a.to, b.from, a.bytes, b.bytes) || (&a != &b && Overlap(a.to, b.to, a.bytes, b.bytes))) {
        return Violate("a group receives where it sends from or receives to");
      }
    }
  }
  const auto run = [transfers] {
    for (const Transfer& t : transfers) std::memcpy(t.to, t.from, t.bytes);
  };
  const CUresult result = FakeDriver::current()->EnqueueTogether(streams, "nccl", std::move(accesses), run);
  return result == kCudaSuccess ? nccl::kSuccess : nccl::kUnhandledCudaError;
}

ncclResult_t EndGroup() {
  const ncclResult_t failed = Enter("ncclGroupEnd");
  if (g_state->depth == 0) return Violate("ncclGroupEnd: no group was started");
  if (--g_state->depth > 0) return failed;
  std::vector<Call> group;
  group.swap(g_state->group);
  if (failed != nccl::kSuccess) return failed;
  if (group.size() > 2048) return Violate("ncclGroupEnd: more than 2048 calls in a group");
  // By communicator and rank, each in the order of its calls.
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
    if (static_cast<int>(ranks.size()) != clique->ranks) return Violate("a rank is missing in a group: it would hang");
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

ncclResult_t InitAll(ncclComm_t* comms, int devices, const int* list) {
  const ncclResult_t result = Enter("ncclCommInitAll", absl::StrCat(" ", devices));
  if (result != nccl::kSuccess) return result;
  if (std::set<int>(list, list + devices).size() != static_cast<size_t>(devices)) {
    return Violate("ncclCommInitAll: a device twice");
  }
  auto clique = std::make_shared<Clique>();
  clique->ranks = devices;
  for (int r = 0; r < devices; ++r) {
    auto comm = std::make_unique<Comm>();
    comm->clique = clique;
    comm->rank = r;
    comms[r] = reinterpret_cast<ncclComm_t>(comm.get());
    g_state->live[comm.get()] = std::move(comm);
  }
  return result;
}

ncclResult_t Remove(const char* name, ncclComm_t comm) {
  const ncclResult_t result = Enter(name);
  if (g_state->live.erase(comm) == 0) return Violate(absl::StrCat(name, ": a communicator that does not exist"));
  return result;
}

NcclApi Bind() {
  if (g_state != nullptr) std::abort();  // a test's mistake
  g_state = new State;
  NcclApi api;
  api.ncclGetVersion = [](int* version) { return *version = 22800, nccl::kSuccess; };
  api.ncclGetErrorString = [](ncclResult_t result) {
    return result == nccl::kRemoteError   ? "remote process exited or there was a network error"
           : result == nccl::kSystemError ? "unhandled system error"
                                          : "internal error";
  };
  api.ncclGetLastError = [](ncclComm_t) { return ""; };
  api.ncclCommInitAll = InitAll;
  api.ncclCommDestroy = [](ncclComm_t comm) { return Remove("ncclCommDestroy", comm); };
  api.ncclCommAbort = [](ncclComm_t comm) { return Remove("ncclCommAbort", comm); };
  api.ncclCommGetAsyncError = [](ncclComm_t handle, ncclResult_t* error) {
    Comm* comm = Find(handle);
    if (comm == nullptr) return Violate("ncclCommGetAsyncError: a communicator that does not exist");
    auto found = g_state->async_errors.find(comm->rank);
    *error = found == g_state->async_errors.end() ? nccl::kSuccess : found->second;
    return nccl::kSuccess;
  };
  api.ncclGroupStart = [] {
    const ncclResult_t result = Enter("ncclGroupStart");
    if (result == nccl::kSuccess) ++g_state->depth;
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
  delete g_state;
  g_state = nullptr;
}

void FakeNccl::FailCall(const std::string& name, ncclResult_t result, int n) {
  g_state->failures.push_back({name, result, n});
}
void FakeNccl::SetAsyncError(int rank, ncclResult_t result) { g_state->async_errors[rank] = result; }
std::vector<std::string> FakeNccl::TakeCalls() { return std::exchange(g_state->calls, {}); }
std::vector<std::string> FakeNccl::TakeViolations() {
  if (g_state->depth != 0) g_state->violations.push_back("a group was started and did not end");
  return std::exchange(g_state->violations, {});
}
int FakeNccl::live_communicators() const { return static_cast<int>(g_state->live.size()); }

}  // namespace tandem

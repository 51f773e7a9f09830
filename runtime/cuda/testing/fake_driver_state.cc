#include "runtime/cuda/testing/fake_driver_state.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace tandem {

FakeDriverState* FakeDriverState::current = nullptr;

void JoinClock(FakeClock& into, const FakeClock& other) {
  if (into.size() < other.size()) into.resize(other.size());
  for (size_t i = 0; i < other.size(); ++i) into[i] = std::max(into[i], other[i]);
}

namespace {

bool Covers(const FakeClock& clock, int stream, uint64_t index) {
  return static_cast<size_t>(stream) < clock.size() && clock[stream] >= index;
}

bool Overlap(const DeviceAccess& a, const DeviceAccess& b) {
  return a.address < b.address + b.bytes && b.address < a.address + a.bytes;
}

uint64_t NextGeneration() {
  static uint64_t last = 0;
  return ++last;
}

}  // namespace

FakeDriverState::FakeDriverState(FakeDriver::Options o) : generation(NextGeneration()), options(std::move(o)) {
  for (int d = 0; d < options.gpus; ++d) {
    contexts.push_back(std::make_unique<FakeContext>());
    contexts.back()->device = d;
  }
}

FakeDriverState::~FakeDriverState() {
  for (auto& [address, allocation] : allocations) std::free(allocation.block);
}

FakeDriverState::Entry::Entry(const char* name, CUstream stream, std::string detail)
    : state_(*current), lock_(state_.mutex) {
  FakeCall call;
  call.name = name;
  call.detail = std::move(detail);
  FakeContext* context = state_.CurrentContext();
  call.device = context == nullptr ? -1 : context->device;
  if (auto found = state_.streams.find(stream); found != state_.streams.end()) {
    call.stream = found->second->id;
    call.captured = found->second->capturing;
    context = found->second->context;
  }
  state_.calls.push_back(std::move(call));
  for (Failure& failure : state_.call_failures) {
    if (failure.name == name && failure.n > 0 && --failure.n == 0) result_ = failure.result;
  }
  const std::string_view n = name;
  const bool always = n == "cuGetErrorName" || n == "cuGetErrorString" || n == "cuCtxSetCurrent";
  if (result_ == kCudaSuccess && context != nullptr && !always) result_ = context->broken;
}

FakeStream* FakeDriverState::Stream(CUstream handle, const char* call) {
  auto found = streams.find(handle);
  if (found == streams.end()) {
    Violation(absl::StrCat(call, ": a stream that does not exist, or no longer"));
    return nullptr;
  }
  if (found->second->context != CurrentContext()) {
    Violation(absl::StrCat(call, ": the stream belongs to another context than the current one"));
    return nullptr;
  }
  return found->second.get();
}

const FakeAllocation* FakeDriverState::Holder(uint64_t address, uint64_t bytes) const {
  auto next = allocations.upper_bound(address);
  if (next == allocations.begin()) return nullptr;
  --next;
  return address - next->first + bytes <= next->second.bytes ? &next->second : nullptr;
}

CUresult FakeDriverState::Add(FakeStream& stream, FakeWork work) {
  if (stream.capturing) {
    if (stream.capture_invalid) return kCudaCaptureInvalidated;
    stream.captured.push_back(std::move(work));
    return kCudaSuccess;
  }
  return Queue(stream, work);
}

CUresult FakeDriverState::Queue(FakeStream& stream, const FakeWork& work) {
  for (const DeviceAccess& a : work.accesses) {
    if (a.bytes == 0) continue;
    if (Holder(a.address, a.bytes) == nullptr) {
      Violation(absl::StrCat(work.name, ": accesses ", a.bytes, " bytes outside of the memory that is allocated"));
      stream.context->broken = kCudaIllegalAddress;
      return kCudaSuccess;  // as on a GPU, the error is known when the work runs
    }
  }
  JoinClock(stream.clock, host);
  if (stream.clock.size() <= static_cast<size_t>(stream.id)) stream.clock.resize(stream.id + 1);
  stream.clock[stream.id] = ++stream.count;
  stream.hung |= stream.context->hangs;
  for (const DeviceAccess& a : work.accesses) {
    for (const Access& before : accesses) {
      if ((a.write || before.range.write) && Overlap(a, before.range) &&
          !Covers(stream.clock, before.stream, before.index)) {
        Violation(absl::StrCat("race: ", work.name, " on stream ", stream.id, a.write ? " writes" : " reads", " what ",
                               before.name, " on stream ", before.stream, before.range.write ? " writes" : " reads",
                               ", and nothing orders them"));
      }
    }
  }
  for (const DeviceAccess& a : work.accesses) {
    if (a.bytes > 0) accesses.push_back({a, stream.id, stream.count, work.name});
  }
  pending.push_back({stream.id, stream.count, stream.context, work});
  return kCudaSuccess;
}

void FakeDriverState::RunUntil(const FakeClock& clock) {
  std::deque<Pending> rest;
  for (Pending& p : pending) {
    if (!Covers(clock, p.stream, p.index)) {
      rest.push_back(std::move(p));
      continue;
    }
    for (Failure& failure : work_failures) {
      if (failure.n > 0 && failure.name == p.work.name) {
        failure.n = 0;
        p.context->broken = failure.result;
      }
    }
    if (p.context->broken == kCudaSuccess && p.work.run) p.work.run();
  }
  pending.swap(rest);
  JoinClock(host, clock);
  accesses.erase(std::remove_if(accesses.begin(), accesses.end(),
                                [&](const Access& a) { return Covers(host, a.stream, a.index); }),
                 accesses.end());
}

bool FakeDriverState::ForbiddenInCapture(const char* call) {
  bool any = false;
  for (auto& [handle, stream] : streams) {
    if (!stream->capturing) continue;
    const bool other = stream->capturing_thread != std::thread::id();
    if (other && stream->capturing_thread != std::this_thread::get_id()) continue;
    Violation(absl::StrCat(call, ": not allowed while a stream is captured"));
    stream->capture_invalid = any = true;
  }
  return any;
}

void FakeDriverState::CheckLeaks(FakeContext& context) {
  if (context.broken != kCudaSuccess || context.hangs) return;  // nothing can be freed on a lost GPU
  auto leak = [&](int64_t n, const char* what) {
    if (n > 0)
      Violation(absl::StrCat("GPU ", context.device, ": ", n, " ", what, " left when its context is released"));
  };
  int64_t n = 0;
  uint64_t bytes = 0;
  for (const auto& [address, a] : allocations) {
    if (a.context == &context) ++n, bytes += a.bytes;
  }
  leak(n, "allocations");
  auto count = [&](const auto& table) {
    return std::count_if(table.begin(), table.end(), [&](const auto& e) { return e.second->context == &context; });
  };
  leak(count(streams), "streams");
  leak(count(events), "events");
  leak(count(modules), "modules");
  leak(count(graphs), "graphs");
  leak(count(execs), "executable graphs");
}

}  // namespace tandem

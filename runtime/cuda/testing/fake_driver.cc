#include "runtime/cuda/testing/fake_driver.h"

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "runtime/cuda/testing/fake_driver_state.h"

namespace tandem {
namespace {

thread_local std::vector<DeviceAccess> t_declared;
FakeDriver* g_driver = nullptr;

}  // namespace

std::vector<DeviceAccess> TakeDeclaredAccesses() {
  std::vector<DeviceAccess> taken;
  taken.swap(t_declared);
  return taken;
}

FakeDriver::FakeDriver() : FakeDriver(Options()) {}

FakeDriver::FakeDriver(Options options) : state_(std::make_unique<FakeDriverState>(std::move(options))) {
  DriverApi& api = state_->api;
  BindFakeContexts(api);
  BindFakeMemory(api);
  BindFakeStreams(api);
  BindFakeGraphs(api);
  BindFakeModules(api);
  SetAccessWatcher(
      [](absl::Span<const DeviceAccess> accesses) { t_declared.assign(accesses.begin(), accesses.end()); });
  if (FakeDriverState::current != nullptr) std::abort();  // a test's mistake
  t_declared.clear();                                     // accesses left over from a call that another fake made fail
  FakeDriverState::current = state_.get();
  g_driver = this;
  scoped_ = std::make_unique<ScopedDriver>(&api);
}

FakeDriver::~FakeDriver() {
  scoped_.reset();
  SetAccessWatcher(nullptr);
  FakeDriverState::current = nullptr;
  g_driver = nullptr;
}

const DriverApi& FakeDriver::api() const { return state_->api; }
FakeDriver* FakeDriver::current() { return g_driver; }

void FakeDriver::RegisterKernel(const std::string& symbol, Kernel kernel) {
  std::lock_guard<std::mutex> lock(state_->mutex);
  state_->kernels[symbol] = std::move(kernel);
}

void FakeDriver::set_fallback(Fallback fallback) {
  std::lock_guard<std::mutex> lock(state_->mutex);
  state_->fallback = std::move(fallback);
}

CUresult FakeDriver::Enqueue(CUstream stream, const std::string& name, std::vector<DeviceAccess> accesses,
                             std::function<void()> run) {
  FakeDriverState::Entry entry(name.c_str(), stream);
  std::vector<DeviceAccess> declared = TakeDeclaredAccesses();
  accesses.insert(accesses.end(), declared.begin(), declared.end());
  if (entry.result() != kCudaSuccess) return entry.result();
  FakeStream* s = state_->Stream(stream, name.c_str());
  if (s == nullptr) return kCudaInvalidHandle;
  return state_->Add(*s, {name, std::move(accesses), std::move(run)});
}

CUresult FakeDriver::EnqueueTogether(const std::vector<CUstream>& streams, const std::string& name,
                                     std::vector<DeviceAccess> accesses, std::function<void()> run) {
  FakeDriverState::Entry entry(name.c_str(), streams[0]);
  TakeDeclaredAccesses();
  if (entry.result() != kCudaSuccess) return entry.result();
  std::vector<FakeStream*> all;
  FakeClock clock;
  bool hung = false;
  for (CUstream handle : streams) {
    FakeStream* s = state_->Find(state_->streams, handle, name.c_str());
    if (s == nullptr) return kCudaInvalidHandle;
    if (s->capturing) {
      state_->Violation(name + ": one of its streams is being captured");
      s->capture_invalid = true;
      return kCudaCaptureUnsupported;
    }
    JoinClock(clock, s->clock);
    hung |= s->hung || s->context->hangs;
    all.push_back(s);
  }
  JoinClock(all[0]->clock, clock);
  const CUresult result = state_->Queue(*all[0], {name, std::move(accesses), std::move(run)});
  for (FakeStream* s : all) {
    JoinClock(s->clock, all[0]->clock);
    s->hung |= hung;
  }
  return result;
}

void FakeDriver::FailCall(const std::string& name, CUresult result, int n) {
  std::lock_guard<std::mutex> lock(state_->mutex);
  state_->call_failures.push_back({name, result, n});
}

void FakeDriver::FailWork(const std::string& name, CUresult result) {
  std::lock_guard<std::mutex> lock(state_->mutex);
  state_->work_failures.push_back({name, result, 1});
}

void FakeDriver::OnlyThisThreadCallsForMemory(bool only) {
  std::lock_guard<std::mutex> lock(state_->mutex);
  state_->memory_thread = only ? std::this_thread::get_id() : std::thread::id();
}

void FakeDriver::Hang(int device) {
  std::lock_guard<std::mutex> lock(state_->mutex);
  state_->contexts[device]->hangs = true;
}

std::vector<FakeCall> FakeDriver::calls() const {
  std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->calls;
}

int FakeDriver::CountCalls(absl::string_view name) const {
  std::lock_guard<std::mutex> lock(state_->mutex);
  int n = 0;
  for (const FakeCall& call : state_->calls) n += !call.captured && (name.empty() || name == call.name);
  return n;
}

void FakeDriver::ClearCalls() {
  std::lock_guard<std::mutex> lock(state_->mutex);
  state_->calls.clear();
}

std::vector<std::string> FakeDriver::TakeViolations() {
  std::lock_guard<std::mutex> lock(state_->mutex);
  for (const auto& [address, allocation] : state_->allocations) state_->CheckBorders(address, allocation);
  std::vector<std::string> taken;
  taken.swap(state_->violations);
  return taken;
}

uint64_t FakeDriver::AllocatedBytes(int device) const {
  std::lock_guard<std::mutex> lock(state_->mutex);
  uint64_t bytes = 0;
  for (const auto& [address, a] : state_->allocations) {
    if (a.context != nullptr && a.context->device == device) bytes += a.bytes;
  }
  return bytes;
}

void FakeDriver::Drain() {
  std::lock_guard<std::mutex> lock(state_->mutex);
  FakeClock all;
  for (const auto& [handle, stream] : state_->streams) {
    if (!stream->hung) JoinClock(all, stream->clock);
  }
  state_->RunUntil(all);
}

}  // namespace tandem

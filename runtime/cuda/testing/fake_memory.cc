// Memory, copies and fills of the fake driver.
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "runtime/cuda/testing/fake_driver_state.h"

namespace tandem {
namespace {

using State = FakeDriverState;

constexpr uint64_t kBorderBytes = 512;
constexpr uint8_t kBorderPattern = 0xa5;

uint8_t* Host(CUdeviceptr address) { return reinterpret_cast<uint8_t*>(address); }

uint64_t Allocate(State& state, FakeContext* context, uint64_t bytes) {
  FakeAllocation a;
  a.context = context;
  a.bytes = bytes;
  const uint64_t padded = (bytes + 511) / 512 * 512;
  a.block = static_cast<uint8_t*>(std::aligned_alloc(512, padded + 2 * kBorderBytes));
  std::memset(a.block, kBorderPattern, padded + 2 * kBorderBytes);
  std::memset(a.block + kBorderBytes, 0xff, bytes);  // NaN, so that reading memory that was never written is noticed
  const uint64_t address = reinterpret_cast<uint64_t>(a.block + kBorderBytes);
  state.allocations[address] = a;
  return address;
}

CUresult Free(State& state, uint64_t address, bool host, const char* call) {
  auto found = state.allocations.find(address);
  if (found == state.allocations.end() || (found->second.context == nullptr) != host) {
    state.Violation(absl::StrCat(call, ": not the address of an allocation, or freed already"));
    return kCudaInvalidValue;
  }
  const DeviceAccess whole = {address, found->second.bytes, true};
  for (auto& pending : state.pending) {
    for (const DeviceAccess& a : pending.work.accesses) {
      if (a.bytes > 0 && a.address < whole.address + whole.bytes && whole.address < a.address + a.bytes) {
        state.Violation(absl::StrCat(call, ": ", pending.work.name, " is queued and uses the memory"));
        pending.work.run = [] {};  // on a GPU anything could happen; here nothing does
      }
    }
  }
  state.CheckBorders(address, found->second);
  std::free(found->second.block);
  state.allocations.erase(found);
  return kCudaSuccess;
}

// `host`: the side that is host memory, if any.
CUresult Copy(const char* call, uint64_t to, uint64_t from, size_t bytes, CUstream stream, const uint64_t* host) {
  State::Entry entry(call, stream, absl::StrCat(bytes));
  State& state = entry.state();
  if (entry.result() != kCudaSuccess) return entry.result();
  FakeStream* s = state.Stream(stream, call);
  if (s == nullptr) return kCudaInvalidHandle;
  if (host != nullptr) {
    const FakeAllocation* holder = state.Holder(*host, bytes);
    if (holder == nullptr || holder->context != nullptr) {
      state.Violation(absl::StrCat(call, ": the host's memory is not pinned"));
      return kCudaInvalidValue;
    }
  }
  return state.Add(
      *s, {call, {{from, bytes, false}, {to, bytes, true}}, [=] { std::memmove(Host(to), Host(from), bytes); }});
}

CUresult Fill(const char* call, CUdeviceptr to, size_t bytes, CUstream stream, std::function<void()> fill) {
  State::Entry entry(call, stream, absl::StrCat(bytes));
  if (entry.result() != kCudaSuccess) return entry.result();
  FakeStream* s = entry.state().Stream(stream, call);
  if (s == nullptr) return kCudaInvalidHandle;
  return entry.state().Add(*s, {call, {{to, bytes, true}}, std::move(fill)});
}

void BindCopies(DriverApi& api) {
  api.cuMemcpyHtoDAsync_v2 = [](CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
    const uint64_t host = reinterpret_cast<uint64_t>(from);
    return Copy("cuMemcpyHtoDAsync_v2", to, host, bytes, stream, &host);
  };
  api.cuMemcpyDtoHAsync_v2 = [](void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
    const uint64_t host = reinterpret_cast<uint64_t>(to);
    return Copy("cuMemcpyDtoHAsync_v2", host, from, bytes, stream, &host);
  };
  api.cuMemcpyDtoDAsync_v2 = [](CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    return Copy("cuMemcpyDtoDAsync_v2", to, from, bytes, stream, nullptr);
  };
  api.cuMemcpyPeerAsync = [](CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t bytes, CUstream stream) {
    return Copy("cuMemcpyPeerAsync", to, from, bytes, stream, nullptr);
  };
  api.cuMemsetD8Async = [](CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
    return Fill("cuMemsetD8Async", to, count, stream, [=] { std::memset(Host(to), value, count); });
  };
  api.cuMemsetD32Async = [](CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
    return Fill("cuMemsetD32Async", to, count * 4, stream, [=] {
      for (size_t i = 0; i < count; ++i) std::memcpy(Host(to) + i * 4, &value, 4);
    });
  };
  api.cuMemsetD2D32Async = [](CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height,
                              CUstream stream) {
    const size_t bytes = height == 0 ? 0 : (height - 1) * pitch + width * 4;
    return Fill("cuMemsetD2D32Async", to, bytes, stream, [=] {
      for (size_t y = 0; y < height; ++y) {
        for (size_t x = 0; x < width; ++x) std::memcpy(Host(to) + y * pitch + x * 4, &value, 4);
      }
    });
  };
}

}  // namespace

void FakeDriverState::CheckBorders(uint64_t address, const FakeAllocation& a) {
  const uint64_t padded = (a.bytes + 511) / 512 * 512;
  for (uint64_t i = 0; i < padded + 2 * kBorderBytes; ++i) {
    if (i >= kBorderBytes && i < kBorderBytes + a.bytes) continue;
    if (a.block[i] == kBorderPattern) continue;
    Violation(absl::StrCat("something wrote outside of an allocation of ", a.bytes, " bytes, at offset ",
                           static_cast<int64_t>(i - kBorderBytes)));
    std::memset(a.block, kBorderPattern, kBorderBytes);
    std::memset(a.block + kBorderBytes + a.bytes, kBorderPattern, padded - a.bytes + kBorderBytes);
    return;
  }
}

void FakeDriverState::CheckMemoryThread(const char* call) {
  if (memory_thread == std::thread::id() || memory_thread == std::this_thread::get_id()) return;
  Violation(absl::StrCat(call, ": between a collective's launches on several GPUs: both might wait for each other"));
}

void BindFakeMemory(DriverApi& api) {
  api.cuMemGetInfo_v2 = [](size_t* free, size_t* total) {
    State::Entry entry("cuMemGetInfo_v2");
    FakeContext* context = entry.state().CurrentContext();
    if (entry.result() != kCudaSuccess || context == nullptr) return kCudaInvalidContext;
    *total = *free = entry.state().options.memory_bytes;
    for (const auto& [address, a] : entry.state().allocations) *free -= a.context == context ? a.bytes : 0;
    return kCudaSuccess;
  };
  api.cuMemAlloc_v2 = [](CUdeviceptr* address, size_t bytes) {
    State::Entry entry("cuMemAlloc_v2", nullptr, absl::StrCat(bytes));
    entry.state().CheckMemoryThread("cuMemAlloc_v2");
    State& state = entry.state();
    if (entry.result() != kCudaSuccess) return entry.result();
    if (state.ForbiddenInCapture("cuMemAlloc_v2")) return kCudaCaptureUnsupported;
    FakeContext* context = state.CurrentContext();
    if (context == nullptr) return kCudaInvalidContext;
    if (bytes == 0) return kCudaInvalidValue;
    uint64_t used = 0;
    for (const auto& [at, a] : state.allocations) used += a.context == context ? a.bytes : 0;
    if (bytes > state.options.memory_bytes - used) return kCudaOutOfMemory;
    *address = Allocate(state, context, bytes);
    return kCudaSuccess;
  };
  api.cuMemFree_v2 = [](CUdeviceptr address) {
    State::Entry entry("cuMemFree_v2");
    entry.state().CheckMemoryThread("cuMemFree_v2");
    if (entry.state().ForbiddenInCapture("cuMemFree_v2")) return kCudaCaptureUnsupported;
    const CUresult result = Free(entry.state(), address, false, "cuMemFree_v2");
    return entry.result() != kCudaSuccess ? entry.result() : result;
  };
  api.cuMemHostAlloc = [](void** address, size_t bytes, unsigned) {
    State::Entry entry("cuMemHostAlloc", nullptr, absl::StrCat(bytes));
    entry.state().CheckMemoryThread("cuMemHostAlloc");
    if (entry.result() != kCudaSuccess) return entry.result();
    if (entry.state().ForbiddenInCapture("cuMemHostAlloc")) return kCudaCaptureUnsupported;
    *address = reinterpret_cast<void*>(Allocate(entry.state(), nullptr, bytes));
    return kCudaSuccess;
  };
  api.cuMemFreeHost = [](void* address) {
    State::Entry entry("cuMemFreeHost");
    entry.state().CheckMemoryThread("cuMemFreeHost");
    return Free(entry.state(), reinterpret_cast<uint64_t>(address), true, "cuMemFreeHost");
  };
  BindCopies(api);
}

}  // namespace tandem

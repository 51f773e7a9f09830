// A CUDA driver in host memory, for tests on machines without a GPU.
//
// Device memory is host memory, with a border that shows writes beyond it. Work is queued by stream and runs as late as
// the host's waits permit: work that a caller forgot to wait for has not happened yet. Kernels are C++ functions by
// symbol, or a fallback computes them. Every call is recorded. A violation is recorded for all that would sooner or
// later fail with a real driver or GPU: races between streams (happens-before over streams, events and host waits),
// accesses to memory that is free, asynchronous copies of pageable memory, handles of another context, calls that
// capture forbids, and, when a context is released, memory, streams, events, graphs and modules that are left.
#ifndef TANDEM_RUNTIME_CUDA_TESTING_FAKE_DRIVER_H_
#define TANDEM_RUNTIME_CUDA_TESTING_FAKE_DRIVER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "runtime/cuda/driver/access_watch.h"
#include "runtime/cuda/driver/driver_api.h"

namespace tandem {

class FakeDriverState;

// One call of the table, in order.
struct FakeCall {
  std::string name;    // "cuLaunchKernel"; for work of fake libraries, the name that they pass to Enqueue
  std::string detail;  // kernel symbol, bytes
  int device = -1;     // device of the current context
  int stream = -1;     // numbered from 0 in the order of creation, over all devices; -1 without stream
  bool captured = false;
};

// One at a time in a process. Thread-safe.
class FakeDriver {
 public:
  struct Options {
    int gpus = 1;
    uint64_t memory_bytes = uint64_t{1} << 30;  // bytes of each device
    int compute_capability = 90;                // major * 10 + minor
    int version = 13000;                        // the driver's version
    int ptx_version = 88;                       // the newest PTX that it reads, major * 10 + minor
    std::string visible_devices;                // for cuInit's message only
  };
  explicit FakeDriver(Options options);
  FakeDriver();
  // Replaces LoadDriver's result while it lives. Everything must have been released before.
  ~FakeDriver();
  FakeDriver(const FakeDriver&) = delete;
  FakeDriver& operator=(const FakeDriver&) = delete;

  const DriverApi& api() const;
  // Returns the fake that lives now, or null.
  static FakeDriver* current();

  // Computes a launch. `params` are those of cuLaunchKernel; device pointers are host addresses.
  using Kernel = std::function<void(uint32_t grid, uint32_t block, uint32_t shared_bytes, void** params)>;
  void RegisterKernel(const std::string& symbol, Kernel kernel);
  // Called for symbols without a kernel of their own. An error becomes a violation.
  using Fallback = std::function<absl::Status(const std::string& symbol, uint32_t grid, uint32_t block,
                                              uint32_t shared_bytes, void** params)>;
  void set_fallback(Fallback fallback);

  // Enqueues the work of a fake library on a stream: it is recorded as a call, captured or queued, and run in its turn.
  // Takes the accesses that DeclareAccesses announced, and adds `accesses`. The result is the CUresult that a library
  // would see.
  CUresult Enqueue(CUstream stream, const std::string& name, std::vector<DeviceAccess> accesses,
                   std::function<void()> run);

  // The same for a collective: work of several streams, of any contexts, that begins when all of them have reached it
  // and ends for all at once. Not during capture.
  CUresult EnqueueTogether(const std::vector<CUstream>& streams, const std::string& name,
                           std::vector<DeviceAccess> accesses, std::function<void()> run);

  // The n-th call of `name` from now on (1: the next) returns `result` and does nothing else.
  void FailCall(const std::string& name, CUresult result, int n = 1);
  // The next work whose name or kernel symbol is `name` breaks its context when it runs: the call that waits for it and
  // all later ones return `result`.
  void FailWork(const std::string& name, CUresult result);
  // While `only` is set, calls of other threads that allocate or free memory are violations: a real driver could have
  // such a call and this thread's launches wait for each other.
  void OnlyThisThreadCallsForMemory(bool only);
  // Work that is queued from now on on any stream of this device never ends: queries say "not ready", and a wait is a
  // violation (a real one would not come back).
  void Hang(int device);

  std::vector<FakeCall> calls() const;
  // Returns the number of calls of `name`; of all calls when it is empty. Captured ones are left out.
  int CountCalls(absl::string_view name = "") const;
  void ClearCalls();
  // Returns the violations and forgets them. A test must end with none.
  std::vector<std::string> TakeViolations();
  uint64_t AllocatedBytes(int device) const;
  // Runs everything that is queued.
  void Drain();

 private:
  std::unique_ptr<FakeDriverState> state_;
  std::unique_ptr<ScopedDriver> scoped_;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_TESTING_FAKE_DRIVER_H_

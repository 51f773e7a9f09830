// The state of the fake driver; private to it.
#ifndef TANDEM_RUNTIME_CUDA_TESTING_FAKE_DRIVER_STATE_H_
#define TANDEM_RUNTIME_CUDA_TESTING_FAKE_DRIVER_STATE_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "runtime/cuda/driver/access_watch.h"
#include "runtime/cuda/testing/fake_driver.h"

namespace tandem {

// Says how much of each stream has happened: entry s counts the work of stream s.
using FakeClock = std::vector<uint64_t>;

void JoinClock(FakeClock& into, const FakeClock& other);

struct FakeWork {
  std::string name;
  std::vector<DeviceAccess> accesses;
  std::function<void()> run;
};

struct FakeContext {
  int device = 0;
  int retained = 0;
  CUresult broken = kCudaSuccess;
  bool hangs = false;
};

struct FakeStream {
  FakeContext* context = nullptr;
  int id = 0;
  FakeClock clock;  // all that happens before the stream's next work
  uint64_t count = 0;
  bool hung = false;
  bool capturing = false, capture_invalid = false;
  std::thread::id capturing_thread;  // none: capture forbids calls of all threads
  std::vector<FakeWork> captured;
};

struct FakeEvent {
  FakeContext* context = nullptr;
  bool timing = false, recorded = false;
  bool hung = false;
  const FakeStream* captured_on = nullptr;  // the stream in whose running capture it was recorded
  FakeClock clock;
  double milliseconds = 0;
};

struct FakeFunction {
  FakeContext* context = nullptr;
  std::string symbol;
  std::vector<int> param_bytes;
  unsigned max_shared = 48 << 10;  // dynamic shared memory, as set by the attribute
};

struct FakeModule {
  FakeContext* context = nullptr;
  std::map<std::string, std::unique_ptr<FakeFunction>> functions;
};

struct FakeGraph {
  FakeContext* context = nullptr;
  std::vector<FakeWork> work;
};

struct FakeAllocation {
  FakeContext* context = nullptr;  // null: pinned host memory
  uint64_t bytes = 0;
  uint8_t* block = nullptr;  // the memory with its borders
};

class FakeDriverState {
 public:
  explicit FakeDriverState(FakeDriver::Options options);
  ~FakeDriverState();

  // Each call of the table begins with an Entry: it takes the lock, records the call, and decides whether it fails.
  class Entry {
   public:
    Entry(const char* name, CUstream stream = nullptr, std::string detail = "");
    CUresult result() const { return result_; }
    FakeDriverState& state() { return state_; }

   private:
    FakeDriverState& state_;
    std::lock_guard<std::mutex> lock_;
    CUresult result_ = kCudaSuccess;
  };

  // Returns the stream; null, and a violation, when it is not a live one.
  FakeStream* Stream(CUstream handle, const char* call);
  template <typename T>
  T* Find(std::map<const void*, std::unique_ptr<T>>& table, const void* handle, const char* call) {
    auto found = table.find(handle);
    if (found != table.end()) return found->second.get();
    Violation(std::string(call) + ": a handle that does not exist, or no longer");
    return nullptr;
  }

  void Violation(const std::string& text) { violations.push_back(text); }
  FakeContext* CurrentContext();
  // Queues the work, or captures it.
  CUresult Add(FakeStream& stream, FakeWork work);
  CUresult Queue(FakeStream& stream, const FakeWork& work);
  // Runs the work that `clock` covers, in the order of issue; the host has seen it then.
  void RunUntil(const FakeClock& clock);
  // Returns the live allocation that holds [address, address + bytes), or null.
  const FakeAllocation* Holder(uint64_t address, uint64_t bytes) const;
  void CheckBorders(uint64_t address, const FakeAllocation& allocation);
  void CheckLeaks(FakeContext& context);
  // Records a violation if this thread must not call for memory now.
  void CheckMemoryThread(const char* call);
  // True if the thread captures on some stream; then the call is not allowed and breaks the capture.
  bool ForbiddenInCapture(const char* call);

  static FakeDriverState* current;

  const uint64_t generation;  // unique number of this fake
  FakeDriver::Options options;
  DriverApi api;
  mutable std::mutex mutex;
  std::vector<std::unique_ptr<FakeContext>> contexts;
  std::map<const void*, std::unique_ptr<FakeStream>> streams;
  std::map<const void*, std::unique_ptr<FakeEvent>> events;
  std::map<const void*, std::unique_ptr<FakeModule>> modules;
  std::map<const void*, std::unique_ptr<FakeGraph>> graphs, execs;
  std::map<uint64_t, FakeAllocation> allocations;
  int next_stream = 0;
  std::thread::id memory_thread;  // the only one that may call for memory; none: all may

  struct Pending {
    int stream;
    uint64_t index;
    FakeContext* context;
    FakeWork work;
  };
  std::deque<Pending> pending;
  struct Access {
    DeviceAccess range;
    int stream;
    uint64_t index;
    std::string name;
  };
  std::vector<Access> accesses;  // accesses that the host has not waited for
  FakeClock host;

  std::map<std::string, FakeDriver::Kernel> kernels;
  FakeDriver::Fallback fallback;
  std::vector<FakeCall> calls;
  std::vector<std::string> violations;
  struct Failure {
    std::string name;
    CUresult result;
    int n;
  };
  std::vector<Failure> call_failures, work_failures;
};

// Returns the accesses that DeclareAccesses announced on this thread, and forgets them.
std::vector<DeviceAccess> TakeDeclaredAccesses();

// Set the functions of the table, one function for each file.
void BindFakeContexts(DriverApi& api);
void BindFakeMemory(DriverApi& api);
void BindFakeStreams(DriverApi& api);
void BindFakeGraphs(DriverApi& api);
void BindFakeModules(DriverApi& api);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_TESTING_FAKE_DRIVER_STATE_H_

#include "runtime/cuda/libraries/autotune.h"

#include <algorithm>
#include <random>

#include "base/bfloat16.h"
#include "base/status_macros.h"
#include "runtime/cuda/driver/memory_calls.h"

namespace tandem {
namespace {

constexpr int kRounds = 3, kCallsPerRound = 4;
// A candidate whose first call takes this many times as long as a call of the best one is not measured further. Among
// the candidates of a float32 convolution are some that take a hundred times as long as the best.
constexpr float kHopeless = 1.5f;
// The number of random numbers whose repetitions fill the operands. With numbers that are zero or all the same a GPU
// takes less power, and runs at another clock.
constexpr size_t kNumbers = 1 << 16;

// A stream, two events and memory, released together.
class Bench {
 public:
  explicit Bench(const DriverApi& driver) : driver_(driver) {}
  ~Bench() {
    if (stream_ != nullptr) driver_.cuStreamSynchronize(stream_);
    for (CUdeviceptr p : memory_) MemFree(driver_, p);
    if (begin_ != nullptr) driver_.cuEventDestroy_v2(begin_);
    if (end_ != nullptr) driver_.cuEventDestroy_v2(end_);
    if (stream_ != nullptr) driver_.cuStreamDestroy_v2(stream_);
    if (numbers_ != nullptr) MemFreeHost(driver_, numbers_);
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  absl::Status Init() {
    TD_CU(driver_, cuStreamCreate(&stream_, kCudaStreamNonBlocking));
    TD_CU(driver_, cuEventCreate(&begin_, kCudaEventDefault));
    TD_CU(driver_, cuEventCreate(&end_, kCudaEventDefault));
    TD_RETURN_IF_ERROR(
        CudaStatus(driver_, MemHostAlloc(driver_, &numbers_, kNumbers * sizeof(uint16_t), 0), "cuMemHostAlloc"));
    std::mt19937 random(1);
    std::uniform_real_distribution<float> uniform(-1, 1);
    // Two bfloat16 numbers make one float32 number, which has the second's sign, exponent and first digits.
    for (size_t i = 0; i < kNumbers; ++i) static_cast<uint16_t*>(numbers_)[i] = ToBFloat16Bits(uniform(random));
    return absl::OkStatus();
  }

  absl::StatusOr<CUdeviceptr> Allocate(uint64_t bytes) {
    CUdeviceptr address = 0;
    TD_RETURN_IF_ERROR(CudaStatus(driver_, MemAlloc(driver_, &address, std::max<uint64_t>(bytes, 1)), "cuMemAlloc_v2"));
    memory_.push_back(address);
    return address;
  }

  absl::StatusOr<CUdeviceptr> AllocateNumbers(uint64_t bytes) {
    TD_ASSIGN_OR_RETURN(const CUdeviceptr address, Allocate(bytes));
    uint64_t filled = std::min<uint64_t>(bytes, kNumbers * sizeof(uint16_t));
    if (filled > 0) TD_CU(driver_, cuMemcpyHtoDAsync_v2(address, numbers_, filled, stream_));
    while (filled < bytes) {
      const uint64_t more = std::min(filled, bytes - filled);
      TD_CU(driver_, cuMemcpyDtoDAsync_v2(address + filled, address, more, stream_));
      filled += more;
    }
    return address;
  }

  // Returns the milliseconds of one call, the least of several measurements; the first call, which loads what is loaded
  // lazily, is not timed. `best`: the time of the best candidate so far, 0 for none.
  absl::StatusOr<float> Time(TunableCall& call, absl::Span<const CUdeviceptr> inputs,
                             absl::Span<const CUdeviceptr> outputs, CUdeviceptr workspace, float best) {
    TD_RETURN_IF_ERROR(call.Enqueue(inputs, outputs, workspace, stream_));
    TD_ASSIGN_OR_RETURN(float least, TimeRound(call, inputs, outputs, workspace, 1));
    if (best > 0 && least > kHopeless * best) return least;
    for (int round = 0; round < kRounds; ++round) {
      TD_ASSIGN_OR_RETURN(const float time, TimeRound(call, inputs, outputs, workspace, kCallsPerRound));
      least = std::min(least, time);
    }
    return least;
  }

  float spent_milliseconds() const { return spent_; }

 private:
  absl::StatusOr<float> TimeRound(TunableCall& call, absl::Span<const CUdeviceptr> inputs,
                                  absl::Span<const CUdeviceptr> outputs, CUdeviceptr workspace, int calls) {
    TD_CU(driver_, cuEventRecord(begin_, stream_));
    for (int i = 0; i < calls; ++i) {
      TD_RETURN_IF_ERROR(call.Enqueue(inputs, outputs, workspace, stream_));
    }
    TD_CU(driver_, cuEventRecord(end_, stream_));
    TD_CU(driver_, cuEventSynchronize(end_));
    float milliseconds = 0;
    TD_CU(driver_, cuEventElapsedTime(&milliseconds, begin_, end_));
    spent_ += milliseconds;
    return milliseconds / static_cast<float>(calls);
  }

  const DriverApi& driver_;
  CUstream stream_ = nullptr;
  CUevent begin_ = nullptr, end_ = nullptr;
  std::vector<CUdeviceptr> memory_;
  void* numbers_ = nullptr;
  float spent_ = 0;
};

}  // namespace

absl::StatusOr<int> SelectFastest(const DriverApi& driver, TunableCall& call, const std::vector<uint64_t>& input_bytes,
                                  const std::vector<uint64_t>& output_bytes, float most_milliseconds) {
  if (call.candidates() == 1) return 0;
  Bench bench(driver);
  TD_RETURN_IF_ERROR(bench.Init());
  std::vector<CUdeviceptr> inputs(input_bytes.size()), outputs(output_bytes.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    TD_ASSIGN_OR_RETURN(inputs[i], bench.AllocateNumbers(input_bytes[i]));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    TD_ASSIGN_OR_RETURN(outputs[i], bench.Allocate(output_bytes[i]));
  }
  uint64_t workspace_bytes = 0;
  for (int c = 0; c < call.candidates(); ++c) {
    call.Select(c);
    workspace_bytes = std::max(workspace_bytes, call.workspace_bytes());
  }
  TD_ASSIGN_OR_RETURN(const CUdeviceptr workspace, bench.Allocate(workspace_bytes));
  int best = -1;
  float best_time = 0;
  absl::Status first_error;
  for (int c = 0; c < call.candidates(); ++c) {
    if (best >= 0 && bench.spent_milliseconds() > most_milliseconds) break;
    call.Select(c);
    absl::StatusOr<float> time = bench.Time(call, inputs, outputs, workspace, best_time);
    if (!time.ok()) {
      if (first_error.ok()) first_error = time.status();
      continue;
    }
    if (best < 0 || *time < best_time) {
      best = c;
      best_time = *time;
    }
  }
  if (best < 0) return first_error;
  call.Select(best);
  return best;
}

}  // namespace tandem

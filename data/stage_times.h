// Measures how long the stages of a pipeline take, at some of its elements.
#ifndef TANDEM_DATA_STAGE_TIMES_H_
#define TANDEM_DATA_STAGE_TIMES_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/source_location.h"

namespace tandem::data_internal {

inline int64_t NowNanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Sums over all iterators of one dataset. Times are in nanoseconds. Thread-safe.
struct PipelineTimes {
  std::atomic<int64_t> elements{0};
  std::atomic<int64_t> elapsed{0};        // time from the first to the last measured GetNext
  std::atomic<int64_t> thread_time{0};    // `elapsed` multiplied by the number of threads in use
  std::atomic<int64_t> consumer_wait{0};  // time that GetNext waited; without threads: all time in GetNext
  std::atomic<int64_t> room_wait{0};      // time that threads waited because enough elements were ready
  std::atomic<int64_t> turn_wait{0};      // time that threads waited for another thread to draw its token
  std::atomic<int64_t> ready{0};          // for each GetNext, the number of elements that were ready; summed
  std::atomic<int64_t> threads{0};        // the largest number of threads in use
  std::atomic<int64_t> window{0};         // the latest limit on the number of elements made ahead
};

// Times of one stage, for all iterators. Thread-safe. They are estimates: sums over the measured elements, each
// weighted with the number of elements that it stands for.
struct StageTimes {
  StageTimes(const char* name, SourceLocation location) : name(name), location(location) {}

  const char* const name;  // name of the Dataset method, such as "Map"
  const SourceLocation location;
  std::atomic<int64_t> total{0};    // nanoseconds in the stage, including the stages that it calls
  std::atomic<int64_t> busy{0};     // nanoseconds in the stage, excluding the stages that it calls
  std::atomic<int64_t> drawing{0};  // the part of `busy` that draws the order, which one thread at a time does
  PipelineTimes pipeline;           // times of the pipeline iterators whose last stage is this one
  // If set, this object receives the times instead. Data sets that FlatMap makes send their times to the stages of the
  // first such data set.
  std::atomic<std::shared_ptr<StageTimes>> sink;
  std::atomic<bool> has_sink{false};  // true if `sink` is set; cheaper to read than `sink`
};
using StageList = std::vector<std::shared_ptr<StageTimes>>;

// Returns the method and its source line: "Map (input.cc:12)".
std::string StageText(const StageTimes& stage);

// The measurement that is in progress in this thread.
struct Sampling {
  int64_t weight = 0;  // number of elements that the measured one stands for; 0: nothing is measured
  int64_t inner = 0;   // nanoseconds spent in stages that the current stage has called
};
inline constinit thread_local Sampling sampling;

// Returns how many elements element `n` of an iterator stands for in the estimates, or 0 if it is not measured. The
// first elements, which open files and fill buffers, are all measured.
int64_t SampleWeight(int64_t n);

// Measures the stages that this thread calls during its lifetime.
class ScopedSample {
 public:
  explicit ScopedSample(int64_t weight) : outer_(sampling) { sampling = {weight, 0}; }
  ~ScopedSample() { sampling = outer_; }
  ScopedSample(const ScopedSample&) = delete;
  ScopedSample& operator=(const ScopedSample&) = delete;

 private:
  const Sampling outer_;
};

// Measures one call of a stage, which lasts as long as this object. Exists only while sampling.weight > 0.
class ScopedStage {
 public:
  ScopedStage(StageTimes* times, bool drawing) : times_(times), drawing_(drawing), outer_(sampling.inner) {
    sampling.inner = 0;
    begin_ = NowNanoseconds();
  }
  ~ScopedStage();
  ScopedStage(const ScopedStage&) = delete;
  ScopedStage& operator=(const ScopedStage&) = delete;

 private:
  StageTimes* const times_;
  const bool drawing_;
  const int64_t outer_;
  int64_t begin_;
};

// Makes `stages` record their times in `to`, stage by stage. Does nothing if the two lists differ in length.
void SendTimes(const StageList& stages, const StageList& to);
// Appends to `stages` those of `more` that it does not have.
void AddStages(const StageList& more, StageList* stages);

}  // namespace tandem::data_internal

#endif  // TANDEM_DATA_STAGE_TIMES_H_

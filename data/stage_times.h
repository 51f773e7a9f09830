// How long the stages of a pipeline take, measured at some of its elements.
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

// What the iterators of one dataset add up, in nanoseconds. Thread-safe.
struct PipelineTimes {
  std::atomic<int64_t> elements{0};
  std::atomic<int64_t> elapsed{0};        // from the first GetNext to the last that was looked at
  std::atomic<int64_t> thread_time{0};    // the same, times the threads in use
  std::atomic<int64_t> consumer_wait{0};  // GetNext waited; without threads: all of GetNext
  std::atomic<int64_t> room_wait{0};      // threads waited for the consumer to take something
  std::atomic<int64_t> turn_wait{0};      // threads waited for another to draw its token
  std::atomic<int64_t> ready{0};          // sum over the elements: how many were ready when the consumer came
  std::atomic<int64_t> threads{0};        // the most that were in use
  std::atomic<int64_t> window{0};         // the last limit of elements ahead
};

// Of one stage, whichever iterator it works for. Thread-safe. The times are estimates: sums over the elements that were
// looked at, each of which stands for some others.
struct StageTimes {
  StageTimes(const char* name, SourceLocation location) : name(name), location(location) {}

  const char* const name;  // of the method, such as "Map"
  const SourceLocation location;
  std::atomic<int64_t> total{0};    // with the stages that it calls, in nanoseconds
  std::atomic<int64_t> busy{0};     // without
  std::atomic<int64_t> drawing{0};  // of `busy`: in TokenIterators, where one thread works at a time
  PipelineTimes pipeline;           // of the iterators whose last stage it is
  // Where times go instead: of the stages of FlatMap's data sets, to those of its first.
  std::atomic<std::shared_ptr<StageTimes>> sink;
  std::atomic<bool> has_sink{false};  // which is cheaper to ask
};
using StageList = std::vector<std::shared_ptr<StageTimes>>;

// "Map (input.cc:12)".
std::string StageText(const StageTimes& stage);

// The measurement that is going on in this thread.
struct Sampling {
  int64_t weight = 0;  // for how many elements this one stands; 0: nothing is measured
  int64_t inner = 0;   // nanoseconds in stages that the current one has called
};
inline constinit thread_local Sampling sampling;

// For how many elements number `n` of an iterator stands; 0 for those that are not looked at. The first ones, which
// open files and fill buffers, are all looked at.
int64_t SampleWeight(int64_t n);

// In its life time the stages that this thread calls are measured.
class ScopedSample {
 public:
  explicit ScopedSample(int64_t weight) : outer_(sampling) { sampling = {weight, 0}; }
  ~ScopedSample() { sampling = outer_; }
  ScopedSample(const ScopedSample&) = delete;
  ScopedSample& operator=(const ScopedSample&) = delete;

 private:
  const Sampling outer_;
};

// Its life time is the stage's. Only where sampling.weight > 0.
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

// The times of `stages` go to those of `to` from now on, if there are as many.
void SendTimes(const StageList& stages, const StageList& to);
// Those of `more` that `stages` has not, behind its own.
void AddStages(const StageList& more, StageList* stages);

}  // namespace tandem::data_internal

#endif  // TANDEM_DATA_STAGE_TIMES_H_

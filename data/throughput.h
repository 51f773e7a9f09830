// Describes the speed of an input pipeline, and where its time goes.
#ifndef TANDEM_DATA_THROUGHPUT_H_
#define TANDEM_DATA_THROUGHPUT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tandem/base/api.h"

namespace tandem::data_internal {

struct StageTimes;

}  // namespace tandem::data_internal

namespace TANDEM_API tandem {

// Times of one stage in seconds, summed over all threads. At any time a thread, as seen by one stage, either works in
// the stage, waits for the stages that the stage reads from, or waits for the stages after it.
struct StageThroughput {
  std::string stage;  // method and source line, "Map (input.cc:31)"
  double busy_secs = 0;
  double source_secs = 0;
  double consumer_secs = 0;
  // The part of busy_secs that decides on the order of the elements, which one thread at a time does (it reads files
  // and calls the functions of Filter and the like).
  double drawing_secs = 0;
};

// What Dataset::MeasuredThroughput returns.
struct Throughput {
  // From the sources to the last stage. The times of stages are estimates from some elements.
  std::vector<StageThroughput> stages;

  int64_t elements = 0;  // number of elements that the last stage has made
  double seconds = 0;    // seconds since the first GetNext
  // Number of the pipeline's threads. With 0, GetNext does all work.
  int threads = 0;
  // Time that GetNext took; the consumer did something else for the rest of `seconds`.
  double consumer_wait_secs = 0;
  // Times that threads waited because enough elements were ready, and for another thread that drew the next element.
  double room_wait_secs = 0, turn_wait_secs = 0;
  // Average number of elements that were ready when the consumer asked, and the last limit on elements made ahead.
  double ready_elements = 0;
  int64_t window = 0;

  // Index in `stages` of the stage to make faster. -1 if there is none because the consumer hardly waits, or if nothing
  // was read yet.
  int bottleneck = -1;

  // Says "the slowest stage is Map (input.cc:31), with 71 % of the work", or that the consumer hardly waited.
  std::string BottleneckText() const;
  // Returns a report of several lines for the user.
  std::string ToString() const;
};

namespace data_internal {

// Returns the throughput of the iterators whose last stage is the last of `stages`.
Throughput ThroughputOf(const std::vector<std::shared_ptr<StageTimes>>& stages);

}  // namespace data_internal
}  // namespace tandem

#endif  // TANDEM_DATA_THROUGHPUT_H_

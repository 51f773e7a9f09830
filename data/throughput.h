// How fast an input pipeline is, and where its time goes.
#ifndef TANDEM_DATA_THROUGHPUT_H_
#define TANDEM_DATA_THROUGHPUT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tandem {

namespace data_internal {
struct StageTimes;
}  // namespace data_internal

// Seconds of all threads together. Each second of a thread is, for each stage, one of: it works, it waits for the
// stages that it reads from, or it waits for those behind it.
struct StageThroughput {
  std::string stage;  // "Map (input.cc:31)"
  double busy_seconds = 0;
  double source_seconds = 0;
  double consumer_seconds = 0;
  // Of busy_seconds: in the order of the elements, which one thread at a time decides on (it reads files and calls the
  // functions of Filter and the like).
  double drawing_seconds = 0;
};

struct Throughput {
  // From the sources on. Times of stages are estimates from some elements.
  std::vector<StageThroughput> stages;

  int64_t elements = 0;  // of the last stage
  double seconds = 0;    // from the first GetNext on
  // 0: all is done in GetNext.
  int threads = 0;
  // GetNext took so long; the consumer did something else for the rest of `seconds`.
  double consumer_wait_seconds = 0;
  // Threads waited because enough elements were ready, and for another thread that read or drew the next one.
  double room_wait_seconds = 0, turn_wait_seconds = 0;
  // Elements that were ready when the consumer came, on average, and the limit of those ahead at the end.
  double ready_elements = 0;
  int64_t window = 0;

  // The stage to make faster, by its number; -1 where there is none because the consumer hardly waits, or nothing was
  // read yet.
  int bottleneck = -1;

  // "the slowest stage is Map (input.cc:31), with 71 % of the work", or that the consumer hardly waited.
  std::string BottleneckText() const;
  // Lines of text.
  std::string ToString() const;
};

namespace data_internal {

// Of the iterators whose last stage is the last of `stages`.
Throughput ThroughputOf(const std::vector<std::shared_ptr<StageTimes>>& stages);

}  // namespace data_internal
}  // namespace tandem

#endif  // TANDEM_DATA_THROUGHPUT_H_

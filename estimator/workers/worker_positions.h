// WorkerPositions: the workers' positions in their inputs, as a checkpoint keeps them.
#ifndef TANDEM_ESTIMATOR_WORKERS_WORKER_POSITIONS_H_
#define TANDEM_ESTIMATOR_WORKERS_WORKER_POSITIONS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tandem {

struct WorkerPositions {
  // True if the workers take batches of one input at different speeds; false if each has an input of its own.
  bool shared = false;
  int64_t round = 0;                // if shared: examples in a round of batches, which has one for each device
  std::vector<std::string> states;  // states of iterators, by rank; empty: the beginning
  std::vector<int64_t> examples;    // if shared: examples in all batches so far, those of other workers included

  std::string ToText() const;
  // Returns nothing for a text that is the state of one iterator. DataLoss for a damaged one.
  static absl::StatusOr<std::optional<WorkerPositions>> FromText(absl::string_view text);

  // If shared: returns the rank with the fewest examples. Going on from its position loses no examples.
  size_t Earliest() const;
  // Returns a log line: all workers go on there, and how many examples may be taken again.
  std::string EarliestText() const;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_WORKERS_WORKER_POSITIONS_H_

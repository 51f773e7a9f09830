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
  int64_t round = 0;                // if shared: number of examples in one step's batches of all workers
  std::vector<std::string> states;  // states of iterators, by rank; empty: the beginning
  // If shared: number of examples in all batches before each worker's position, those of other workers included.
  std::vector<int64_t> examples;

  std::string ToText() const;
  // Returns nothing for a text that is the state of one iterator. DataLoss for a damaged one.
  static absl::StatusOr<std::optional<WorkerPositions>> FromText(absl::string_view text);

  // If shared: returns the rank with the fewest examples. Going on from its position loses no examples.
  size_t Earliest() const;
  // Returns a log line which says that all workers go on at the earliest position, and how many examples may be used
  // again.
  std::string EarliestText() const;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_WORKERS_WORKER_POSITIONS_H_

// WorkerPositions: where the workers of a cluster are in their inputs, as a checkpoint has it.
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
  // Whether they take turns at the batches of one input, at different speeds; otherwise each has an input of its own.
  bool shared = false;
  int64_t round = 0;                // where shared: examples of a round of batches, which has one for each device
  std::vector<std::string> states;  // of iterators, by rank; empty: the beginning
  std::vector<int64_t> examples;    // where shared: of all batches so far, those of other workers too

  std::string ToText() const;
  // Nothing for a text that is the state of one iterator. DataLoss for a damaged one.
  static absl::StatusOr<std::optional<WorkerPositions>> FromText(absl::string_view text);

  // Where shared: the rank with the fewest examples. Who goes on there loses none.
  size_t Earliest() const;
  // For the log: that all go on there, and how many examples may be taken again.
  std::string EarliestText() const;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_WORKERS_WORKER_POSITIONS_H_

// Determines the length of an epoch of a dataset.
#ifndef TANDEM_DATA_EPOCH_H_
#define TANDEM_DATA_EPOCH_H_

#include <cstdint>

#include "absl/status/statusor.h"

namespace tandem {

class Dataset;

// The length of an epoch is `elements` / `per` elements of the dataset. The quotient is no whole number if a Batch
// after the Repeat puts examples of two epochs into one batch.
struct EpochLength {
  int64_t elements = 0;
  int64_t per = 1;

  bool operator==(const EpochLength&) const = default;
};

// An epoch is a pass over the dataset that the last Repeat repeats, or over the whole dataset without a Repeat.
// InvalidArgument if its length is known only after reading it, as for files or after a Filter. Also returns the
// dataset's own error.
absl::StatusOr<EpochLength> EpochOf(const Dataset& dataset);

}  // namespace tandem

#endif  // TANDEM_DATA_EPOCH_H_

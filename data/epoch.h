// How long an epoch of a dataset is.
#ifndef TANDEM_DATA_EPOCH_H_
#define TANDEM_DATA_EPOCH_H_

#include <cstdint>

#include "absl/status/statusor.h"

namespace tandem {

class Dataset;

// `elements` / `per` of the dataset's elements. That is no whole number where a Batch comes behind the Repeat and puts
// examples of two epochs into one batch.
struct EpochLength {
  int64_t elements = 0;
  int64_t per = 1;

  bool operator==(const EpochLength&) const = default;
};

// An epoch is a pass over what the last Repeat repeats; without a Repeat, over the dataset. InvalidArgument where its
// length is known only when it was read, as behind a Filter or of files; the dataset's own error.
absl::StatusOr<EpochLength> EpochOf(const Dataset& dataset);

}  // namespace tandem

#endif  // TANDEM_DATA_EPOCH_H_

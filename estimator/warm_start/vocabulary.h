// Matches rows of variables that belong to the same tokens of two vocabularies.
#ifndef TANDEM_ESTIMATOR_WARM_START_VOCABULARY_H_
#define TANDEM_ESTIMATOR_WARM_START_VOCABULARY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"

namespace tandem {

struct MatchedRow {
  int64_t from = 0, to = 0;
};

// Returns the rows whose tokens are in both vocabularies, sorted by `to`.
std::vector<MatchedRow> MatchRows(absl::Span<const std::string> from, absl::Span<const std::string> to);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_WARM_START_VOCABULARY_H_

// Rows of variables that belong to tokens of a vocabulary.
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

// The rows whose tokens both vocabularies have, by `to`.
std::vector<MatchedRow> MatchRows(absl::Span<const std::string> from, absl::Span<const std::string> to);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_WARM_START_VOCABULARY_H_

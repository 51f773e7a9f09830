// Vocabularies: which row of a variable belongs to which token.
#ifndef TANDEM_ESTIMATOR_WARM_START_VOCABULARY_H_
#define TANDEM_ESTIMATOR_WARM_START_VOCABULARY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/env.h"

namespace tandem {

// The tokens of the first `count` lines of a file. A line ends with "\n" or "\r\n", the last one perhaps with nothing.
// DataLoss, with file and line, for a token that comes twice and for a file with fewer lines; NotFound without the
// file. A byte order mark is no part of a token: base/text_file.h.
absl::StatusOr<std::vector<std::string>> ReadVocabulary(Env* env, const std::string& path, int64_t count);

struct MatchedRow {
  int64_t from = 0, to = 0;
};

// The rows whose tokens both vocabularies have, by `to`.
std::vector<MatchedRow> MatchRows(absl::Span<const std::string> from, absl::Span<const std::string> to);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_WARM_START_VOCABULARY_H_

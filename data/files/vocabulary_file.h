// Vocabulary files: one token per line.
#ifndef TANDEM_DATA_FILES_VOCABULARY_FILE_H_
#define TANDEM_DATA_FILES_VOCABULARY_FILE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/env.h"

namespace tandem {

// Returns the tokens of the first `count` lines of a file, or of all. A line ends with "\n" or "\r\n"; the last one may
// end without. DataLoss, with file and line, for a token that occurs twice and for a file with fewer lines; NotFound if
// there is no file. A byte order mark is not part of a token: base/text_file.h.
absl::StatusOr<std::vector<std::string>> ReadVocabulary(Env* env, const std::string& path,
                                                        std::optional<int64_t> count = std::nullopt);

}  // namespace tandem

#endif  // TANDEM_DATA_FILES_VOCABULARY_FILE_H_

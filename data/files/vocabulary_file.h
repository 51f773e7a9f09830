// Vocabularies as files: a token a line.
#ifndef TANDEM_DATA_FILES_VOCABULARY_FILE_H_
#define TANDEM_DATA_FILES_VOCABULARY_FILE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/env.h"

namespace tandem {

// The tokens of the first `count` lines of a file, or of all. A line ends with "\n" or "\r\n", the last one perhaps
// with nothing. DataLoss, with file and line, for a token that comes twice and for a file with fewer lines; NotFound
// without the file. A byte order mark is no part of a token: base/text_file.h.
absl::StatusOr<std::vector<std::string>> ReadVocabulary(Env* env, const std::string& path,
                                                        std::optional<int64_t> count = std::nullopt);

}  // namespace tandem

#endif  // TANDEM_DATA_FILES_VOCABULARY_FILE_H_

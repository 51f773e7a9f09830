// Vocabulary: numbers words and categories. Data has them as strings, models take them as rows of a table.
//
//   TD_ASSIGN_OR_RETURN(const Vocabulary jobs, Vocabulary::FromDataset(people, "job"));
//   const Dataset numbered = jobs.Lookup(people, "job");                             // "job" is an int64 now
//   layers::Embedding(features["job"], {.input_dim = jobs.size(), .output_dim = 8})
#ifndef TANDEM_DATA_VOCABULARY_H_
#define TANDEM_DATA_VOCABULARY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tandem/base/api.h"
#include "tandem/base/source_location.h"
#include "tandem/data/dataset.h"

namespace TANDEM_API tandem {

struct VocabularyOptions {
  // Tokens that come first, in this order, whether the data has them or not. {"[PAD]"} gives index 0, the default
  // padding of PaddedBatch, to a token that no data has.
  std::vector<std::string> first = {};
  // The most tokens, including those of `first`; the most frequent tokens of the data are kept. 0 keeps all.
  int64_t max_tokens = 0;
  // Tokens that occur less often than this in the data are left out.
  int64_t min_count = 1;
};

// The tokens have the indices 0, 1, ...; all strings that are not in the vocabulary share one more, the last index, as
// OOV buckets have the last rows of a table (VocabInfo of estimator/config/warm_start_settings.h). Immutable; a cheap
// handle that functions of datasets may keep. Thread-safe.
class Vocabulary {
 public:
  // Reads the whole dataset and numbers the strings of its component `component`, of any shape, by how often they
  // occur, the most frequent first; equally frequent ones by their bytes. So the order of the data does not matter.
  // Keeps only the distinct strings in memory. InvalidArgument, with the caller's line, for a component that does not
  // exist or has no strings, an infinite dataset, and invalid options; also returns errors of reading.
  static absl::StatusOr<Vocabulary> FromDataset(const Dataset& dataset, absl::string_view component,
                                                const VocabularyOptions& options = {},
                                                SourceLocation location = SourceLocation::Current());
  // InvalidArgument for a token that occurs twice.
  static absl::StatusOr<Vocabulary> FromTokens(std::vector<std::string> tokens,
                                               SourceLocation location = SourceLocation::Current());
  // Reads a text file with one token per line, in the order of their indices. DataLoss, with file and line, for a token
  // that occurs twice.
  static absl::StatusOr<Vocabulary> FromFile(const std::string& path);

  // Replaces the file by one that FromFile can read. InvalidArgument for a token that no line can hold: one with a line
  // feed, with a carriage return at its end, or, for the first token, a byte order mark at its start.
  absl::Status Write(const std::string& path) const;

  // The index of the token; size() - 1 for one that is not in the vocabulary.
  int64_t Index(absl::string_view token) const;
  // The number of indices: the number of tokens plus one.
  int64_t size() const;
  // The tokens in the order of their indices.
  const std::vector<std::string>& tokens() const;

  // Replaces the strings, of any shape, of `component` by their indices, int64 of the same shape, in a Map. If there is
  // no such component, the result's status() says so.
  Dataset Lookup(const Dataset& dataset, absl::string_view component,
                 SourceLocation location = SourceLocation::Current()) const;

 private:
  struct Table;
  explicit Vocabulary(std::shared_ptr<const Table> table) : table_(std::move(table)) {}

  std::shared_ptr<const Table> table_;
};

}  // namespace tandem

#endif  // TANDEM_DATA_VOCABULARY_H_

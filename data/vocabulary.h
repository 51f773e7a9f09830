// Vocabulary: numbers for words and categories, which data have as strings and models take as rows of a table.
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
#include "base/source_location.h"
#include "data/dataset.h"

namespace tandem {

struct VocabularyOptions {
  // Tokens that come first, in this order, whether the data have them or not. {"[PAD]"} gives index 0, which
  // PaddedBatch fills up with, to a token that no data have.
  std::vector<std::string> first = {};
  // Of the data's tokens the most frequent ones stay, so that there are at most so many, `first` included. 0: all.
  int64_t max_tokens = 0;
  // Tokens that the data have less often are left out.
  int64_t min_count = 1;
};

// The tokens 0, 1, ..., and one index more for all others: what is not in the vocabulary has the last index, as
// OOV buckets have the last rows of a table (VocabInfo of estimator/warm_start_settings.h). Immutable; a cheap handle
// that functions of datasets may keep. Thread-safe.
class Vocabulary {
 public:
  // Reads the whole dataset and numbers the strings of its component `component`, of any shape, by how often they
  // occur, the most frequent first; equally frequent ones by their bytes. So the order of the data does not matter.
  // Of what is read only the distinct strings are kept. InvalidArgument, with the line of the call: a component that is
  // not there or not of strings, a dataset without an end, options that cannot be; and the errors of reading.
  static absl::StatusOr<Vocabulary> FromDataset(const Dataset& dataset, absl::string_view component,
                                                const VocabularyOptions& options = {},
                                                SourceLocation location = SourceLocation::Current());
  // InvalidArgument for a token that comes twice.
  static absl::StatusOr<Vocabulary> FromTokens(std::vector<std::string> tokens,
                                               SourceLocation location = SourceLocation::Current());
  // A text file with a token a line, in the order of their indices. DataLoss, with file and line, for a token that
  // comes twice.
  static absl::StatusOr<Vocabulary> FromFile(const std::string& path);

  // Replaces the file by one that FromFile reads. InvalidArgument for a token that no line can hold: one with a line
  // feed, with a carriage return at its end, or a byte order mark at the start of the first.
  absl::Status Write(const std::string& path) const;

  // Of the token; size() - 1 for one that is not in the vocabulary.
  int64_t Index(absl::string_view token) const;
  // The number of indices: that of the tokens, and one.
  int64_t size() const;
  const std::vector<std::string>& tokens() const;

  // The dataset whose component `component`, strings of any shape, is replaced by their indices, int64 of that shape: a
  // stage of Map. Where there is no such component, its status() says so.
  Dataset Lookup(const Dataset& dataset, absl::string_view component,
                 SourceLocation location = SourceLocation::Current()) const;

 private:
  struct Table;
  explicit Vocabulary(std::shared_ptr<const Table> table) : table_(std::move(table)) {}

  std::shared_ptr<const Table> table_;
};

}  // namespace tandem

#endif  // TANDEM_DATA_VOCABULARY_H_

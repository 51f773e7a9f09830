#include "estimator/warm_start/vocabulary.h"

#include <algorithm>
#include <unordered_map>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "base/text_file.h"

namespace tandem {
namespace {

// Not Abseil's: where it gets no memory to grow, its destructor frees what it has not got.
using LineOfToken = std::unordered_map<absl::string_view, int64_t, absl::Hash<absl::string_view>>;

}  // namespace

absl::StatusOr<std::vector<std::string>> ReadVocabulary(Env* env, const std::string& path, int64_t count) {
  TD_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(env, path));
  std::vector<std::string> tokens;
  LineOfToken line_of;  // views of `text`
  for (size_t begin = 0; begin < text.size() && static_cast<int64_t>(tokens.size()) < count;) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    absl::string_view token(text.data() + begin, end - begin);
    absl::ConsumeSuffix(&token, "\r");
    const int64_t line = static_cast<int64_t>(tokens.size()) + 1;
    const auto [first, is_new] = line_of.emplace(token, line);
    if (!is_new) {
      return absl::DataLossError(absl::StrCat(path, ":", line, ": the token \"", PrintableLine(token),
                                              "\" is that of line ", first->second,
                                              " already; a vocabulary has each token once"));
    }
    tokens.emplace_back(token);
    begin = end + 1;
  }
  if (static_cast<int64_t>(tokens.size()) < count) {
    return absl::DataLossError(absl::StrCat(
        path, ":", std::max<size_t>(1, tokens.size()), ": the file ends behind ", tokens.size(), " tokens and ", count,
        " rows need one each; take the vocabulary that the variable was made for, or count rows without "
        "a token as OOV buckets"));
  }
  return tokens;
}

std::vector<MatchedRow> MatchRows(absl::Span<const std::string> from, absl::Span<const std::string> to) {
  LineOfToken row_of;
  for (size_t i = 0; i < from.size(); ++i) row_of[from[i]] = static_cast<int64_t>(i);
  std::vector<MatchedRow> rows;
  for (size_t i = 0; i < to.size(); ++i) {
    if (auto it = row_of.find(to[i]); it != row_of.end()) rows.push_back({it->second, static_cast<int64_t>(i)});
  }
  return rows;
}

}  // namespace tandem

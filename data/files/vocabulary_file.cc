#include "data/files/vocabulary_file.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "base/text_file.h"

namespace tandem {

absl::StatusOr<std::vector<std::string>> ReadVocabulary(Env* env, const std::string& path,
                                                        std::optional<int64_t> count) {
  const int64_t limit = count.value_or(std::numeric_limits<int64_t>::max());
  TD_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(env, path));
  std::vector<std::string> tokens;
  // The keys are views of `text`. This is no Abseil hash map, because the destructor of such a map frees memory that it
  // does not own after it failed to grow for lack of memory.
  std::unordered_map<absl::string_view, int64_t, absl::Hash<absl::string_view>> line_of;
  for (size_t begin = 0; begin < text.size() && static_cast<int64_t>(tokens.size()) < limit;) {
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
  if (count && static_cast<int64_t>(tokens.size()) < *count) {
    return absl::DataLossError(absl::StrCat(
        path, ":", std::max<size_t>(1, tokens.size()), ": the file ends behind ", tokens.size(), " tokens and ", *count,
        " rows need one each; take the vocabulary that the variable was made for, or count rows without "
        "a token as OOV buckets"));
  }
  return tokens;
}

}  // namespace tandem

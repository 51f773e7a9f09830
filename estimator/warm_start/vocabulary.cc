#include "estimator/warm_start/vocabulary.h"

#include <unordered_map>

#include "absl/hash/hash.h"
#include "absl/strings/string_view.h"

namespace tandem {

std::vector<MatchedRow> MatchRows(absl::Span<const std::string> from, absl::Span<const std::string> to) {
  // Abseil's map is not used because its destructor frees memory that it does not have, if it could not grow for lack
  // of memory.
  std::unordered_map<absl::string_view, int64_t, absl::Hash<absl::string_view>> row_of;
  for (size_t i = 0; i < from.size(); ++i) row_of[from[i]] = static_cast<int64_t>(i);
  std::vector<MatchedRow> rows;
  for (size_t i = 0; i < to.size(); ++i) {
    if (auto it = row_of.find(to[i]); it != row_of.end()) rows.push_back({it->second, static_cast<int64_t>(i)});
  }
  return rows;
}

}  // namespace tandem

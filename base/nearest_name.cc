#include "base/nearest_name.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/printable.h"

namespace tandem {
namespace {

// Returns Levenshtein's distance.
int EditDistance(absl::string_view a, absl::string_view b) {
  std::vector<int> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string NearestName(absl::string_view word, const std::vector<std::string>& names) {
  std::string nearest;
  int best = std::max<int>(2, static_cast<int>(word.size()) / 3) + 1;
  for (const std::string& name : names) {
    // A word that is the beginning of a name is similar, however much is missing.
    const bool prefix = word.size() >= 3 && absl::StartsWith(name, word);
    const int distance = prefix ? 1 : EditDistance(word, name);
    if (distance < best) {
      best = distance;
      nearest = name;
    }
  }
  return nearest;
}

std::string DidYouMean(absl::string_view word, const std::vector<std::string>& names) {
  const std::string nearest = NearestName(word, names);
  return nearest.empty() ? "" : absl::StrCat("; did you mean \"", PrintableLine(nearest), "\"?");
}

}  // namespace tandem

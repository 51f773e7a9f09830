#include "passes/base/compile_times.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace tandem {

void CompileTimes::Add(const std::string& name, double seconds) {
  auto it = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.name == name; });
  if (it == entries_.end()) {
    entries_.push_back({name, seconds});
  } else {
    it->seconds += seconds;
  }
}

double CompileTimes::total() const {
  double sum = 0;
  for (const Entry& e : entries_) sum += e.seconds;
  return sum;
}

std::string CompileTimes::Text(double least) const {
  std::string text;
  for (const Entry& e : entries_) {
    if (e.seconds < least) continue;
    absl::StrAppendFormat(&text, "%9.1f ms %5.1f %%  %s\n", 1e3 * e.seconds, 100 * e.seconds / total(), e.name);
  }
  absl::StrAppendFormat(&text, "%9.1f ms          total\n", 1e3 * total());
  return text;
}

}  // namespace tandem

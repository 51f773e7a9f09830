#include "estimator/workers/agree_on_parts.h"

#include <cstddef>
#include <optional>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/exit_code.h"
#include "base/fingerprint.h"
#include "base/printable.h"
#include "base/status_macros.h"

namespace tandem {
namespace {

constexpr char kNothing[] = "nothing";

struct Difference {
  std::string name;
  std::string chief, mine;
};

// Returns the first difference between two lists of parts. If one of the parts at the first position that differs is
// missing on the other side, returns that part, the chief's if both are. If both are the same parts in another order,
// the difference is the order.
std::optional<Difference> FirstDifference(const NamedParts& chief, const NamedParts& mine) {
  size_t i = 0;
  while (i < chief.size() && i < mine.size() && chief[i] == mine[i]) ++i;
  if (i == chief.size() && i == mine.size()) return std::nullopt;
  const auto has = [&](const NamedParts& parts, const std::string& name) {
    for (size_t p = i; p < parts.size(); ++p) {
      if (parts[p].first == name) return true;
    }
    return false;
  };
  if (i < chief.size() && !has(mine, chief[i].first)) return Difference{chief[i].first, chief[i].second, kNothing};
  if (i < mine.size() && !has(chief, mine[i].first)) return Difference{mine[i].first, kNothing, mine[i].second};
  if (chief[i].first == mine[i].first) return Difference{chief[i].first, chief[i].second, mine[i].second};
  const auto in_words = [](const auto& part) { return absl::StrCat(part.first, ": ", part.second); };
  return Difference{i == 0 ? "what comes first" : absl::StrCat("what follows on ", chief[i - 1].first),
                    in_words(chief[i]), in_words(mine[i])};
}

// Returns one line of limited length; different texts give different lines.
std::string Shortened(const std::string& text) {
  constexpr size_t kLongest = 300, kShown = 200;
  if (text.size() <= kLongest) return PrintableLine(text);
  return absl::StrCat(PrintableLine(text.substr(0, kShown)), "... (", text.size(), " bytes of fingerprint ",
                      absl::Hex(Fingerprint64(text), absl::kZeroPad16), ")");
}

std::string Packed(const std::vector<std::string>& texts) {
  std::string packed;
  for (const std::string& text : texts) absl::StrAppend(&packed, absl::CEscape(text), "\n");
  return packed;
}

// Parses the text that Packed has made on another worker.
std::vector<std::string> Unpacked(absl::string_view packed) {
  std::vector<std::string> texts;
  for (absl::string_view line : absl::StrSplit(packed, '\n')) {
    if (!absl::CUnescape(line, &texts.emplace_back())) texts.back() = "";
  }
  texts.pop_back();  // removes the empty text after the last newline
  return texts;
}

// Returns the chief's parts on all workers; `parts` is called on the chief.
absl::StatusOr<NamedParts> PartsOfChief(WorkerGroup& workers, const std::function<NamedParts()>& parts,
                                        absl::string_view what) {
  std::vector<std::string> texts;
  if (workers.is_chief()) {
    for (const auto& [name, text] : parts()) texts.insert(texts.end(), {name, text});
  }
  TD_ASSIGN_OR_RETURN(const std::string packed, workers.FromChief(Packed(texts), what));
  texts = Unpacked(packed);
  NamedParts result;
  for (size_t i = 0; i + 1 < texts.size(); i += 2) result.emplace_back(texts[i], texts[i + 1]);
  return result;
}

}  // namespace

absl::Status AgreeOnParts(WorkerGroup& workers, absl::string_view what, absl::string_view key,
                          const std::function<NamedParts()>& parts, absl::string_view remedy) {
  TD_ASSIGN_OR_RETURN(const std::vector<std::string> keys, workers.Gather(key, what));
  size_t other = 1;
  while (other < keys.size() && keys[other] == keys[0]) ++other;
  if (other >= keys.size()) return absl::OkStatus();
  TD_ASSIGN_OR_RETURN(const NamedParts chief, PartsOfChief(workers, parts, what));
  std::optional<Difference> mine;
  if (key != keys[0]) mine = FirstDifference(chief, parts());
  std::string packed;
  if (mine.has_value()) packed = Packed({mine->name, Shortened(mine->chief), Shortened(mine->mine)});
  TD_ASSIGN_OR_RETURN(const std::vector<std::string> all, workers.Gather(packed, what));
  std::string where;
  std::vector<std::string> told = Unpacked(all[other]);
  if (told.size() == 3) {
    where = absl::StrCat(", first in ", PrintableLine(told[0]));
  } else {
    told = {"", keys[0], keys[other]};
  }
  return WithExitCode(absl::InvalidArgumentError(absl::StrCat(
                          "the workers differ in ", what, where, ": ", workers.name(0), " has { ", told[1], " } and ",
                          workers.name(static_cast<int>(other)), " has { ", told[2], " }; ", remedy)),
                      kExitUsage);
}

}  // namespace tandem

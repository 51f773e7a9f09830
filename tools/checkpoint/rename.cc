#include "tools/checkpoint/rename.h"

#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/nearest_name.h"
#include "base/printable.h"
#include "base/status_macros.h"

namespace tandem {
namespace {

// Whether `old` is the tensor's name, that of the variable it is a slot of, or the beginning that it stands for.
bool Means(const std::string& old, const std::string& name, bool is_slot) {
  if (old == name || (absl::EndsWith(old, "/") && absl::StartsWith(name, old))) return true;
  return is_slot && absl::StartsWith(name, old + "/");
}

}  // namespace

absl::StatusOr<NameMap> ParseNameMap(const std::vector<std::string>& pairs) {
  NameMap names;
  std::set<std::string> seen;
  for (const std::string& text : pairs) {
    const std::pair<std::string, std::string> pair = absl::StrSplit(text, absl::MaxSplits('=', 1));
    if (pair.first.empty() || pair.second.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--map: \"", PrintableLine(text), "\" is not of the form old=new"));
    }
    if (!seen.insert(pair.first).second) {
      return absl::InvalidArgumentError(absl::StrCat("--map: \"", PrintableLine(pair.first), "\" comes twice"));
    }
    names.push_back(pair);
  }
  if (names.empty()) return absl::InvalidArgumentError("--map is missing: name what to rename as --map=old=new");
  return names;
}

absl::Status RenameVariables(const NameMap& names, CheckpointData* data) {
  std::set<std::string> used, new_names;
  std::vector<std::string> known;
  for (TensorMap* tensors : {&data->variables, &data->slots}) {
    TensorMap renamed;
    for (const auto& [name, value] : *tensors) {
      known.push_back(name);
      std::string now = name;
      for (const auto& [from, to] : names) {
        if (!Means(from, name, tensors == &data->slots)) continue;
        used.insert(from);
        now = absl::StrCat(to, name.substr(from.size()));
        if (from == name) break;  // a whole name goes before a beginning
      }
      if (!new_names.insert(now).second) {
        return absl::InvalidArgumentError(
            absl::StrCat("--map: two tensors would be called \"", PrintableLine(now), "\"; rename the other one too"));
      }
      renamed[now] = value;
    }
    *tensors = std::move(renamed);
  }
  for (const auto& [from, to] : names) {
    if (used.contains(from)) continue;
    const std::string nearest = NearestName(from, known);
    return absl::InvalidArgumentError(
        absl::StrCat("--map: there is no variable \"", PrintableLine(from), "\"",
                     nearest.empty() ? "; show lists all" : absl::StrCat("; did you mean \"", nearest, "\"?")));
  }
  return absl::OkStatus();
}

}  // namespace tandem

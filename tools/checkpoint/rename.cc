#include "tools/checkpoint/rename.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/nearest_name.h"
#include "base/printable.h"
#include "base/status_macros.h"

namespace tandem {
namespace {

// Returns a tensor's new name, without regard to the variable that an optimizer slot belongs to. An old name that is
// the whole name takes precedence over a prefix, and a longer prefix over a shorter one. Adds all old names that match
// to `used`.
std::string NewName(const NameMap& names, const std::string& name, std::set<std::string>* used) {
  const std::pair<std::string, std::string>* best = nullptr;
  for (const auto& pair : names) {
    const std::string& from = pair.first;
    if (from != name && !(absl::EndsWith(from, "/") && absl::StartsWith(name, from))) continue;
    used->insert(from);
    if (best == nullptr || from.size() > best->first.size()) best = &pair;
  }
  return best == nullptr ? name : absl::StrCat(best->second, name.substr(best->first.size()));
}

// Returns the new name of an optimizer's slot. A slot is renamed with its variable, unless `names` has the whole name
// of the slot. `variables` maps the old names of all variables to the new ones.
std::string NewSlotName(const NameMap& names, const std::string& name,
                        const std::map<std::string, std::string>& variables, std::set<std::string>* used) {
  const bool named = std::any_of(names.begin(), names.end(), [&](const auto& pair) { return pair.first == name; });
  for (size_t end = named ? std::string::npos : name.rfind('/'); end != std::string::npos && end > 0;
       end = name.rfind('/', end - 1)) {
    const auto variable = variables.find(name.substr(0, end));
    if (variable != variables.end()) return absl::StrCat(variable->second, name.substr(end));
  }
  return NewName(names, name, used);
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
  std::map<std::string, std::string> variables;  // maps the old name to the new name
  std::vector<std::string> known;
  for (TensorMap* tensors : {&data->variables, &data->slots}) {
    TensorMap renamed;
    for (const auto& [name, value] : *tensors) {
      known.push_back(name);
      const bool is_slot = tensors == &data->slots;
      const std::string now = is_slot ? NewSlotName(names, name, variables, &used) : NewName(names, name, &used);
      if (!is_slot) variables[name] = now;
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

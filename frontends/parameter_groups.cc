#include "frontends/parameter_groups.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "frontends/name_pattern.h"

namespace tandem::frontends {
namespace {

constexpr char kGroupOp[] = "WithGroup";

// Returns true if the options other than the pattern are valid. Otherwise records an error in `graph`.
bool CheckGroup(GraphBuilder* graph, const GroupOptions& options, SourceLocation loc) {
  const bool others = options.learning_rate.has_value() || options.learning_rate_factor != 1 ||
                      options.weight_decay.has_value() || options.clip.has_value();
  std::string problem;
  if (options.frozen && others) {
    problem = "a group that is frozen has no rate, decay or clipping; leave these out, or `frozen`";
  } else if (!(std::isfinite(options.learning_rate_factor) && options.learning_rate_factor >= 0)) {
    problem = absl::StrCat("`learning_rate_factor` must be a number >= 0, got ", options.learning_rate_factor);
  } else if (const double decay = options.weight_decay.value_or(0); !(std::isfinite(decay) && decay >= 0)) {
    problem = absl::StrCat("`weight_decay` must be a number >= 0, got ", decay);
  }
  if (problem.empty()) return true;
  graph->FailAt(kGroupOp, absl::StrCat("\"", options.variables, "\": ", problem), loc);
  return false;
}

}  // namespace

std::optional<ParameterGroups> ParameterGroups::Make(GraphBuilder* graph, const Groups& groups) {
  std::vector<std::string> names;
  for (const VariableSpec& spec : graph->variables()) {
    if (spec.trainable) names.push_back(spec.name);
  }
  ParameterGroups result;
  for (size_t i = 0; i < groups.size(); ++i) {
    const auto& [options, loc] = groups[i];
    const std::optional<NamePattern> pattern =
        NamePattern::Compile(graph, kGroupOp, "variables", options.variables, loc);
    if (!pattern.has_value() || !CheckGroup(graph, options, loc)) return std::nullopt;
    bool matched = false;
    for (const std::string& name : names) {
      if (!pattern->Matches(name)) continue;
      matched = true;
      const auto [it, added] = result.of_variable_.emplace(name, std::pair(static_cast<int>(i), options.frozen));
      if (added) continue;
      const auto& [other, other_loc] = groups[it->second.first];
      graph->FailAt(kGroupOp,
                    absl::StrCat("\"", options.variables, "\" and \"", other.variables, "\" (", other_loc.file, ":",
                                 other_loc.line, ") both match \"", name, "\"; a variable has one group at most"),
                    loc);
      return std::nullopt;
    }
    if (!matched) {
      pattern->FailWithoutMatch(names, "trainable variable");
      return std::nullopt;
    }
  }
  return result;
}

int ParameterGroups::IndexOf(const std::string& variable) const {
  auto it = of_variable_.find(variable);
  return it == of_variable_.end() ? -1 : it->second.first;
}

bool ParameterGroups::IsFrozen(const std::string& variable) const {
  auto it = of_variable_.find(variable);
  return it != of_variable_.end() && it->second.second;
}

std::vector<Tensor> ClipByGroup(const std::vector<Tensor>& gradients, const std::vector<int>& group,
                                const ParameterGroups::Groups& groups, const ClipOptions& rest, SourceLocation loc) {
  const auto own = [&](int g) { return g >= 0 && groups[g].first.clip.has_value(); };
  std::vector<Tensor> result = gradients;
  for (int part = -1; part < static_cast<int>(groups.size()); ++part) {
    if (part >= 0 && !own(part)) continue;
    std::vector<size_t> members;
    std::vector<Tensor> tensors;
    for (size_t i = 0; i < gradients.size(); ++i) {
      if ((own(group[i]) ? group[i] : -1) != part) continue;
      members.push_back(i);
      tensors.push_back(gradients[i]);
    }
    tensors = part < 0 ? ClipGradients(tensors, rest, loc)
                       : ClipGradients(tensors, *groups[part].first.clip, groups[part].second);
    for (size_t i = 0; i < members.size(); ++i) result[members[i]] = tensors[i];
  }
  return result;
}

}  // namespace tandem::frontends

// Assigns variables to an optimizer's groups. Internal to frontends/.
#ifndef TANDEM_FRONTENDS_PARAMETER_GROUPS_H_
#define TANDEM_FRONTENDS_PARAMETER_GROUPS_H_

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/source_location.h"
#include "frontends/optimizer.h"
#include "graph/graph_builder.h"

namespace tandem::frontends {

class ParameterGroups {
 public:
  using Groups = std::vector<std::pair<GroupOptions, SourceLocation>>;

  // Returns nullopt after an error, which is recorded in `graph`: invalid options, a pattern that matches no trainable
  // variable of the graph, or a variable that the patterns of two groups match.
  static std::optional<ParameterGroups> Make(GraphBuilder* graph, const Groups& groups);

  // Returns the index of the variable's group, or -1 if it is in no group.
  int IndexOf(const std::string& variable) const;
  bool IsFrozen(const std::string& variable) const;

 private:
  // For each variable the group's index, and whether it is frozen.
  std::map<std::string, std::pair<int, bool>> of_variable_;
};

// Clips the gradients of each group that has the option `clip` by that option, and all other gradients together by
// `rest`. group[i] is the index of the group of gradient i, or -1.
std::vector<Tensor> ClipByGroup(const std::vector<Tensor>& gradients, const std::vector<int>& group,
                                const ParameterGroups::Groups& groups, const ClipOptions& rest, SourceLocation loc);

}  // namespace tandem::frontends

#endif  // TANDEM_FRONTENDS_PARAMETER_GROUPS_H_

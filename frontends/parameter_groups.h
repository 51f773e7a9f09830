// Which group of an optimizer has which variable. Internal to frontends/.
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

  // Nothing after an error in `graph`: options that make no sense, a pattern that matches no trainable variable of the
  // graph, or one that another group has.
  static std::optional<ParameterGroups> Make(GraphBuilder* graph, const Groups& groups);

  // The index of the variable's group; -1: none.
  int IndexOf(const std::string& variable) const;
  bool IsFrozen(const std::string& variable) const;

 private:
  std::map<std::string, std::pair<int, bool>> of_variable_;  // group, and whether that is frozen
};

// Gradients clipped: those of a group with `clip` by that, all others together by `rest`. group[i]
// is the index of the group of gradient i, or -1.
std::vector<Tensor> ClipByGroup(const std::vector<Tensor>& gradients, const std::vector<int>& group,
                                const ParameterGroups::Groups& groups, const ClipOptions& rest, SourceLocation loc);

}  // namespace tandem::frontends

#endif  // TANDEM_FRONTENDS_PARAMETER_GROUPS_H_

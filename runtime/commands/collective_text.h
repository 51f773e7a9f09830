// The text that errors and dumps show for a collective.
#ifndef TANDEM_RUNTIME_COMMANDS_COLLECTIVE_TEXT_H_
#define TANDEM_RUNTIME_COMMANDS_COLLECTIVE_TEXT_H_

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/format/index.h"

namespace tandem {

// "all_reduce of gradient of dense/kernel and 3 more".
inline std::string CollectiveText(const format::Collective& collective) {
  const std::vector<std::string>& tensors = collective.tensors;
  if (tensors.empty() || tensors[0].empty()) return absl::StrCat("all_reduce of collective ", collective.seq);
  return absl::StrCat("all_reduce of ", tensors[0],
                      tensors.size() == 1 ? "" : absl::StrCat(" and ", tensors.size() - 1, " more"));
}

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COMMANDS_COLLECTIVE_TEXT_H_

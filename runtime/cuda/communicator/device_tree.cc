#include "runtime/cuda/communicator/device_tree.h"

#include <cstdint>

#include "base/status_macros.h"

namespace tandem {

absl::StatusOr<int> CombineInTree(const std::vector<bool>& present,
                                  absl::FunctionRef<absl::Status(int a, int b)> combine) {
  // Combines level by level: a subtree's result lies in its first leaf that is present.
  std::vector<int> roots;
  for (size_t leaf = 0; leaf < present.size(); ++leaf) roots.push_back(present[leaf] ? static_cast<int>(leaf) : -1);
  while (roots.size() > 1) {
    std::vector<int> above;
    for (size_t i = 0; i < roots.size(); i += 2) {
      const int left = roots[i], right = i + 1 < roots.size() ? roots[i + 1] : -1;
      if (left >= 0 && right >= 0) TD_RETURN_IF_ERROR(combine(left, right));
      above.push_back(left >= 0 ? left : right);
    }
    roots = above;
  }
  return roots.empty() ? -1 : roots[0];
}

}  // namespace tandem

#include "tools/checkpoint/compare.h"

#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "base/tensor_values.h"

namespace tandem {
absl::StatusOr<CheckpointDifferences> CompareCheckpoints(const CheckpointReader& a, const CheckpointReader& b) {
  std::map<std::string, std::pair<const SavedTensor*, const SavedTensor*>> both;
  for (const auto* tensors : {&a.variables(), &a.slots()}) {
    for (const SavedTensor& tensor : *tensors) both[tensor.name].first = &tensor;
  }
  for (const auto* tensors : {&b.variables(), &b.slots()}) {
    for (const SavedTensor& tensor : *tensors) both[tensor.name].second = &tensor;
  }
  CheckpointDifferences result;
  const auto differs = [&result](const std::string& name, absl::string_view what) {
    result.equal = false;
    absl::StrAppend(&result.text, PrintableLine(name), ": ", what, "\n");
  };
  int64_t equal = 0;
  for (const auto& [name, tensors] : both) {
    const auto& [in_a, in_b] = tensors;
    if (in_a == nullptr || in_b == nullptr) {
      const SavedTensor& only = in_a == nullptr ? *in_b : *in_a;
      differs(name, absl::StrCat(only.TypeString(), ", only in the ", in_a == nullptr ? "second" : "first"));
    } else if (in_a->TypeString() != in_b->TypeString()) {
      differs(name, absl::StrCat(in_a->TypeString(), " in the first, ", in_b->TypeString(), " in the second"));
    } else {
      TD_ASSIGN_OR_RETURN(const HostTensor of_a, a.Read(name));
      TD_ASSIGN_OR_RETURN(const HostTensor of_b, b.Read(name));
      if (of_a.BitEqual(of_b)) {
        ++equal;
      } else {
        differs(name, DifferencesText(of_a, of_b));
      }
    }
  }
  absl::StrAppend(&result.text, equal, " of ", both.size(), " tensors have equal bits\n");
  return result;
}

}  // namespace tandem

#include "estimator/model/labels.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/nearest_name.h"

namespace tandem {

Tensor Labels::operator[](NameArg name) const {
  const std::vector<std::string> names = this->names();
  if (names.empty()) return only_;
  if (by_name_.Has(name.name) || by_name_.graph() == nullptr) return by_name_[name];
  const std::string nearest = NearestName(name.name, names);
  return by_name_.graph()->FailAt(
      "Labels",
      absl::StrCat(
          "the input has no labels \"", name.name, "\"; it has ", absl::StrJoin(names, ", "),
          nearest.empty() ? "; InputSpec.labels names them" : absl::StrCat("; did you mean \"", nearest, "\"?")),
      name.loc);
}

}  // namespace tandem

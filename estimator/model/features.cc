#include "estimator/model/features.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/nearest_name.h"

namespace tandem {

Tensor Features::operator[](NameArg name) const {
  GraphBuilder* const graph = this->graph();
  if (graph == nullptr) {
    return Tensor::Poisoned(absl::FailedPreconditionError(absl::StrCat(
        "Features at ", name.loc.file, ":", name.loc.line, ": the feature \"", name.name, "\" is of no graph: ",
        of_graph_.empty() ? "the Features were made without one" : "the Estimator that gave the Features is gone",
        "; ask those that model_fn is called with")));
  }
  for (const ComponentSpec& component : components_) {
    if (component.name == name.name) return graph->Input(name.name, component.dtype, component.shape, name.loc);
  }
  return graph->FailAt(
      "Features",
      absl::StrCat("the input has no feature \"", name.name, "\"; it has ",
                   components_.empty() ? "none" : absl::StrJoin(names(), ", "), DidYouMean(name.name, names())),
      name.loc);
}

bool Features::Has(absl::string_view name) const {
  for (const ComponentSpec& component : components_) {
    if (component.name == name) return true;
  }
  return false;
}

std::vector<std::string> Features::names() const {
  std::vector<std::string> names;
  for (const ComponentSpec& component : components_) names.push_back(component.name);
  return names;
}

}  // namespace tandem

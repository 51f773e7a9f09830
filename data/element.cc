#include "data/element.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace tandem {

int64_t Element::rows() const {
  return components.empty() || components[0].shape().empty() ? rows_elsewhere : components[0].shape()[0];
}

std::string SpecString(const std::vector<ComponentSpec>& spec) {
  return absl::StrJoin(spec, ", ", [](std::string* out, const ComponentSpec& c) {
    absl::StrAppend(out, c.name, ":", Name(c.dtype), ShapeString(c.shape));
  });
}

absl::Status CheckElement(const std::vector<ComponentSpec>& spec, const Element& element) {
  if (element.components.size() != spec.size()) {
    return absl::InvalidArgumentError(absl::StrCat("an element has ", element.components.size(), " components where ",
                                                   spec.size(), " are expected (", SpecString(spec), ")"));
  }
  for (size_t i = 0; i < spec.size(); ++i) {
    const HostTensor& t = element.components[i];
    if (!t.status().ok()) {
      return absl::InvalidArgumentError(absl::StrCat("component '", spec[i].name, "': ", t.status().message()));
    }
    bool fits = t.dtype() == spec[i].dtype && t.shape().size() == spec[i].shape.size();
    for (size_t d = 0; fits && d < spec[i].shape.size(); ++d) {
      fits = spec[i].shape[d] < 0 || spec[i].shape[d] == t.shape()[d];
    }
    if (!fits) {
      return absl::InvalidArgumentError(absl::StrCat("component '", spec[i].name, "' is ", Name(t.dtype()),
                                                     ShapeString(t.shape()), " where ", Name(spec[i].dtype),
                                                     ShapeString(spec[i].shape), " is expected"));
    }
  }
  return absl::OkStatus();
}

}  // namespace tandem

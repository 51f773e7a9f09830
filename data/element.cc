#include "data/element.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/nearest_name.h"
#include "base/user_code.h"

namespace tandem {
namespace {

std::string Quoted(const std::vector<std::string>& names) {
  return absl::StrCat("'", absl::StrJoin(names, "', '"), "'");
}

absl::Status At(const NameArg& arg, absl::string_view problem) {
  return absl::InvalidArgumentError(
      absl::StrCat(arg.loc.file, ":", arg.loc.line, ": component '", arg.name, "' ", problem));
}

}  // namespace

const HostTensor* Element::Find(NameArg arg) const {
  if (names == nullptr || names->size() != components.size()) {
    ReportUserError(At(arg, "is asked for of an element whose components have no names; ask by number"));
    return nullptr;
  }
  for (size_t i = 0; i < components.size(); ++i) {
    if ((*names)[i] == arg.name) return &components[i];
  }
  const std::string near = NearestName(arg.name, *names);
  ReportUserError(At(arg, absl::StrCat("is not there; the element has ", Quoted(*names),
                                       near.empty() ? "" : absl::StrCat("; did you mean '", near, "'?"))));
  return nullptr;
}

const HostTensor* Element::FindOne(NameArg arg, DType dtype) const {
  const HostTensor* found = Find(arg);
  if (found == nullptr) return nullptr;
  if (!found->status().ok()) {
    ReportUserError(found->status());
  } else if (found->dtype() != dtype) {
    ReportUserError(At(arg, absl::StrCat("is ", Name(found->dtype()), ", not ", Name(dtype), "; ask for Get<",
                                         CppName(found->dtype()), ">")));
  } else if (found->num_elements() != 1) {
    ReportUserError(At(arg, absl::StrCat("has ", found->num_elements(), " elements, not one: its shape is ",
                                         ShapeString(found->shape()), "; in[\"", arg.name, "\"] has them all")));
  } else {
    return found;
  }
  return nullptr;
}

HostTensor Element::operator[](NameArg arg) const {
  const HostTensor* found = Find(arg);
  return found == nullptr ? HostTensor(DType::kInvalid, {}, arg.loc) : *found;
}

void Element::Set(absl::string_view name, HostTensor value) {
  const bool named = names != nullptr && names->size() == components.size();
  for (size_t i = 0; named && i < components.size(); ++i) {
    if ((*names)[i] != name) continue;
    components[i] = std::move(value);
    return;
  }
  if (!named && !components.empty()) {
    ReportUserError(absl::InvalidArgumentError(absl::StrCat("Element::Set(\"", name, "\"): the element has ",
                                                            components.size(), " components without names")));
    return;
  }
  auto more = std::make_shared<std::vector<std::string>>(named ? *names : std::vector<std::string>());
  more->emplace_back(name);
  names = std::move(more);
  components.push_back(std::move(value));
}

absl::Status OrderByName(const std::vector<std::string>& names, const ComponentNames& given, Element* element) {
  if (element->names == nullptr || element->names == given) return absl::OkStatus();
  const std::vector<std::string>& own = *element->names;
  if (own.size() != element->components.size()) {
    return absl::InvalidArgumentError(absl::StrCat("the function returns ", element->components.size(),
                                                   " components and has named ", own.size(), " with Set"));
  }
  if (own == names) return absl::OkStatus();
  std::vector<HostTensor> ordered;
  for (const std::string& name : names) {
    const auto found = std::find(own.begin(), own.end(), name);
    if (found == own.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the function sets no component '", name, "'; it sets ", Quoted(own)));
    }
    ordered.push_back(element->components[found - own.begin()]);
  }
  if (own.size() > names.size()) {
    for (const std::string& name : own) {
      if (std::find(names.begin(), names.end(), name) != names.end()) continue;
      return absl::InvalidArgumentError(absl::StrCat("the function sets a component '", name,
                                                     "', which is none of those described, ", Quoted(names)));
    }
  }
  element->components = std::move(ordered);
  element->names = nullptr;
  return absl::OkStatus();
}

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

// Elements of a dataset, and their description.
#ifndef TANDEM_DATA_ELEMENT_H_
#define TANDEM_DATA_ELEMENT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "tandem/base/api.h"
#include "tandem/base/dtype.h"
#include "tandem/base/host_tensor.h"
#include "tandem/base/source_location.h"

namespace TANDEM_API tandem {

// A component's name and the source line that asks for it. This is a type of its own because operator[] cannot have a
// default argument for the line.
struct NameArg {
  NameArg(const char* name, SourceLocation loc = SourceLocation::Current()) : name(name), loc(loc) {}
  NameArg(absl::string_view name, SourceLocation loc = SourceLocation::Current()) : name(name), loc(loc) {}
  NameArg(const std::string& name, SourceLocation loc = SourceLocation::Current()) : name(name), loc(loc) {}

  absl::string_view name;
  SourceLocation loc;
};

// Names of components in their order; shared, since all elements of a dataset have the same.
using ComponentNames = std::shared_ptr<const std::vector<std::string>>;

// One element: a tensor for each component, in the order of the dataset's spec. The tensors may share buffers with
// other holders and must not be written.
//
//   [](const Element& in) -> absl::StatusOr<Element> {
//     Element out;
//     out.Set("x", HostTensor::FromVector<float>({2}, {in.Get<float>("age") / 100, in.Get<float>("height")}));
//     out.Set("label", in["label"]);
//     return out;
//   }
//
// If a function of a dataset reads a component that does not exist, or as numbers of another type, the element becomes
// an error that names the source line; in other code, the mistake is logged.
struct Element {
  // Returns the component with this name. If there is none, returns an empty tensor whose status() is an error.
  HostTensor operator[](NameArg name) const;
  // Returns the value of the component with this name, which must have one element; zero, or an empty string, after an
  // error. T is one of DTypeOf's types, std::string or absl::string_view (valid as long as the component). For more
  // elements use in["x"].values<float>().
  template <typename T>
  T Get(NameArg name) const;

  // Sets the component with this name, or adds it at the end. If a function of Map, FromGenerator or Scan names the
  // components that it returns, they may be in any order.
  void Set(absl::string_view name, HostTensor value);
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  void Set(absl::string_view name, T value) {
    Set(name, HostTensor::Scalar<T>(value));
  }
  void Set(absl::string_view name, absl::string_view value) { Set(name, HostTensor::String(value)); }
  void Set(absl::string_view name, const char* value) { Set(name, absl::string_view(value)); }

  // Returns the number of rows of a batch, whether this process makes the batch or another; -1 if it has no rows.
  int64_t rows() const;

  std::vector<HostTensor> components;
  // Number of rows, for a batch that another process makes (Iterator::MakeOnly); -1 for a batch that has components
  // here.
  int64_t rows_elsewhere = -1;
  // Names of the components; null if nobody has named them.
  ComponentNames names = nullptr;

 private:
  // Returns the component (FindOne: one with a single element of type `dtype`), or null after reporting the error.
  const HostTensor* Find(NameArg name) const;
  const HostTensor* FindOne(NameArg name, DType dtype) const;
};

// The static description of one component. A size of -1 is known only at run time; dimension 0 of a batched component
// is kBatch, the number of examples.
struct ComponentSpec {
  std::string name;
  DType dtype = DType::kInvalid;
  Shape shape;
};

// Returns a text such as "image:float32[b,28,28,1], label:int32[b]".
std::string SpecString(const std::vector<ComponentSpec>& spec);

// InvalidArgument, with component, expected and actual type and shape, unless `element` fits `spec`.
absl::Status CheckElement(const std::vector<ComponentSpec>& spec, const Element& element);

// If a function has named the components that it returns, sorts them into the order of `names`. It has not if their
// names are null or still `given`, those of its argument. InvalidArgument for a name too many or too few.
absl::Status OrderByName(const std::vector<std::string>& names, const ComponentNames& given, Element* element);

template <typename T>
T Element::Get(NameArg name) const {
  if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, absl::string_view>) {
    const HostTensor* found = FindOne(name, DType::kString);
    return found == nullptr ? T() : T(found->string());
  } else {
    const HostTensor* found = FindOne(name, DTypeOf<T>::value);
    return found == nullptr ? T() : *found->data<T>();
  }
}

}  // namespace tandem

#endif  // TANDEM_DATA_ELEMENT_H_

#include "data/files/hdf5_attributes.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/nearest_name.h"
#include "base/status_macros.h"

namespace tandem {
namespace {

constexpr size_t kMaxListBytes = 64512;

absl::Status NoAttribute(const Hdf5Object& object, absl::string_view name) {
  std::vector<std::string> names;
  for (const auto& attribute : object.attributes) names.push_back(attribute.first);
  return absl::NotFoundError(absl::StrCat(object.where, ": there is no attribute \"", name, "\"",
                                          DidYouMean(name, names), "; a file that Keras wrote has it"));
}

absl::Status OtherKind(const Hdf5Object& object, absl::string_view name, absl::string_view wanted,
                       const Hdf5Value& value) {
  const bool texts = std::holds_alternative<std::vector<std::string>>(value.elements);
  return absl::InvalidArgumentError(absl::StrCat(object.where, ": the attribute \"", name, "\" should be ", wanted,
                                                 ", and it has ", texts ? "strings" : "numbers", " of the shape ",
                                                 ShapeString(value.shape), "; a file that Keras wrote has it so"));
}

absl::StatusOr<std::vector<std::string>> ListOf(const Hdf5Object& object, absl::string_view name,
                                                const Hdf5Value& value) {
  if (value.shape.size() == 1) {
    if (value.shape[0] == 0) return std::vector<std::string>();
    if (const auto* texts = std::get_if<std::vector<std::string>>(&value.elements)) return *texts;
  }
  return OtherKind(object, name, "a list of strings", value);
}

}  // namespace

absl::StatusOr<std::string> GetString(const Hdf5Object& object, absl::string_view name) {
  const auto found = object.attributes.find(name);
  if (found == object.attributes.end()) return NoAttribute(object, name);
  const auto* texts = std::get_if<std::vector<std::string>>(&found->second.elements);
  if (texts == nullptr || texts->size() != 1 || !found->second.shape.empty())
    return OtherKind(object, name, "a string", found->second);
  return texts->front();
}

absl::StatusOr<std::vector<std::string>> GetStringList(const Hdf5Object& object, absl::string_view name) {
  if (const auto found = object.attributes.find(name); found != object.attributes.end()) {
    return ListOf(object, name, found->second);
  }
  std::vector<std::string> strings;
  for (int part = 0;; ++part) {
    const std::string part_name = absl::StrCat(name, part);
    const auto found = object.attributes.find(part_name);
    if (found == object.attributes.end()) {
      if (part == 0) return NoAttribute(object, name);
      return strings;
    }
    TD_ASSIGN_OR_RETURN(std::vector<std::string> more, ListOf(object, part_name, found->second));
    std::move(more.begin(), more.end(), std::back_inserter(strings));
  }
}

absl::Status SetStringList(Hdf5Object* object, absl::string_view name, const std::vector<std::string>& strings) {
  size_t width = 1;
  for (const std::string& text : strings) width = std::max(width, text.size());
  if (width > kMaxListBytes) {
    return absl::InvalidArgumentError(absl::StrCat("the attribute \"", name, "\" cannot have a name of ", width,
                                                   " bytes; at most ", kMaxListBytes, " are written"));
  }
  if (const auto whole = object->attributes.find(name); whole != object->attributes.end()) {
    object->attributes.erase(whole);
  }
  for (int part = 0; object->attributes.erase(absl::StrCat(name, part)) > 0; ++part) {
  }
  const size_t in_a_part = kMaxListBytes / width;
  const size_t parts = (strings.size() + in_a_part - 1) / in_a_part;
  if (parts <= 1) {
    object->attributes.emplace(name, Hdf5Value::Strings(strings));
    return absl::OkStatus();
  }
  size_t next = 0;
  for (size_t part = 0; part < parts; ++part) {
    const size_t count = strings.size() / parts + (part < strings.size() % parts ? 1 : 0);
    object->attributes[absl::StrCat(name, part)] =
        Hdf5Value::Strings({strings.begin() + next, strings.begin() + next + count});
    next += count;
  }
  return absl::OkStatus();
}

}  // namespace tandem

#include "base/temporary_name.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/strip.h"

namespace tandem {
namespace {

constexpr absl::string_view kPrefix = ".tmp-";
constexpr size_t kDigits = 16;

// Removes "-<part>" from the end of `name` and returns the part; empty if there is none.
absl::string_view TakePart(absl::string_view* name) {
  const size_t dash = name->rfind('-');
  if (dash == absl::string_view::npos) return "";
  const absl::string_view part = name->substr(dash + 1);
  name->remove_suffix(part.size() + 1);
  return part;
}

bool IsNumber(absl::string_view part) {
  return !part.empty() && std::all_of(part.begin(), part.end(), [](char c) { return absl::ascii_isdigit(c); });
}

bool AreRandomDigits(absl::string_view part) {
  return part.size() == kDigits && std::all_of(part.begin(), part.end(), [](char c) {
           return absl::ascii_isxdigit(c) && !absl::ascii_isupper(c);
         });
}

}  // namespace

absl::string_view TargetOfTemporary(absl::string_view name) {
  if (!absl::ConsumePrefix(&name, kPrefix)) return "";
  if (!IsNumber(TakePart(&name)) || !AreRandomDigits(TakePart(&name)) || !IsNumber(TakePart(&name))) return "";
  return name;
}

bool IsTemporary(absl::string_view name) { return absl::ConsumePrefix(&name, kPrefix) && IsNumber(TakePart(&name)); }

}  // namespace tandem

// Names of an optimizer's slots (its state for each variable).
#ifndef TANDEM_FRONTENDS_SLOT_NAME_H_
#define TANDEM_FRONTENDS_SLOT_NAME_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace tandem {

// Returns the name of a slot: "<variable>/Adam" for slot 0 of the rule "Adam", "<variable>/Adam_1" for slot 1.
inline std::string SlotName(absl::string_view variable, absl::string_view rule, int slot) {
  return slot == 0 ? absl::StrCat(variable, "/", rule) : absl::StrCat(variable, "/", rule, "_", slot);
}

}  // namespace tandem

#endif  // TANDEM_FRONTENDS_SLOT_NAME_H_

#include "frontends/keras/padding_name.h"

#include "absl/strings/match.h"

namespace tandem::keras {

PaddingName::PaddingName(const char* name) {
  if (absl::EqualsIgnoreCase(name, "same")) {
    padding_ = Padding::kSame;
  } else if (!absl::EqualsIgnoreCase(name, "valid")) {
    unknown_ = name;
  }
}

}  // namespace tandem::keras

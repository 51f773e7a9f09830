// Suggests the name that a misspelled one was probably meant to be.
#ifndef TANDEM_BASE_NEAREST_NAME_H_
#define TANDEM_BASE_NEAREST_NAME_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace tandem {

// Returns the one of `names` that `word` is probably a misspelling of; empty if none is similar.
std::string NearestName(absl::string_view word, const std::vector<std::string>& names);

// Returns what an error about an unknown word ends with: "; did you mean \"NAME\"?", printable, or "" if no name is
// similar.
std::string DidYouMean(absl::string_view word, const std::vector<std::string>& names);

}  // namespace tandem

#endif  // TANDEM_BASE_NEAREST_NAME_H_

// Writes JSON strings.
#ifndef TANDEM_ESTIMATOR_CHECKPOINT_JSON_TEXT_H_
#define TANDEM_ESTIMATOR_CHECKPOINT_JSON_TEXT_H_

#include <string>

#include "absl/status/statusor.h"

namespace tandem {

// Returns `text` as a JSON string with its quotes; escapes only what must be. InvalidArgument if it is not UTF-8.
absl::StatusOr<std::string> JsonText(const std::string& text);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_CHECKPOINT_JSON_TEXT_H_

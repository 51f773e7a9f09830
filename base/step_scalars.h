// Names of step scalars (numbers that the runtime passes to every step) with the same meaning in all programs.
#ifndef TANDEM_BASE_STEP_SCALARS_H_
#define TANDEM_BASE_STEP_SCALARS_H_

#include "absl/strings/string_view.h"

namespace tandem {

// True if a session sets the scalar by itself, from the replicas and their rows; no other code sets it.
inline bool IsSetBySession(absl::string_view name) {
  return name == "example_count" || name == "replica_example_count" || name == "replica_index";
}

}  // namespace tandem

#endif  // TANDEM_BASE_STEP_SCALARS_H_

// What the fakes of several processes tell each other.
#ifndef TANDEM_RUNTIME_CUDA_TESTING_GATHER_TEXTS_H_
#define TANDEM_RUNTIME_CUDA_TESTING_GATHER_TEXTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/collectives/process_group.h"

namespace tandem {

// The texts of all processes, by rank; they may have any lengths. Errors: the group's.
absl::StatusOr<std::vector<std::string>> GatherTexts(ProcessGroup& group, absl::string_view mine);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_TESTING_GATHER_TEXTS_H_

// GatherTexts: what processes tell each other in words.
#ifndef TANDEM_RUNTIME_COLLECTIVES_GATHER_TEXTS_H_
#define TANDEM_RUNTIME_COLLECTIVES_GATHER_TEXTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/collectives/process_group.h"

namespace tandem {

// The texts of all ranks, one after another; they may have any lengths. `what` and errors: as for AllGather.
absl::StatusOr<std::vector<std::string>> GatherTexts(ProcessGroup& group, absl::string_view mine,
                                                     absl::string_view what);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COLLECTIVES_GATHER_TEXTS_H_

// GatherTexts: what processes tell each other in words.
#ifndef TANDEM_RUNTIME_COLLECTIVES_GATHER_TEXTS_H_
#define TANDEM_RUNTIME_COLLECTIVES_GATHER_TEXTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/collectives/process_group.h"

namespace tandem {

inline constexpr int64_t kMaxTextBytes = int64_t{256} << 20;

// The texts of all ranks, one after another; their lengths differ. `what` and errors: as for AllGather, and Internal,
// on all ranks, where one says that its text is longer than kMaxTextBytes, or of no length.
absl::StatusOr<std::vector<std::string>> GatherTexts(ProcessGroup& group, absl::string_view mine,
                                                     absl::string_view what);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COLLECTIVES_GATHER_TEXTS_H_

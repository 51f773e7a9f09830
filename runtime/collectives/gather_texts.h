// GatherTexts: processes exchange texts of any length.
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

// Returns the texts of all ranks in rank order; their lengths may differ. `what` and errors are those of AllGather. In
// addition, all ranks return Internal if one announces a length that is negative or over kMaxTextBytes.
absl::StatusOr<std::vector<std::string>> GatherTexts(ProcessGroup& group, absl::string_view mine,
                                                     absl::string_view what);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COLLECTIVES_GATHER_TEXTS_H_

// Renames the variables of a checkpoint.
#ifndef TANDEM_TOOLS_CHECKPOINT_RENAME_H_
#define TANDEM_TOOLS_CHECKPOINT_RENAME_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/checkpoint/checkpoint.h"

namespace tandem {

using NameMap = std::vector<std::pair<std::string, std::string>>;

// Parses a list of "old=new". InvalidArgument for other text, and for an old name that occurs twice.
absl::StatusOr<NameMap> ParseNameMap(const std::vector<std::string>& pairs);

// Renames variables and their optimizer slots. An old name that ends with "/" matches all names that begin with it. If
// several old names match, the longest counts, in whatever order they are listed. All renamings happen at once, so that
// a=b,b=a exchanges two names. InvalidArgument for an old name that does not exist, with a similar one, and for a new
// name that two tensors would get.
absl::Status RenameVariables(const NameMap& names, CheckpointData* data);

}  // namespace tandem

#endif  // TANDEM_TOOLS_CHECKPOINT_RENAME_H_

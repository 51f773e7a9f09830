// Other names for the variables of a checkpoint.
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

// Of "old=new" each. InvalidArgument for what is not of this form, or for an old name that comes twice.
absl::StatusOr<NameMap> ParseNameMap(const std::vector<std::string>& pairs);

// Renames variables, and their slots with them. An old name that ends with "/" stands for all names that begin so. Of
// several that fit, the longest counts, in whatever order they come. All at once: a=b,b=a exchanges two.
// InvalidArgument for an old name that is not there, with one that is near, and for a new name that two tensors would
// get.
absl::Status RenameVariables(const NameMap& names, CheckpointData* data);

}  // namespace tandem

#endif  // TANDEM_TOOLS_CHECKPOINT_RENAME_H_

// Explains why ops are, or are not, computed in one kernel.
#ifndef TANDEM_TOOLS_DUMP_EXPLAIN_FUSION_H_
#define TANDEM_TOOLS_DUMP_EXPLAIN_FUSION_H_

#include <string>

#include "absl/status/statusor.h"
#include "runtime/executable/executable.h"

namespace tandem {

// Returns a line for every pair of ops where one reads the other's result and one of them matches `op`: a part of its
// scoped name, the name of an operation ("td.relu"), or "all" for every pair. NotFound if the executable was compiled
// without these explanations, InvalidArgument if no op of a pair matches.
absl::StatusOr<std::string> ExplainFusion(const Executable& executable, const std::string& op);

}  // namespace tandem

#endif  // TANDEM_TOOLS_DUMP_EXPLAIN_FUSION_H_

// Explains the precision of each op of a program.
#ifndef TANDEM_TOOLS_DUMP_EXPLAIN_PRECISION_H_
#define TANDEM_TOOLS_DUMP_EXPLAIN_PRECISION_H_

#include <string>

#include "absl/status/statusor.h"
#include "runtime/executable/executable.h"

namespace tandem {

// Returns a line for each op that `op` matches, with its precision and the reason. `op` is a part of the op's name, an
// operation such as td.relu, or "all". InvalidArgument if no op matches, NotFound if the program was not compiled with
// mixed_bfloat16.
absl::StatusOr<std::string> ExplainPrecision(const Executable& executable, const std::string& op);

}  // namespace tandem

#endif  // TANDEM_TOOLS_DUMP_EXPLAIN_PRECISION_H_

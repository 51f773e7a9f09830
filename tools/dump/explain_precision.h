// The precision that each op of a program got, for people.
#ifndef TANDEM_TOOLS_DUMP_EXPLAIN_PRECISION_H_
#define TANDEM_TOOLS_DUMP_EXPLAIN_PRECISION_H_

#include <string>

#include "absl/status/statusor.h"
#include "runtime/executable/executable.h"

namespace tandem {

// A line for each op that `op` names (a part of its name, an operation such as td.relu, or all): its precision and why
// it has it. InvalidArgument when there is none, NotFound when the program is not of mixed_bfloat16.
absl::StatusOr<std::string> ExplainPrecision(const Executable& executable, const std::string& op);

}  // namespace tandem

#endif  // TANDEM_TOOLS_DUMP_EXPLAIN_PRECISION_H_

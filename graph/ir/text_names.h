// Checks the names of values in MLIR text before MLIR's parser gets it.
#ifndef TANDEM_GRAPH_IR_TEXT_NAMES_H_
#define TANDEM_GRAPH_IR_TEXT_NAMES_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tandem::td {

// LLVM 19's parser accepts a name that is used before it is defined if the definition comes later, even in another
// function or an inner region. If the text after the definition is then invalid, it frees the definition and writes to
// it afterwards. Programs define every value before they use it. OK if every %name of `text` is a result or an argument
// before it is an operand, in the same function and in the same region or one around it. Errors: InvalidArgument
// "<name>:<line>: <what>".
absl::Status CheckTextNames(absl::string_view text, absl::string_view name);

}  // namespace tandem::td

#endif  // TANDEM_GRAPH_IR_TEXT_NAMES_H_

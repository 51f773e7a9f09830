// A look at the names of values in MLIR text before MLIR's parser gets it.
#ifndef TANDEM_GRAPH_IR_TEXT_NAMES_H_
#define TANDEM_GRAPH_IR_TEXT_NAMES_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tandem::td {

// LLVM 19's parser takes a name that is used before it is defined for one that comes later, in another function or in
// a region further in, and when the text behind the definition turns out to be wrong it frees the definition and writes
// to it afterwards. Programs define every value before they use it. OK when every %name of `text` is a result or an
// argument before it is an operand, in the same function and the same region or one around it. Errors: InvalidArgument
// "<name>:<line>: <what>".
absl::Status CheckTextNames(absl::string_view text, absl::string_view name);

}  // namespace tandem::td

#endif  // TANDEM_GRAPH_IR_TEXT_NAMES_H_

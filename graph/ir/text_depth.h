// Checks the nesting of MLIR text before MLIR's parser gets it.
#ifndef TANDEM_GRAPH_IR_TEXT_DEPTH_H_
#define TANDEM_GRAPH_IR_TEXT_DEPTH_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tandem::td {

// The deepest nesting that is accepted. Real programs have about ten levels.
constexpr int kMaxTextDepth = 128;

// MLIR's parser, and much code that walks a module, recurses with the text's nesting and would overflow the stack. OK
// if no place of `text` is nested deeper than kMaxTextDepth: in brackets, or in aliases (#name, !name) made of aliases.
// Affine expressions, which programs never contain, nest without brackets: text with an affine_map or affine_set is
// refused. Errors: InvalidArgument "<name>:<line>: <what>".
absl::Status CheckTextDepth(absl::string_view text, absl::string_view name);

}  // namespace tandem::td

#endif  // TANDEM_GRAPH_IR_TEXT_DEPTH_H_

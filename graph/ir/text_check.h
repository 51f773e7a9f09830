// Checks MLIR text before MLIR's parser gets it, because the parser corrupts memory on some invalid texts.
#ifndef TANDEM_GRAPH_IR_TEXT_CHECK_H_
#define TANDEM_GRAPH_IR_TEXT_CHECK_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/status_macros.h"
#include "graph/ir/text_depth.h"
#include "graph/ir/text_names.h"

namespace tandem::td {

// Calls CheckTextDepth and CheckTextNames.
inline absl::Status CheckText(absl::string_view text, absl::string_view name) {
  TD_RETURN_IF_ERROR(CheckTextDepth(text, name));
  return CheckTextNames(text, name);
}

}  // namespace tandem::td

#endif  // TANDEM_GRAPH_IR_TEXT_CHECK_H_

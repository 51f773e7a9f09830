// Which ops no translation takes, and the errors about ops that one does not take.
#ifndef TANDEM_PASSES_TRANSLATION_REFUSALS_H_
#define TANDEM_PASSES_TRANSLATION_REFUSALS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "mlir/IR/Operation.h"

namespace tandem::translation {

// Returns an Unimplemented error with the op's name and the user's line. `problem` is its text after "has no form in
// FORMAT: ", including what to do about it.
absl::Status HasNoForm(mlir::Operation* op, absl::string_view format, absl::string_view problem);

// Returns why an op is not translated unless the format has a translator for it, and what to do about it; null if no
// reason is known.
const char* WhyNotTranslated(const std::string& op);

// Returns the error of HasNoForm if a row of the op's results depends on other rows of the batch than its own.
absl::Status CheckRowsAreApart(mlir::Operation* op, absl::string_view format);

}  // namespace tandem::translation

#endif  // TANDEM_PASSES_TRANSLATION_REFUSALS_H_

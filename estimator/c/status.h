// What the functions of tandem_c.h do with errors and exceptions.
#ifndef TANDEM_ESTIMATOR_C_STATUS_H_
#define TANDEM_ESTIMATOR_C_STATUS_H_

#include <cstddef>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/resource_errors.h"
#include "estimator/c/tandem_c.h"

namespace tandem::c {

// Returns the caller's handle of an error, null for OK. Without memory for one it returns a handle that is always
// there.
tandem_status* StatusHandle(const absl::Status& status) noexcept;

// Returns f(), an absl::Status, as a handle. An exception becomes one too.
template <typename F>
tandem_status* Guarded(absl::string_view doing, F&& f) noexcept {
  try {
    return StatusHandle(CatchResourceErrors(doing, std::forward<F>(f)));
  } catch (...) {  // there is no memory for the error's text
    return StatusHandle(absl::ResourceExhaustedError(""));
  }
}

// Returns InvalidArgument if the argument `name` of `function` is null.
absl::Status CheckNotNull(absl::string_view function, absl::string_view name, const void* argument);

// Returns OutOfRange unless `index` is less than `size`, the number of `what`.
absl::Status CheckIndex(absl::string_view function, absl::string_view what, size_t index, size_t size);

}  // namespace tandem::c

#endif  // TANDEM_ESTIMATOR_C_STATUS_H_

// Adds context to an error that is passed to the caller.
#ifndef TANDEM_BASE_ANNOTATE_H_
#define TANDEM_BASE_ANNOTATE_H_

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace tandem {

// Returns the status with the same code and payloads (also the exit code) and the message `before` + message + `after`.
// OK stays OK.
inline absl::Status Annotate(const absl::Status& status, absl::string_view before, absl::string_view after = "") {
  if (status.ok()) return status;
  absl::Status result(status.code(), absl::StrCat(before, status.message(), after));
  status.ForEachPayload([&](absl::string_view url, const absl::Cord& payload) { result.SetPayload(url, payload); });
  return result;
}

}  // namespace tandem

#endif  // TANDEM_BASE_ANNOTATE_H_

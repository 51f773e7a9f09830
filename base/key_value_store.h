// KeyValueStore: small values that the processes of a cluster exchange.
#ifndef TANDEM_BASE_KEY_VALUE_STORE_H_
#define TANDEM_BASE_KEY_VALUE_STORE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace tandem {

// Thread-safe.
class KeyValueStore {
 public:
  virtual ~KeyValueStore() = default;
  // Sets the key to the value. AlreadyExists if the key has another value.
  virtual absl::Status Set(absl::string_view key, absl::string_view value) = 0;
  // Waits until some process has set the key. DeadlineExceeded, with the key, after `timeout`; Unavailable if a process
  // is lost meanwhile.
  virtual absl::StatusOr<std::string> Get(absl::string_view key, absl::Duration timeout) = 0;
};

}  // namespace tandem

#endif  // TANDEM_BASE_KEY_VALUE_STORE_H_

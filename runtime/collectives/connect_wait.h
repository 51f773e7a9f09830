// ConnectWait: how a rank waits for the others while a group is connected.
#ifndef TANDEM_RUNTIME_COLLECTIVES_CONNECT_WAIT_H_
#define TANDEM_RUNTIME_COLLECTIVES_CONNECT_WAIT_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/collectives/connect_options.h"

namespace tandem {

// All waits of one connection share one deadline. They end with the store's error when a process is lost. Long waits
// say in the log whom they wait for. Not thread-safe.
class ConnectWait {
 public:
  // Starts the time until the deadline. `options` must outlive the object.
  explicit ConnectWait(const ConnectOptions& options);

  const ConnectOptions& options() const { return options_; }
  absl::Status Set(absl::string_view key, absl::string_view value);
  // Returns the value that rank `peer` sets. `what` describes the value in messages, such as "where it listens".
  // DeadlineExceeded names the rank.
  absl::StatusOr<std::string> Get(absl::string_view key, int peer, absl::string_view what);

  // Must be called at short intervals by code that waits for something that is not in the store; now and then it asks
  // the store whether a process is lost. `whom` returns, for messages, which rank is waited for, such as "rank 2 at
  // 10.0.0.3:4711". Returns false if the deadline has passed.
  absl::StatusOr<bool> Continue(absl::FunctionRef<std::string()> whom);

 private:
  absl::Duration Rest() const;
  void Note(absl::FunctionRef<std::string()> whom);
  std::string Key(absl::string_view key) const;

  const ConnectOptions& options_;
  const absl::Duration began_;  // times of SteadyNow
  absl::Duration next_note_, next_question_;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COLLECTIVES_CONNECT_WAIT_H_

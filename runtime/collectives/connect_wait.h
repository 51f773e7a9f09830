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

// All waits of one connection have one deadline, end with the store's error when a process is lost, and say in the log
// whom they wait for when they last. Not thread-safe.
class ConnectWait {
 public:
  // The deadline begins. `options` outlives it.
  explicit ConnectWait(const ConnectOptions& options);

  const ConnectOptions& options() const { return options_; }
  absl::Status Set(absl::string_view key, absl::string_view value);
  // What rank `peer` sets. `what` it tells by that, such as "where it listens", is for messages. DeadlineExceeded names
  // the rank.
  absl::StatusOr<std::string> Get(absl::string_view key, int peer, absl::string_view what);

  // To be called at short intervals by who waits for something that is not in the store; now and then it asks the store
  // whether a process is lost. `whom` is waited for, such as "rank 2 at 10.0.0.3:4711". False: the deadline is over.
  absl::StatusOr<bool> Continue(absl::FunctionRef<std::string()> whom);

 private:
  absl::Duration Rest() const;
  void Note(absl::FunctionRef<std::string()> whom);
  std::string Key(absl::string_view key) const;

  const ConnectOptions& options_;
  const absl::Duration began_;  // steady times
  absl::Duration next_note_, next_question_;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COLLECTIVES_CONNECT_WAIT_H_

// A save that goes on while training does.
#ifndef TANDEM_ESTIMATOR_BACKGROUND_SAVE_H_
#define TANDEM_ESTIMATOR_BACKGROUND_SAVE_H_

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "absl/status/statusor.h"

namespace tandem {

// One at a time. Used by one thread.
class BackgroundSave {
 public:
  // Waits for the end of what runs.
  ~BackgroundSave();

  // Runs `save`, which returns the path of what it wrote, on a thread of its own, or, with a warning, here when the
  // system has no thread. Finish(true) must have come before.
  void Start(std::function<absl::StatusOr<std::string>()> save);
  // Whether something was started that has not been finished.
  bool pending() const { return pending_; }
  // What came of it: waits for its end, or (`wait` is false) looks whether it has come. Every result is given once;
  // nothing where there is none.
  absl::StatusOr<std::optional<std::string>> Finish(bool wait);

 private:
  bool pending_ = false;
  std::thread thread_;
  std::atomic<bool> done_{false};
  absl::StatusOr<std::string> result_;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_BACKGROUND_SAVE_H_

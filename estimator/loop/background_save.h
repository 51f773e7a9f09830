// BackgroundSave: writes a checkpoint while training goes on.
#ifndef TANDEM_ESTIMATOR_LOOP_BACKGROUND_SAVE_H_
#define TANDEM_ESTIMATOR_LOOP_BACKGROUND_SAVE_H_

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "absl/status/statusor.h"

namespace tandem {

// Runs one save at a time. All calls must be made by one thread.
class BackgroundSave {
 public:
  // Waits until a running save has ended.
  ~BackgroundSave();

  // Runs `save`, which returns the path that it wrote, on a thread of its own. If the system cannot create a thread,
  // logs a warning and runs `save` on the calling thread. The result of an earlier save must have been returned by
  // Finish.
  void Start(std::function<absl::StatusOr<std::string>()> save);
  // True if a save was started and its result was not yet returned by Finish.
  bool pending() const { return pending_; }
  // Returns the result of the save, once. With `wait`, waits for its end; otherwise returns nothing while the save
  // still runs. Also returns nothing if no save is pending.
  absl::StatusOr<std::optional<std::string>> Finish(bool wait);

 private:
  bool pending_ = false;
  std::thread thread_;
  std::atomic<bool> done_{false};
  absl::StatusOr<std::string> result_;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_LOOP_BACKGROUND_SAVE_H_

// WorkerInput: the batches of a worker's steps, and its position among them.
#ifndef TANDEM_ESTIMATOR_LOOP_WORKER_INPUT_H_
#define TANDEM_ESTIMATOR_LOOP_WORKER_INPUT_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/loop/step_runner.h"

namespace tandem {

class WorkerInput : public BatchSource {
 public:
  // Returns the position from which this process's next training goes on; if workers make their steps together, that of
  // all workers.
  virtual absl::StatusOr<std::string> SavePosition() = 0;
  // Returns the position that a checkpoint has: that of all workers.
  virtual absl::StatusOr<std::string> PositionForCheckpoint() { return SavePosition(); }
  // Goes on from a position that one of the two has returned. FailedPrecondition for a position in another input, which
  // then starts from its beginning.
  virtual absl::Status RestorePosition(absl::string_view position) = 0;
  // Makes an input that has nothing left at a restored position report its end instead of starting again.
  virtual void KeepEnd() = 0;
  // The number of batches drawn so far, over all replicas.
  virtual int64_t batches() const = 0;
  // True if what is known of this process's input holds for the inputs of all workers that make the same steps.
  virtual bool is_same_for_all() const { return true; }
  // True if nothing was left at the restored position and the input did not start again.
  virtual bool had_ended() const { return false; }
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_LOOP_WORKER_INPUT_H_

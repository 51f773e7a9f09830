// WorkerInput: the batches of a worker's steps, and the worker's position in its input.
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
  // Returns the position from which this process's next training goes on. If workers make their steps together, it is a
  // position for all of them.
  virtual absl::StatusOr<std::string> SavePosition() = 0;
  // Returns the position that a checkpoint stores, which has that of every worker.
  virtual absl::StatusOr<std::string> PositionForCheckpoint() { return SavePosition(); }
  // Goes on from a position that SavePosition or PositionForCheckpoint has returned. FailedPrecondition for a position
  // in another input; the input then starts from its beginning.
  virtual absl::Status RestorePosition(absl::string_view position) = 0;
  // If the input had ended at the restored position, it reports its end instead of starting again.
  virtual void KeepEnd() = 0;
  // The number of batches drawn so far, over all replicas.
  virtual int64_t batches() const = 0;
  // True if all workers that make the same steps read the same input, so that facts about this process's input hold for
  // all.
  virtual bool is_same_for_all() const { return true; }
  // True if the input had ended at the restored position and was not started again.
  virtual bool had_ended() const { return false; }
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_LOOP_WORKER_INPUT_H_

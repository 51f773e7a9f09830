// OwnInputs: the batches of steps that several workers make together, if each worker draws its own from an input of its
// own (AutoShard::kOff and kFile).
#ifndef TANDEM_ESTIMATOR_WORKERS_OWN_INPUTS_H_
#define TANDEM_ESTIMATOR_WORKERS_OWN_INPUTS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/loop/batch_dealer.h"
#include "estimator/loop/worker_input.h"
#include "estimator/workers/worker_group.h"

namespace tandem {

// Draws this worker's batches, and exchanges with the other workers how many rows each has and where its input stands.
// All workers must make the same calls in the same order.
class OwnInputs : public WorkerInput {
 public:
  // `mine` deals the batches of this worker's replicas. All workers must have the same number of replicas. Both
  // pointers must outlive this object.
  OwnInputs(WorkerGroup* workers, BatchDealer* mine) : workers_(workers), mine_(mine) {}

  // If this worker's input has ended and another worker's has not, this worker's replicas get batches of zero rows.
  // Returns false when the inputs of all workers have ended.
  absl::StatusOr<bool> Next(BatchRound* round) override;
  // True if the batches that Next returned last end a pass over this worker's own input.
  bool ends_pass() override { return mine_->ends_pass(); }
  std::string TraceArgs() const override { return mine_->TraceArgs(); }

  // Returns the positions of all workers, in one text.
  absl::StatusOr<std::string> SavePosition() override;
  // FailedPrecondition, on all workers, if the text has another number of workers, or if an input is not the one that
  // the position was saved from: then all inputs start from their beginning.
  absl::Status RestorePosition(absl::string_view position) override;
  // If the inputs of all workers had ended at the restored position, makes Next report the end instead of starting them
  // again. All workers call it, or none.
  void KeepEnd() override { restored_ = false; }
  // The number of batches with examples that all workers have drawn so far.
  int64_t batches() const override { return batches_; }
  bool is_same_for_all() const override { return false; }

 private:
  // Exchanges the numbers of rows of all workers' batches and stores them in `round`. `left` is true if this worker's
  // input has not ended. Returns true if the input of any worker has not.
  absl::StatusOr<bool> Combine(bool left, BatchRound* round);

  WorkerGroup* const workers_;
  BatchDealer* const mine_;
  bool restored_ = false;
  int64_t batches_ = 0;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_WORKERS_OWN_INPUTS_H_

// OwnInputs: the rounds of batches of workers that have an input of their own each (AutoShard::kOff).
#ifndef TANDEM_ESTIMATOR_WORKERS_OWN_INPUTS_H_
#define TANDEM_ESTIMATOR_WORKERS_OWN_INPUTS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/batch_dealer.h"
#include "estimator/step_runner.h"
#include "estimator/workers/worker_group.h"

namespace tandem {

// All workers make the same calls in the same order.
class OwnInputs : public BatchSource {
 public:
  // `mine` deals the batches of this worker's replicas; all workers have as many. Both must outlive this.
  OwnInputs(WorkerGroup* workers, BatchDealer* mine) : workers_(workers), mine_(mine) {}

  // Where this worker's input has ended and not those of all, its replicas get batches of zero rows. False when the
  // inputs of all have ended.
  absl::StatusOr<bool> Next(BatchRound* round) override;
  bool ends_pass() override { return mine_->ends_pass(); }  // of this worker's input
  std::string TraceArgs() const override { return mine_->TraceArgs(); }

  // The positions of all workers, in one text.
  absl::StatusOr<std::string> SaveState();
  // FailedPrecondition, on all workers alike, when the text is not of as many workers, or when an input is not the one
  // that it was saved of: then the inputs of all start from their beginning.
  absl::Status RestoreState(absl::string_view state);
  // As BatchDealer's; all workers call it, or none.
  void KeepEnd() { restored_ = false; }

  // Batches of all workers so far.
  int64_t batches() const { return batches_; }

 private:
  // Exchanges how many rows the replicas of all workers have; `left`: whether this one's input had not ended. Whether
  // that of any had not.
  absl::StatusOr<bool> Combine(bool left, BatchRound* round);

  WorkerGroup* const workers_;
  BatchDealer* const mine_;
  bool restored_ = false;
  int64_t batches_ = 0;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_WORKERS_OWN_INPUTS_H_

// SharedInput: the batches of an input that all workers of a step read, or of the input of a process that works alone.
#ifndef TANDEM_ESTIMATOR_WORKERS_SHARED_INPUT_H_
#define TANDEM_ESTIMATOR_WORKERS_SHARED_INPUT_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/loop/batch_dealer.h"
#include "estimator/loop/worker_input.h"

namespace tandem {

// Draws the batches of each step from the dealer, which keeps those of this process's replicas.
class SharedInput : public WorkerInput {
 public:
  // `dealer` must outlive this object.
  explicit SharedInput(BatchDealer* dealer) : dealer_(*dealer) {}

  absl::StatusOr<bool> Next(BatchRound* round) override { return dealer_.Next(round); }
  bool Peek(BatchRound* round) override { return dealer_.Peek(round); }
  bool ends_pass() override { return dealer_.ends_pass(); }
  std::string TraceArgs() const override { return dealer_.TraceArgs(); }

  absl::StatusOr<std::string> SavePosition() override { return dealer_.SaveState(); }
  // If the position is that of workers that took batches of one input at different speeds, goes on from the earliest
  // one.
  absl::Status RestorePosition(absl::string_view position) override;
  void KeepEnd() override { dealer_.KeepEnd(); }
  int64_t batches() const override { return dealer_.batches(); }

 private:
  BatchDealer& dealer_;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_WORKERS_SHARED_INPUT_H_

// OwnBatches: the batches of a worker that makes its own steps.
#ifndef TANDEM_ESTIMATOR_PARAMETER_SERVER_OWN_BATCHES_H_
#define TANDEM_ESTIMATOR_PARAMETER_SERVER_OWN_BATCHES_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/loop/batch_dealer.h"
#include "estimator/loop/step_runner.h"

namespace tandem {

// A worker's position in its input.
struct InputPosition {
  std::string state;     // state of an iterator; empty: the beginning
  int64_t examples = 0;  // in all batches before it, those of other workers included

  // Returns "examples 1000\n" and the state.
  std::string ToText() const;
  // A text without that line is taken as a state.
  static InputPosition FromText(absl::string_view text);
};

// Takes this worker's batches from the rounds of `all`, which are dealt to the replicas of all workers. Skips rounds
// without examples for it.
class OwnBatches : public BatchSource {
 public:
  // `all` must outlive this object.
  explicit OwnBatches(BatchDealer* all) : all_(*all) {}

  absl::StatusOr<bool> Next(BatchRound* round) override;
  bool ends_pass() override { return all_.ends_pass(); }
  std::string TraceArgs() const override { return all_.TraceArgs(); }

  // Returns the position after the last round.
  absl::StatusOr<InputPosition> Position() const;
  // FailedPrecondition for a position in another input.
  absl::Status Restore(const InputPosition& position);
  // Called if nothing is left after a restored position: returns true if this is so for all workers and none of them
  // keeps the end; then the input starts again. `keep`: this worker keeps the end.
  using AllAtEnd = std::function<absl::StatusOr<bool>(bool keep)>;
  void set_all_at_end(AllAtEnd all_at_end) { all_at_end_ = std::move(all_at_end); }
  // Keeps the end of the input (see BatchDealer::KeepEnd), for all workers. Called on the chief.
  void KeepEnd() { keep_end_ = true; }
  // True if nothing was left after the restored position and the input did not start again.
  bool had_ended() const { return had_ended_; }

 private:
  BatchDealer& all_;
  int64_t examples_ = 0;
  bool restored_ = false, had_ended_ = false, keep_end_ = false;
  AllAtEnd all_at_end_;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_PARAMETER_SERVER_OWN_BATCHES_H_

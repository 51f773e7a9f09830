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
  std::string state;  // state of the input's iterator; empty: the beginning
  // Number of examples in all batches before this position, those of other workers included.
  int64_t examples = 0;

  // Returns "examples 1000\n", followed by the state.
  std::string ToText() const;
  // Parses what ToText returns. A text without the line "examples" is a state alone.
  static InputPosition FromText(absl::string_view text);
};

// Draws the batches of all workers' replicas from `all` and keeps this worker's. Skips the batches for a step if this
// worker has no examples in them.
class OwnBatches : public BatchSource {
 public:
  // `all` must outlive this object.
  explicit OwnBatches(BatchDealer* all) : all_(*all) {}

  absl::StatusOr<bool> Next(BatchRound* round) override;
  bool ends_pass() override { return all_.ends_pass(); }
  std::string TraceArgs() const override { return all_.TraceArgs(); }

  // Returns the position in the input after the batches that were drawn last.
  absl::StatusOr<InputPosition> Position() const;
  // FailedPrecondition for a position in another input.
  absl::Status Restore(const InputPosition& position);
  // Called if the input had ended at the restored position. Returns true if the inputs of all workers had and none of
  // them keeps its end; then the input starts again. `keep`: this worker keeps the end (KeepEnd).
  using AllAtEnd = std::function<absl::StatusOr<bool>(bool keep)>;
  void set_all_at_end(AllAtEnd all_at_end) { all_at_end_ = std::move(all_at_end); }
  // If the input had ended at the restored position, it is not started again, on any worker. Called on the chief.
  void KeepEnd() { keep_end_ = true; }
  // True if the input had ended at the restored position and was not started again.
  bool had_ended() const { return had_ended_; }

 private:
  BatchDealer& all_;
  int64_t examples_ = 0;
  bool restored_ = false, had_ended_ = false, keep_end_ = false;
  AllAtEnd all_at_end_;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_PARAMETER_SERVER_OWN_BATCHES_H_

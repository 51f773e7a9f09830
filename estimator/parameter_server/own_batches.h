// OwnBatches: the batches of one worker that makes its steps by itself.
#ifndef TANDEM_ESTIMATOR_PARAMETER_SERVER_OWN_BATCHES_H_
#define TANDEM_ESTIMATOR_PARAMETER_SERVER_OWN_BATCHES_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/batch_dealer.h"
#include "estimator/step_runner.h"

namespace tandem {

// Where a worker is in its input.
struct InputPosition {
  std::string state;     // of an iterator; empty: the beginning
  int64_t examples = 0;  // of all batches before it, those of other workers too

  // "examples 1000\n" and the state.
  std::string ToText() const;
  // A text without that line is a state.
  static InputPosition FromText(absl::string_view text);
};

// Of the rounds of `all`, which are dealt to the replicas of all workers, the batches of this one. Rounds without
// examples for it are left out.
class OwnBatches : public BatchSource {
 public:
  // `all` must outlive this.
  explicit OwnBatches(BatchDealer* all) : all_(*all) {}

  absl::StatusOr<bool> Next(BatchRound* round) override;
  bool ends_pass() override { return all_.ends_pass(); }
  std::string TraceArgs() const override { return all_.TraceArgs(); }

  // Behind the last round.
  absl::StatusOr<InputPosition> Position() const;
  // FailedPrecondition for a position in another input.
  absl::Status Restore(const InputPosition& position);
  // Asked where nothing is left behind a restored position: whether that is so of all workers, and none of them keeps
  // the end. Then the input starts again. `keep`: this one does.
  using AllAtEnd = std::function<absl::StatusOr<bool>(bool keep)>;
  void set_all_at_end(AllAtEnd all_at_end) { all_at_end_ = std::move(all_at_end); }
  // As BatchDealer's, for all workers; the chief's.
  void KeepEnd() { keep_end_ = true; }
  // Whether nothing was left there, and the input did not start again.
  bool had_ended() const { return had_ended_; }

 private:
  BatchDealer& all_;
  int64_t examples_ = 0;
  bool restored_ = false, had_ended_ = false, keep_end_ = false;
  AllAtEnd all_at_end_;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_PARAMETER_SERVER_OWN_BATCHES_H_

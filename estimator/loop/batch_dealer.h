// Deals the batches of a dataset to the replicas of a step.
#ifndef TANDEM_ESTIMATOR_LOOP_BATCH_DEALER_H_
#define TANDEM_ESTIMATOR_LOOP_BATCH_DEALER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/dataset.h"
#include "data/epoch.h"
#include "estimator/loop/label_check.h"
#include "estimator/loop/step_runner.h"

namespace tandem {

// The replicas of a step that belong to this process.
struct ReplicaShare {
  int replicas = 1;  // replicas of a step, over all processes
  // The replicas of this process are [first, first + count).
  int first = 0, count = 1;
  int batches = 1;  // number of dataset batches that are joined to one replica's batch

  static ReplicaShare OneProcess(int replicas) { return {.replicas = replicas, .count = replicas}; }
};

// Each round has a batch for each replica, drawn in order from the dataset; with share.batches, a replica's batch is
// that many consecutive batches of the dataset, joined. At the end of the data the last replicas get batches of zero
// rows, so every example is used exactly once. Each process draws the batches of all replicas and keeps those of its
// own, so all processes have the same position in the data, whatever their number. Batches of other processes are not
// computed if the dataset knows their size.
class BatchDealer : public BatchSource {
 public:
  // The dataset must be batched (InvalidArgument otherwise). Also returns the dataset's own error.
  static absl::StatusOr<std::unique_ptr<BatchDealer>> Create(const Dataset& dataset, const ReplicaShare& share);

  absl::StatusOr<bool> Next(BatchRound* round) override;
  // Like Next, but if the input is at its end, also right after RestoreState, it is not started again: fills the round
  // with batches of zero rows.
  absl::StatusOr<bool> NextInPass(BatchRound* round);
  // Starts again from the beginning of the dataset.
  absl::Status StartAgain();
  bool Peek(BatchRound* round) override;
  bool ends_pass() override;
  // Returns the inside of a JSON object, without its braces:
  // {"elements":..,"slowest":"the slowest stage is ..","busy_seconds":{"0 Map (input.cc:31)":..}}.
  std::string TraceArgs() const override;

  // Returns the position in the dataset after the batches of all steps that were drawn so far.
  absl::StatusOr<std::string> SaveState() { return iterator_->SaveState(); }
  // Goes on from a saved position. If the input has ended there, because the run that saved it had used it up, the
  // first Next starts the dataset again.
  absl::Status RestoreState(absl::string_view state);
  // Makes the first Next after RestoreState report the end of the input instead of starting the dataset again.
  void KeepEnd() { restored_ = false; }

  void set_label_ranges(std::vector<LabelRange> ranges) { label_ranges_ = std::move(ranges); }

  const Dataset& dataset() const { return dataset_; }
  const std::vector<ComponentSpec>& spec() const { return dataset_.spec(); }
  // The largest batch of one replica in a step.
  int64_t batch_size() const { return share_.batches * dataset_.batch_size(); }
  std::string data_fingerprint() const { return dataset_.Fingerprint(); }
  // True if the dataset is known to have no end.
  bool infinite() const { return dataset_.cardinality() == kInfiniteCardinality; }
  // The length of an epoch in elements of the dataset. Errors: those of EpochOf.
  absl::StatusOr<EpochLength> epoch() const { return EpochOf(dataset_); }
  // The number of batches of the dataset that one step of all replicas takes.
  int64_t batches_per_round() const { return int64_t{share_.replicas} * share_.batches; }
  // The measured speed of the input's stages, over all iterators of the dataset.
  Throughput throughput() const { return dataset_.MeasuredThroughput(); }
  // CPU time of the pipeline's own threads, since the iterator was made.
  double ThreadCpuSeconds() const { return iterator_->ThreadCpuSeconds(); }
  // The number of batches drawn from the dataset so far, for all replicas.
  int64_t batches() const { return batches_; }

 private:
  BatchDealer(Dataset dataset, const ReplicaShare& share) : dataset_(std::move(dataset)), share_(share) {}
  bool IsMine(int replica) const { return replica >= share_.first && replica < share_.first + share_.count; }
  absl::Status CheckRanges(const Element& batch) const;
  // Draws the next batch of a replica, which is share.batches batches of the dataset, joined.
  absl::Status NextOf(int replica, Element* batch, bool* end);
  std::vector<HostTensor> EmptyBatch() const;

  Dataset dataset_;
  std::unique_ptr<Iterator> iterator_;
  const ReplicaShare share_;
  std::vector<LabelRange> label_ranges_;
  int64_t batches_ = 0;
  bool restored_ = false;
  // True if a pass over the data ended inside of the last round (the batches of a step), not with the round's last
  // batch.
  bool round_ends_pass_ = false;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_LOOP_BATCH_DEALER_H_

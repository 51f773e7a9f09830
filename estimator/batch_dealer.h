// Deals the batches of a dataset to the replicas of a step.
#ifndef TANDEM_ESTIMATOR_BATCH_DEALER_H_
#define TANDEM_ESTIMATOR_BATCH_DEALER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/dataset.h"
#include "data/epoch.h"
#include "estimator/label_check.h"
#include "estimator/step_runner.h"

namespace tandem {

// Which replicas of a step are this process's.
struct ReplicaShare {
  int replicas = 1;  // of all processes
  int first = 0, count = 1;
  int batches = 1;  // of each replica, which make one batch of a step

  static ReplicaShare OneProcess(int replicas) { return {.replicas = replicas, .count = replicas}; }
};

// A step takes as many consecutive batches as there are replicas, one each (or share.batches each, put together), in
// order. At the end of the data the last replicas get batches of zero rows: every example is used exactly once. Each
// process draws the batches of all replicas and keeps its own, so that all have one position in the data, whatever
// their number. Those of the others are not made where the dataset knows their size.
class BatchDealer : public BatchSource {
 public:
  // The dataset must be batched. InvalidArgument otherwise, or the dataset's own error.
  static absl::StatusOr<std::unique_ptr<BatchDealer>> Create(const Dataset& dataset, const ReplicaShare& share);

  absl::StatusOr<bool> Next(BatchRound* round) override;
  // The same, but where a restored position is the end of the data, that is the end. At the end the round has batches
  // of zero rows.
  absl::StatusOr<bool> NextInPass(BatchRound* round);
  // From the beginning of the dataset.
  absl::Status StartAgain();
  bool Peek(BatchRound* round) override;
  bool ends_pass() override;
  // {"elements":..,"slowest":"the slowest stage is ..","busy_seconds":{"0 Map (input.cc:31)":..}}, without the braces.
  std::string TraceArgs() const override;

  // The position after the rounds drawn so far.
  absl::StatusOr<std::string> SaveState() { return iterator_->SaveState(); }
  // Goes on from a saved position. When nothing is left there, because that run had used up its input, the first Next
  // starts the dataset again.
  absl::Status RestoreState(absl::string_view state);
  // Where nothing is left there, the first Next finds the end.
  void KeepEnd() { restored_ = false; }

  void set_label_ranges(std::vector<LabelRange> ranges) { label_ranges_ = std::move(ranges); }

  const Dataset& dataset() const { return dataset_; }
  const std::vector<ComponentSpec>& spec() const { return dataset_.spec(); }
  // Of a replica in a step.
  int64_t batch_size() const { return share_.batches * dataset_.batch_size(); }
  std::string data_fingerprint() const { return dataset_.Fingerprint(); }
  // Whether the dataset is known to have no end.
  bool infinite() const { return dataset_.cardinality() == kInfiniteCardinality; }
  // The length of an epoch in elements of the dataset, and how many of them a round takes. Errors: EpochOf.
  absl::StatusOr<EpochLength> epoch() const { return EpochOf(dataset_); }
  int64_t batches_per_round() const { return int64_t{share_.replicas} * share_.batches; }
  // How fast the input's stages have been, in all iterators of the dataset.
  Throughput throughput() const { return dataset_.MeasuredThroughput(); }
  // CPU time of the pipeline's own threads, since the iterator was made.
  double ThreadCpuSeconds() const { return iterator_->ThreadCpuSeconds(); }
  // Batches drawn so far, over all replicas.
  int64_t batches() const { return batches_; }

 private:
  BatchDealer(Dataset dataset, const ReplicaShare& share) : dataset_(std::move(dataset)), share_(share) {}
  bool IsMine(int replica) const { return replica >= share_.first && replica < share_.first + share_.count; }
  absl::Status CheckRanges(const Element& batch) const;
  // The next batch of a replica, of share.batches of the dataset's.
  absl::Status NextOf(int replica, Element* batch, bool* end);
  std::vector<HostTensor> EmptyBatch() const;

  Dataset dataset_;
  std::unique_ptr<Iterator> iterator_;
  const ReplicaShare share_;
  std::vector<LabelRange> label_ranges_;
  int64_t batches_ = 0;
  bool restored_ = false;
  bool round_ends_pass_ = false;  // by a batch of the last round that others of the round follow
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_BATCH_DEALER_H_

#include "data/dataset.h"

#include "data/node.h"
#include "data/pipeline_iterator.h"
#include "data/stages.h"

namespace tandem {

using data_internal::NodePtr;

Dataset Dataset::Of(absl::StatusOr<NodePtr> node, const char* op, SourceLocation location) {
  if (!node.ok()) return Dataset(nullptr, data_internal::Annotate(node.status(), op, location));
  return Dataset(*std::move(node), absl::OkStatus());
}

Dataset Dataset::FromTensorSlices(Slices tensors, SourceLocation location) {
  return FromTensorSlices(std::move(tensors), nullptr, location);
}

Dataset Dataset::FromTensorSlices(Slices tensors, WaitForRows wait_for_rows, SourceLocation location) {
  return Of(data_internal::MakeSlices(std::move(tensors), std::move(wait_for_rows), location), "FromTensorSlices",
            location);
}

Dataset Dataset::Range(int64_t n, SourceLocation location) {
  return Of(data_internal::MakeRange(n), "Range", location);
}

Dataset Dataset::TFRecord(std::vector<std::string> files, RecordOptions options, SourceLocation location) {
  return Of(data_internal::MakeTFRecord(std::move(files), options), "TFRecord", location);
}

Dataset Dataset::Map(MapFn fn, MapOptions options, SourceLocation location) const {
  if (!status_.ok()) return *this;
  return Of(data_internal::MakeMap(node_, std::move(fn), std::move(options), location), "Map", location);
}

Dataset Dataset::ParseExample(std::vector<FeatureSpec> features, ParseExampleOptions options,
                              SourceLocation location) const {
  if (!status_.ok()) return *this;
  return Of(data_internal::MakeParseExample(node_, std::move(features), options, location), "ParseExample", location);
}

Dataset Dataset::Shuffle(int64_t buffer_size, ShuffleOptions options, SourceLocation location) const {
  if (!status_.ok()) return *this;
  return Of(data_internal::MakeShuffle(node_, buffer_size, options), "Shuffle", location);
}

Dataset Dataset::Repeat(int64_t count, SourceLocation location) const {
  if (!status_.ok()) return *this;
  return Of(data_internal::MakeRepeat(node_, count), "Repeat", location);
}

Dataset Dataset::ShuffleAndRepeat(int64_t buffer_size, int64_t count, ShuffleOptions options,
                                  SourceLocation location) const {
  return Shuffle(buffer_size, options, location).Repeat(count, location);
}

Dataset Dataset::Batch(int64_t batch_size, BatchOptions options, SourceLocation location) const {
  if (!status_.ok()) return *this;
  return Of(data_internal::MakeBatch(node_, batch_size, options, location), "Batch", location);
}

Dataset Dataset::Prefetch(int64_t buffer_size, SourceLocation location) const {
  if (!status_.ok()) return *this;
  return Of(data_internal::MakePrefetch(node_, buffer_size), "Prefetch", location);
}

Dataset Dataset::Shard(int64_t num_shards, int64_t index, SourceLocation location) const {
  if (!status_.ok()) return *this;
  return Of(data_internal::MakeShard(node_, num_shards, index), "Shard", location);
}

Dataset Dataset::Take(int64_t count, SourceLocation location) const {
  if (!status_.ok()) return *this;
  return Of(data_internal::MakeTake(node_, count), "Take", location);
}

Dataset Dataset::Skip(int64_t count, SourceLocation location) const {
  if (!status_.ok()) return *this;
  return Of(data_internal::MakeSkip(node_, count), "Skip", location);
}

const std::vector<ComponentSpec>& Dataset::spec() const {
  static const auto* const kNone = new std::vector<ComponentSpec>;
  return node_ ? node_->info().spec : *kNone;
}

int64_t Dataset::batch_size() const { return node_ ? node_->info().batch_size : 0; }

int64_t Dataset::cardinality() const { return node_ ? node_->info().cardinality : 0; }

std::string Dataset::Signature() const { return node_ ? node_->Signature(/*batch_sizes=*/false) : ""; }

std::string Dataset::Fingerprint() const { return node_ ? node_->Fingerprint() : ""; }

absl::StatusOr<std::unique_ptr<Iterator>> Dataset::MakeIterator() const {
  if (!status_.ok()) return status_;
  return std::unique_ptr<Iterator>(std::make_unique<data_internal::PipelineIterator>(node_));
}

}  // namespace tandem

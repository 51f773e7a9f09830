#include "data/dataset.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "data/file_shard.h"
#include "data/list_files.h"
#include "data/measured_node.h"
#include "data/node.h"
#include "data/pipeline_iterator.h"
#include "data/stages.h"

namespace tandem {
namespace {

using Files = std::vector<std::string>;

// Restricts `files` to those that this worker reads (FileShardScope), and returns the stage that `make` makes of them.
template <typename Make>
absl::StatusOr<data_internal::NodePtr> OfShard(Files files, Make make) {
  TD_ASSIGN_OR_RETURN(Files mine, FilesOfShard(std::move(files)));
  return make(std::move(mine));
}

}  // namespace

using data_internal::NodePtr;

Dataset Dataset::Of(absl::StatusOr<NodePtr> node, const char* op, SourceLocation location) {
  if (!node.ok()) return Dataset(nullptr, data_internal::Annotate(node.status(), op, location));
  return Dataset(data_internal::Measured(*std::move(node), op, location), absl::OkStatus());
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
  const size_t count = files.size();
  const auto make = [&](Files mine) { return data_internal::MakeTFRecord(std::move(mine), options); };
  return NoteShard(Of(OfShard(std::move(files), make), "TFRecord", location), count);
}

Dataset Dataset::TextLine(std::vector<std::string> files, TextLineOptions options, SourceLocation location) {
  const size_t count = files.size();
  const auto make = [&](Files mine) { return data_internal::MakeTextLine(std::move(mine), options); };
  return NoteShard(Of(OfShard(std::move(files), make), "TextLine", location), count);
}

Dataset Dataset::Csv(std::vector<std::string> files, std::vector<CsvColumn> columns, CsvOptions options,
                     SourceLocation location) {
  const size_t count = files.size();
  const auto make = [&](Files mine) { return data_internal::MakeCsv(std::move(mine), std::move(columns), options); };
  return NoteShard(Of(OfShard(std::move(files), make), "Csv", location), count);
}

Dataset Dataset::FixedLengthRecord(std::vector<std::string> files, FixedLengthOptions options,
                                   SourceLocation location) {
  const size_t count = files.size();
  const auto make = [&](Files mine) { return data_internal::MakeFixedLengthRecord(std::move(mine), options); };
  return NoteShard(Of(OfShard(std::move(files), make), "FixedLengthRecord", location), count);
}

Dataset Dataset::ListFiles(const std::vector<std::string>& patterns, ListFilesOptions options,
                           SourceLocation location) {
  if (patterns.empty())
    return Of(absl::InvalidArgumentError("there is no pattern; give at least one"), "ListFiles", location);
  std::vector<std::string> files;
  for (const std::string& pattern : patterns) {
    absl::StatusOr<std::vector<std::string>> matched = MatchFiles(pattern);
    if (!matched.ok()) return Of(matched.status(), "ListFiles", location);
    files.insert(files.end(), matched->begin(), matched->end());
  }
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  const size_t count = files.size();
  const Dataset sorted =
      NoteShard(Of(OfShard(std::move(files), data_internal::MakeFileNames), "ListFiles", location), count);
  return options.shuffle ? sorted.Shuffle(sorted.cardinality(), {.seed = options.seed}, location) : sorted;
}

Dataset Dataset::Idx(std::vector<std::string> files, IdxOptions options, SourceLocation location) {
  const size_t count = files.size();
  const auto make = [&](Files mine) { return data_internal::MakeIdx(std::move(mine), std::move(options)); };
  return NoteShard(Of(OfShard(std::move(files), make), "Idx", location), count);
}

Dataset Dataset::FromTensors(Slices tensors, SourceLocation location) {
  for (auto& [name, tensor] : tensors) {
    Shape shape = tensor.shape();
    shape.insert(shape.begin(), 1);
    tensor = tensor.Reshaped(std::move(shape));
  }
  return Of(data_internal::MakeSlices(std::move(tensors), nullptr, location), "FromTensors", location);
}

Dataset Dataset::FromGenerator(GeneratorFn fn, std::vector<ComponentSpec> spec, SourceLocation location) {
  return Of(data_internal::MakeGenerator(std::move(fn), std::move(spec), location), "FromGenerator", location);
}

Dataset Dataset::Zip(const std::vector<Dataset>& datasets, SourceLocation location) {
  std::vector<NodePtr> nodes;
  for (const Dataset& dataset : datasets) {
    if (!dataset.status().ok()) return dataset;
    nodes.push_back(dataset.node_);
  }
  if (absl::Status status = CheckZipOfShard(datasets); !status.ok()) return Of(status, "Zip", location);
  return Of(data_internal::MakeZip(std::move(nodes)), "Zip", location);
}

Dataset Dataset::Filter(PredicateFn predicate, SourceLocation location) const {
  if (!status_.ok()) return *this;
  return Of(data_internal::MakeFilter(node_, std::move(predicate), location), "Filter", location);
}

Dataset Dataset::TakeWhile(PredicateFn predicate, SourceLocation location) const {
  if (!status_.ok()) return *this;
  return Of(data_internal::MakeTakeWhile(node_, std::move(predicate), location), "TakeWhile", location);
}

Dataset Dataset::IgnoreErrors(IgnoreErrorsOptions options, SourceLocation location) const {
  if (!status_.ok()) return *this;
  return Of(data_internal::MakeIgnoreErrors(node_, options, location), "IgnoreErrors", location);
}

Dataset Dataset::Dedupe(KeyFn key, DedupeOptions options, SourceLocation location) const {
  if (!status_.ok()) return *this;
  return Of(data_internal::MakeDedupe(node_, std::move(key), options, location), "Dedupe", location);
}

Dataset Dataset::AssertCardinality(int64_t count, SourceLocation location) const {
  if (!status_.ok()) return *this;
  return Of(data_internal::MakeAssertCardinality(node_, count, location), "AssertCardinality", location);
}

Dataset Dataset::FlatMap(DatasetFn fn, SourceLocation location) const {
  if (!status_.ok()) return *this;
  const InterleaveOptions one = {.cycle_length = 1, .block_length = 1};
  return Of(data_internal::MakeInterleave(node_, std::move(fn), one, "FlatMap", location), "FlatMap", location);
}

Dataset Dataset::Interleave(DatasetFn fn, InterleaveOptions options, SourceLocation location) const {
  if (!status_.ok()) return *this;
  return Of(data_internal::MakeInterleave(node_, std::move(fn), options, "Interleave", location), "Interleave",
            location);
}

Dataset Dataset::Unbatch(SourceLocation location) const {
  if (!status_.ok()) return *this;
  return Of(data_internal::MakeUnbatch(node_, location), "Unbatch", location);
}

Dataset Dataset::Concatenate(const Dataset& other, SourceLocation location) const {
  if (!status_.ok()) return *this;
  if (!other.status_.ok()) return other;
  return Of(data_internal::MakeConcatenate(node_, other.node_), "Concatenate", location);
}

Dataset Dataset::Enumerate(int64_t start, const std::string& name, SourceLocation location) const {
  if (!status_.ok()) return *this;
  return Of(data_internal::MakeEnumerate(node_, start, name), "Enumerate", location);
}

Dataset Dataset::Scan(Element initial, ScanFn fn, std::vector<ComponentSpec> spec, SourceLocation location) const {
  if (!status_.ok()) return *this;
  return Of(data_internal::MakeScan(node_, std::move(initial), std::move(fn), std::move(spec), location), "Scan",
            location);
}

Dataset Dataset::Window(DatasetWindowOptions options, SourceLocation location) const {
  if (!status_.ok()) return *this;
  return Of(data_internal::MakeWindow(node_, options, location), "Window", location);
}

Dataset Dataset::Cache(CacheOptions options, SourceLocation location) const {
  if (!status_.ok()) return *this;
  return Of(data_internal::MakeCache(node_, options, location), "Cache", location);
}

Dataset Dataset::PaddedBatch(int64_t batch_size, PaddedBatchOptions options, SourceLocation location) const {
  if (!status_.ok()) return *this;
  return Of(data_internal::MakePaddedBatch(node_, nullptr, {}, {batch_size}, std::move(options), location),
            "PaddedBatch", location);
}

Dataset Dataset::BucketBySequenceLength(LengthFn length, std::vector<int64_t> boundaries,
                                        std::vector<int64_t> batch_sizes, PaddedBatchOptions options,
                                        SourceLocation location) const {
  if (!status_.ok()) return *this;
  if (!length) return Of(absl::InvalidArgumentError("the function is null"), "BucketBySequenceLength", location);
  return Of(data_internal::MakePaddedBatch(node_, std::move(length), std::move(boundaries), std::move(batch_sizes),
                                           std::move(options), location),
            "BucketBySequenceLength", location);
}

Dataset Dataset::Map(MapFn fn, MapOptions options, SourceLocation location) const {
  if (!status_.ok()) return *this;
  return Of(data_internal::MakeMap(node_, std::move(fn), std::move(options), "Map", "map", location), "Map", location);
}

Dataset Dataset::MapInto(MapIntoFn fn, MapOptions options, SourceLocation location) const {
  if (!status_.ok()) return *this;
  return Of(data_internal::MakeMapInto(node_, std::move(fn), std::move(options), location), "MapInto", location);
}

Dataset Dataset::ParseExample(std::vector<FeatureSpec> features, ParseExampleOptions options,
                              SourceLocation location) const {
  if (!status_.ok()) return *this;
  return Of(data_internal::MakeParseExample(node_, std::move(features), options, location), "ParseExample", location);
}

Dataset Dataset::ParseSequenceExample(std::vector<FeatureSpec> context, std::vector<FeatureSpec> sequence,
                                      ParseExampleOptions options, SourceLocation location) const {
  if (!status_.ok()) return *this;
  return Of(data_internal::MakeParseSequenceExample(node_, std::move(context), std::move(sequence), options, location),
            "ParseSequenceExample", location);
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

Dataset Dataset::Parts(int64_t count, SourceLocation location) const {
  if (!status_.ok()) return *this;
  return Of(data_internal::MakeParts(node_, count, location), "Parts", location);
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

Throughput Dataset::MeasuredThroughput() const {
  return node_ ? data_internal::ThroughputOf(node_->info().stages) : Throughput();
}

std::string Dataset::Describe() const {
  return node_ ? MeasuredThroughput().ToString() : std::string(status_.message());
}

}  // namespace tandem

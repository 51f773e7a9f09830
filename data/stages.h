// Functions that make the stages, one for each Dataset method. Their errors do not name the caller's source line;
// Dataset adds it.
#ifndef TANDEM_DATA_STAGES_H_
#define TANDEM_DATA_STAGES_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/source_location.h"
#include "data/dataset.h"
#include "data/node.h"

namespace tandem::data_internal {

// Returns the private node of a Dataset that is passed as an argument.
struct DatasetAccess {
  static const NodePtr& Node(const Dataset& dataset) { return dataset.node_; }
};

absl::StatusOr<NodePtr> MakeSlices(Dataset::Slices tensors, Dataset::WaitForRows wait_for_rows,
                                   SourceLocation location);
absl::StatusOr<NodePtr> MakeRange(int64_t n);
// Makes a source of file names for stages that read the files, so that the files' contents are part of the fingerprint.
absl::StatusOr<NodePtr> MakeFileNames(std::vector<std::string> files);
absl::StatusOr<NodePtr> MakeTFRecord(std::vector<std::string> files, RecordOptions options);
absl::StatusOr<NodePtr> MakeTextLine(std::vector<std::string> files, TextLineOptions options);
absl::StatusOr<NodePtr> MakeCsv(std::vector<std::string> files, std::vector<CsvColumn> columns, CsvOptions options);
absl::StatusOr<NodePtr> MakeFixedLengthRecord(std::vector<std::string> files, FixedLengthOptions options);
absl::StatusOr<NodePtr> MakeIdx(std::vector<std::string> files, IdxOptions options);
absl::StatusOr<NodePtr> MakeGenerator(Dataset::GeneratorFn fn, std::vector<ComponentSpec> spec,
                                      SourceLocation location);
absl::StatusOr<NodePtr> MakeZip(std::vector<NodePtr> children);
absl::StatusOr<NodePtr> MakeConcatenate(NodePtr first, NodePtr second);
absl::StatusOr<NodePtr> MakeEnumerate(NodePtr child, int64_t start, const std::string& name);
absl::StatusOr<NodePtr> MakeFilter(NodePtr child, Dataset::PredicateFn predicate, SourceLocation location);
absl::StatusOr<NodePtr> MakeTakeWhile(NodePtr child, Dataset::PredicateFn predicate, SourceLocation location);
absl::StatusOr<NodePtr> MakeIgnoreErrors(NodePtr child, IgnoreErrorsOptions options, SourceLocation location);
absl::StatusOr<NodePtr> MakeDedupe(NodePtr child, Dataset::KeyFn key, DedupeOptions options, SourceLocation location);
absl::StatusOr<NodePtr> MakeAssertCardinality(NodePtr child, int64_t count, SourceLocation location);
// Makes Interleave, and FlatMap as an Interleave of one dataset at a time. Errors name `op`.
absl::StatusOr<NodePtr> MakeInterleave(NodePtr child, Dataset::DatasetFn fn, InterleaveOptions options, const char* op,
                                       SourceLocation location);
absl::StatusOr<NodePtr> MakeUnbatch(NodePtr child, SourceLocation location);
absl::StatusOr<NodePtr> MakeScan(NodePtr child, Element initial, Dataset::ScanFn fn, std::vector<ComponentSpec> spec,
                                 SourceLocation location);
// Returns an error if the child's elements cannot be made from their tokens alone. Stages that buffer tokens call it.
absl::Status CheckKeepsTokens(const Node& child);
absl::StatusOr<NodePtr> MakeWindow(NodePtr child, DatasetWindowOptions options, SourceLocation location);
absl::StatusOr<NodePtr> MakeCache(NodePtr child, const CacheOptions& options, SourceLocation location);
// Makes BucketBySequenceLength, or PaddedBatch if `length` is empty: then there is one bucket with the batch size
// sizes[0].
absl::StatusOr<NodePtr> MakePaddedBatch(NodePtr child, Dataset::LengthFn length, std::vector<int64_t> boundaries,
                                        std::vector<int64_t> sizes, PaddedBatchOptions options,
                                        SourceLocation location);
// Makes a stage that applies `fn` to every element. Errors name `op`, and signatures name `name`. `cache_settings` are
// settings that the result of `fn` depends on.
absl::StatusOr<NodePtr> MakeMap(NodePtr child, Dataset::MapFn fn, MapOptions options, const char* op, const char* name,
                                SourceLocation location, absl::string_view cache_settings = "");
absl::StatusOr<NodePtr> MakeMapInto(NodePtr child, Dataset::MapIntoFn fn, MapOptions options, SourceLocation location);
// InvalidArgument for a type that no tensor can have, and for two components with the same name.
absl::Status CheckMapSpec(const std::vector<ComponentSpec>& spec);
absl::StatusOr<NodePtr> MakeParseSequenceExample(NodePtr child, std::vector<FeatureSpec> context,
                                                 std::vector<FeatureSpec> sequence, ParseExampleOptions options,
                                                 SourceLocation location);
absl::StatusOr<NodePtr> MakeParseExample(NodePtr child, std::vector<FeatureSpec> features, ParseExampleOptions options,
                                         SourceLocation location);
absl::StatusOr<NodePtr> MakeShuffle(NodePtr child, int64_t buffer_size, ShuffleOptions options);
absl::StatusOr<NodePtr> MakeRepeat(NodePtr child, int64_t count);
absl::StatusOr<NodePtr> MakeBatch(NodePtr child, int64_t batch_size, BatchOptions options, SourceLocation location);
absl::StatusOr<NodePtr> MakeParts(NodePtr child, int64_t parts, SourceLocation location);
absl::StatusOr<NodePtr> MakePrefetch(NodePtr child, int64_t buffer_size);
absl::StatusOr<NodePtr> MakeShard(NodePtr child, int64_t num_shards, int64_t index);
absl::StatusOr<NodePtr> MakeTake(NodePtr child, int64_t count);
absl::StatusOr<NodePtr> MakeSkip(NodePtr child, int64_t count);

}  // namespace tandem::data_internal

#endif  // TANDEM_DATA_STAGES_H_

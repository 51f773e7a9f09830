// Makers of the stages, one for each Dataset method. Errors do not name the caller's place yet.
#ifndef TANDEM_DATA_STAGES_H_
#define TANDEM_DATA_STAGES_H_

#include "absl/status/statusor.h"
#include "base/source_location.h"
#include "data/dataset.h"
#include "data/node.h"

namespace tandem::data_internal {

absl::StatusOr<NodePtr> MakeSlices(Dataset::Slices tensors, Dataset::WaitForRows wait_for_rows,
                                   SourceLocation location);
absl::StatusOr<NodePtr> MakeRange(int64_t n);
absl::StatusOr<NodePtr> MakeTFRecord(std::vector<std::string> files, RecordOptions options);
absl::StatusOr<NodePtr> MakeMap(NodePtr child, Dataset::MapFn fn, MapOptions options, SourceLocation location);
absl::StatusOr<NodePtr> MakeParseExample(NodePtr child, std::vector<FeatureSpec> features, ParseExampleOptions options,
                                         SourceLocation location);
absl::StatusOr<NodePtr> MakeShuffle(NodePtr child, int64_t buffer_size, ShuffleOptions options);
absl::StatusOr<NodePtr> MakeRepeat(NodePtr child, int64_t count);
absl::StatusOr<NodePtr> MakeBatch(NodePtr child, int64_t batch_size, BatchOptions options, SourceLocation location);
absl::StatusOr<NodePtr> MakePrefetch(NodePtr child, int64_t buffer_size);
absl::StatusOr<NodePtr> MakeShard(NodePtr child, int64_t num_shards, int64_t index);
absl::StatusOr<NodePtr> MakeTake(NodePtr child, int64_t count);
absl::StatusOr<NodePtr> MakeSkip(NodePtr child, int64_t count);

}  // namespace tandem::data_internal

#endif  // TANDEM_DATA_STAGES_H_

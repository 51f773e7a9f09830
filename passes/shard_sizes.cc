#include "passes/shard_sizes.h"

#include <algorithm>

namespace tandem {
namespace {

// Eight lanes keep 1 to 8 threads busy without a row of the gradient per example; big batches get sixteen.
constexpr int64_t kSmallLanes = 8, kBigLanes = 16, kBigBatch = 512;
// Larger shards leave the cache, smaller ones lose matmul efficiency (docs/performance.md).
constexpr int64_t kMaxShardRows = 32;

}  // namespace

ShardSizes ChooseShardSizes(int64_t batch, int64_t replicas, int64_t lanes, int64_t shard_rows) {
  int64_t odd = replicas;
  while (odd % 2 == 0) odd /= 2;
  int64_t global = batch * replicas;
  ShardSizes sizes;
  if (lanes > 0) {
    sizes.lanes = lanes;
  } else {
    sizes.lanes = (global >= kBigBatch ? kBigLanes : kSmallLanes) * odd;
    // No lane without a row, unless there are more replicas than rows.
    while (sizes.lanes > global && sizes.lanes % 2 == 0 && sizes.lanes > odd) sizes.lanes /= 2;
  }
  while (sizes.lanes % replicas != 0) sizes.lanes *= 2;
  int64_t lanes_per_replica = sizes.lanes / replicas;
  int64_t rows = std::max<int64_t>(1, (batch + lanes_per_replica - 1) / lanes_per_replica);
  int64_t max_rows = shard_rows > 0 ? shard_rows : kMaxShardRows;
  int64_t shards = (rows + max_rows - 1) / max_rows;
  sizes.shard_rows = (rows + shards - 1) / shards;
  // Whole shards: a library primitive that works on a full shard must not reach into the next lane's rows.
  sizes.rows_per_lane = shards * sizes.shard_rows;
  return sizes;
}

}  // namespace tandem

// How the global batch is cut into lanes and shards.
#ifndef TANDEM_PASSES_SHARD_SIZES_H_
#define TANDEM_PASSES_SHARD_SIZES_H_

#include <cstdint>

namespace tandem {

struct ShardSizes {
  int64_t lanes = 1;          // of the global batch: a power of two times the odd part of the number of replicas
  int64_t rows_per_lane = 1;  // capacity of a lane in examples: a multiple of shard_rows
  int64_t shard_rows = 1;     // examples that one kernel call sees at most
};

// `batch`: examples per replica. `lanes`, `shard_rows`: what the user asked for, 0 to choose. The choice of lanes
// depends on batch * replicas and on the odd part of `replicas` only, so that 1 x 128, 2 x 64 and 4 x 32 agree.
ShardSizes ChooseShardSizes(int64_t batch, int64_t replicas, int64_t lanes, int64_t shard_rows);

}  // namespace tandem

#endif  // TANDEM_PASSES_SHARD_SIZES_H_

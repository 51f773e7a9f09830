// InputContext: what an input_fn gets to know about its job.
#ifndef TANDEM_DATA_INPUT_CONTEXT_H_
#define TANDEM_DATA_INPUT_CONTEXT_H_

#include <cstdint>

#include "absl/status/statusor.h"

namespace tandem {

// Names and meaning as in tf.distribute.InputContext: an input_fn usually ends with
// dataset.Shard(context.num_input_pipelines, context.input_pipeline_id) before it shuffles.
struct InputContext {
  // Number of parts to divide the data into, and the part of this process, counted from 0. With RunConfig.auto_shard
  // kOff these are the number of workers and this worker's number. Otherwise 1 and 0: workers share one input, or files
  // are dealt out to them.
  int num_input_pipelines = 1;
  int input_pipeline_id = 0;
  // Replicas over all workers.
  int num_replicas_in_sync = 1;

  // Examples for each replica when one step takes `global_batch_size` of them.
  // InvalidArgument when the batch is not positive or cannot be split evenly.
  absl::StatusOr<int64_t> GetPerReplicaBatchSize(int64_t global_batch_size) const;
};

}  // namespace tandem

#endif  // TANDEM_DATA_INPUT_CONTEXT_H_

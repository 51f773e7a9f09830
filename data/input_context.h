// InputContext: what an input_fn is told about the job that it makes a dataset for.
#ifndef TANDEM_DATA_INPUT_CONTEXT_H_
#define TANDEM_DATA_INPUT_CONTEXT_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "tandem/base/api.h"

namespace TANDEM_API tandem {

// The names and meanings of the members are those of tf.distribute.InputContext. An input_fn usually ends with
// dataset.Shard(context.num_input_pipelines, context.input_pipeline_id) before it shuffles.
struct InputContext {
  // How many parts the data is divided into, and which part this process reads, counted from 0. With
  // RunConfig.auto_shard kOff these are the number of workers and this worker's number. Otherwise they are 1 and 0,
  // because workers share one input or each gets a share of the files.
  int num_input_pipelines = 1;
  int input_pipeline_id = 0;
  // The number of replicas (model copies) of all workers together.
  int num_replicas_in_sync = 1;

  // Examples for each replica when one step takes `global_batch_size` of them.
  // InvalidArgument when the batch is not positive or cannot be split evenly.
  absl::StatusOr<int64_t> GetPerReplicaBatchSize(int64_t global_batch_size) const;
};

}  // namespace tandem

#endif  // TANDEM_DATA_INPUT_CONTEXT_H_

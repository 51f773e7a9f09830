// AutoShard: how the workers of a cluster share an input.
#ifndef TANDEM_ESTIMATOR_CONFIG_AUTO_SHARD_H_
#define TANDEM_ESTIMATOR_CONFIG_AUTO_SHARD_H_

#include "absl/strings/string_view.h"
#include "tandem/base/api.h"

namespace TANDEM_API tandem {

// RunConfig.auto_shard.
enum class AutoShard {
  // input_fn gives every worker the whole input, and in each step every worker uses only the batches of its own
  // replicas. All workers have the same position in the input, so a training may go on with another number of workers,
  // and it computes the same bits as one process.
  kBatch,
  // input_fn gives every worker an input of its own, for example with
  // dataset.Shard(context.num_input_pipelines, context.input_pipeline_id). No worker draws batches that others take.
  // Inputs may end at different times: a worker that has no examples left takes part in the steps of the others with
  // empty batches. A checkpoint has the position of each input, so a training goes on from these positions only with
  // the same number of workers.
  kOff,
  // input_fn gives every worker the same input, and its files (data/file_shard.h) are dealt out: of n workers, worker i
  // reads the files i, i + n, i + 2n, ... Everything else is as with kOff. Evaluations share their input as with
  // kBatch.
  kFile,
};

// Returns "batch", "off" or "file".
constexpr absl::string_view Name(AutoShard auto_shard) {
  switch (auto_shard) {
    case AutoShard::kOff:
      return "off";
    case AutoShard::kFile:
      return "file";
    case AutoShard::kBatch:
      break;
  }
  return "batch";
}

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_CONFIG_AUTO_SHARD_H_

// AutoShard: how the workers of a cluster share an input.
#ifndef TANDEM_ESTIMATOR_AUTO_SHARD_H_
#define TANDEM_ESTIMATOR_AUTO_SHARD_H_

#include "absl/strings/string_view.h"

namespace tandem {

enum class AutoShard {
  // input_fn gives every worker the whole input, and each takes its own batches of every round. All have one position
  // in it, so that a training may go on with another number of workers, and its bits are those of one process.
  kBatch,
  // input_fn gives every worker an input of its own, such as
  // dataset.Shard(context.num_input_pipelines, context.input_pipeline_id): nothing is drawn that others take. Inputs
  // may end at different times: a worker that has no examples left takes part in the steps of the others without any.
  // A checkpoint has the position of each, so a training goes on at them with the same number of workers only.
  kOff,
  // input_fn gives every worker the same input, whose files (data/file_shard.h) are dealt out: worker i has every file
  // of number i, i + workers, ... Otherwise as kOff. Evaluations share their input as kBatch says.
  kFile,
};

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

#endif  // TANDEM_ESTIMATOR_AUTO_SHARD_H_

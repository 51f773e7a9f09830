// Reads a model from a checkpoint and the program that was compiled beside it.
#ifndef TANDEM_ESTIMATOR_SERVING_CHECKPOINT_PARTS_H_
#define TANDEM_ESTIMATOR_SERVING_CHECKPOINT_PARTS_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/env.h"
#include "estimator/serving/model_maker.h"

namespace tandem {

// True if `path` is a checkpoint or a model_dir that says which of its checkpoints is the newest.
bool HasCheckpoint(Env* env, const std::string& path);

// Reads a checkpoint, or the newest one of a model_dir, and the newest program of mode predict in the model_dir's
// folder `compiled` that has its variables. With `averages`, variables that have a moving average get its value.
// Errors: those of LoadModel.
absl::StatusOr<ModelMaker::Parts> PartsOfCheckpoint(Env* env, const std::string& path, bool averages);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_SERVING_CHECKPOINT_PARTS_H_

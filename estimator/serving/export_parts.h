// Reads an exported model.
#ifndef TANDEM_ESTIMATOR_SERVING_EXPORT_PARTS_H_
#define TANDEM_ESTIMATOR_SERVING_EXPORT_PARTS_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/env.h"
#include "estimator/serving/model_maker.h"

namespace tandem {

// Reads the exported model in `dir` and compares all of its bytes with their checksums. Errors: those of LoadModel.
absl::StatusOr<ModelMaker::Parts> PartsOfExport(Env* env, const std::string& dir);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_SERVING_EXPORT_PARTS_H_

// Mode: the purpose for which a model_fn builds its graph.
#ifndef TANDEM_ESTIMATOR_CONFIG_MODE_H_
#define TANDEM_ESTIMATOR_CONFIG_MODE_H_

#include "tandem/base/api.h"

namespace TANDEM_API tandem {

// The argument of a model_fn.
enum class Mode { kTrain, kEval, kPredict };

// Returns "train", "eval" or "predict": the names used in executables and log lines.
inline const char* ModeName(Mode mode) {
  switch (mode) {
    case Mode::kTrain:
      return "train";
    case Mode::kEval:
      return "eval";
    case Mode::kPredict:
      return "predict";
  }
  return "unknown";
}

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_CONFIG_MODE_H_

// Options and result of loading weights.
#ifndef TANDEM_ESTIMATOR_KERAS_FILES_LOAD_WEIGHTS_H_
#define TANDEM_ESTIMATOR_KERAS_FILES_LOAD_WEIGHTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tandem/base/api.h"

namespace TANDEM_API tandem {
namespace keras {

struct LoadWeightsOptions {
  // Match layers by name, in any order, and ignore layers that only the file or only the model has. If false, the
  // layers of the file that have weights must match those of the model one by one, in order.
  bool by_name = false;
  // A weight whose shape differs keeps its value, and a warning lists all of them. If false, such weights are an error.
  bool skip_mismatch = false;
};

struct LoadReport {
  int64_t loaded = 0;  // number of weights that were loaded from the file
  // These have a line for each weight with its layer, the layer's line in the program, Tandem's variable and the path
  // in the file. `missing` and `superfluous` are filled with by_name only, `mismatched` with skip_mismatch only;
  // without these options such weights are errors.
  std::vector<std::string> missing, superfluous, mismatched;
};

}  // namespace keras
}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_KERAS_FILES_LOAD_WEIGHTS_H_

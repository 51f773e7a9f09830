// Options and result of loading weights.
#ifndef TANDEM_ESTIMATOR_KERAS_FILES_LOAD_WEIGHTS_H_
#define TANDEM_ESTIMATOR_KERAS_FILES_LOAD_WEIGHTS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace tandem::keras {

struct LoadWeightsOptions {
  // Match layers by name, in any order: layers that only the file or only the model has are ignored. Otherwise all
  // layers with weights in the file must match all of the model's, in order.
  bool by_name = false;
  // Keep the values of weights whose shapes differ, with a warning that lists them; otherwise they are an error.
  bool skip_mismatch = false;
};

struct LoadReport {
  int64_t loaded = 0;  // number of weights that were loaded from the file
  // A line for each weight, with the layer, its line in the program, Tandem's variable and the file's path. The first
  // two are filled with by_name only, the last with skip_mismatch only; otherwise such weights are errors.
  std::vector<std::string> missing, superfluous, mismatched;
};

}  // namespace tandem::keras

#endif  // TANDEM_ESTIMATOR_KERAS_FILES_LOAD_WEIGHTS_H_

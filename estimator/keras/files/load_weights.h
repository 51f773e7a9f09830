// What loading weights takes and says.
#ifndef TANDEM_ESTIMATOR_KERAS_FILES_LOAD_WEIGHTS_H_
#define TANDEM_ESTIMATOR_KERAS_FILES_LOAD_WEIGHTS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace tandem::keras {

struct LoadWeightsOptions {
  // By the layers' names, whatever their order: layers that only the file or only the model has are passed over.
  // Otherwise all of the file's layers that have weights belong to all of the model's, in their order.
  bool by_name = false;
  // Weights whose shapes differ keep their values, with a warning that lists them; otherwise they are an error.
  bool skip_mismatch = false;
};

struct LoadReport {
  int64_t loaded = 0;  // weights that have values of the file now
  // A line for each, with the layer, its line in the program, Tandem's variable and the file's path. The first two are
  // of by_name, the last of skip_mismatch; otherwise they are errors.
  std::vector<std::string> missing, superfluous, mismatched;
};

}  // namespace tandem::keras

#endif  // TANDEM_ESTIMATOR_KERAS_FILES_LOAD_WEIGHTS_H_

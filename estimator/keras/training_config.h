// What a model was compiled with, as Keras' JSON and back. Internal to estimator/keras.
#ifndef TANDEM_ESTIMATOR_KERAS_TRAINING_CONFIG_H_
#define TANDEM_ESTIMATOR_KERAS_TRAINING_CONFIG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/source_location.h"
#include "estimator/keras/model.h"
#include "nlohmann/json.hpp"

namespace tandem::keras {

struct ConfigOutput {
  std::string name;
  int64_t size = 0;  // of its last dimension
};

// The attribute "training_config" of Keras 2.15's files. `rate`: of now, where it is a number. InvalidArgument says
// what has no name that a file could have.
absl::StatusOr<nlohmann::ordered_json> TrainingConfigOf(const CompileOptions& options,
                                                        const std::vector<ConfigOutput>& outputs,
                                                        std::optional<double> rate);

// Of that attribute in files of Keras 2.0 to 3, and of "compile_config" in .keras. `outputs`: the names of the model's
// outputs, in order. InvalidArgument says what is not known.
absl::StatusOr<CompileOptions> CompileOptionsOf(const nlohmann::ordered_json& config,
                                                const std::vector<std::string>& outputs, SourceLocation loc);

}  // namespace tandem::keras

#endif  // TANDEM_ESTIMATOR_KERAS_TRAINING_CONFIG_H_

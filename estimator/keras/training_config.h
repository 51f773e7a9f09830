// Converts the arguments of Compile to Keras' JSON and back. Internal to estimator/keras.
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
  int64_t size = 0;  // the last dimension of the output's shape
};

// Returns the attribute "training_config" of Keras 2.15's files. `rate` is the current learning rate, if it is a
// number. InvalidArgument names what a file cannot express because it has no name.
absl::StatusOr<nlohmann::ordered_json> TrainingConfigOf(const CompileOptions& options,
                                                        const std::vector<ConfigOutput>& outputs,
                                                        std::optional<double> rate);

// Converts the attribute "training_config" of files of Keras 2.0 to 3, or "compile_config" of .keras files, to the
// arguments of Compile. `outputs` are the names of the model's outputs, in order. InvalidArgument says what is unknown.
absl::StatusOr<CompileOptions> CompileOptionsOf(const nlohmann::ordered_json& config,
                                                const std::vector<std::string>& outputs, SourceLocation loc);

}  // namespace tandem::keras

#endif  // TANDEM_ESTIMATOR_KERAS_TRAINING_CONFIG_H_

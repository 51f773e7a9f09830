// Converts a model to Keras' JSON and back. Internal to the Keras frontend.
#ifndef TANDEM_FRONTENDS_KERAS_MODEL_CONFIG_H_
#define TANDEM_FRONTENDS_KERAS_MODEL_CONFIG_H_

#include <memory>

#include "absl/status/statusor.h"
#include "base/source_location.h"
#include "frontends/keras/layer_config.h"
#include "frontends/keras/network.h"

namespace tandem::keras {

// Returns {"class_name": "Functional", "config": ...}, as Keras 2.15 writes it. Returns an error for a layer that a
// file cannot describe, and for a model that is not connected.
absl::StatusOr<Json> ModelToConfig(const NetworkImpl& model);

// Makes a model from a config that Keras 2.0 to 3 wrote. The layers get their names from the config, but no values of
// weights. InvalidArgument lists all unknown classes, or names the layer whose config cannot be read.
absl::StatusOr<std::shared_ptr<NetworkImpl>> ModelFromConfig(const Json& json, SourceLocation loc);

}  // namespace tandem::keras

#endif  // TANDEM_FRONTENDS_KERAS_MODEL_CONFIG_H_

// A model as Keras' JSON, and a model from it. Internal to the Keras frontend.
#ifndef TANDEM_FRONTENDS_KERAS_MODEL_CONFIG_H_
#define TANDEM_FRONTENDS_KERAS_MODEL_CONFIG_H_

#include <memory>

#include "absl/status/statusor.h"
#include "base/source_location.h"
#include "frontends/keras/layer_config.h"
#include "frontends/keras/network.h"

namespace tandem::keras {

// {"class_name": "Functional", "config": ...}, as Keras 2.15 writes it. The error of a layer that a file cannot have,
// or of a model that is not connected.
absl::StatusOr<Json> ModelToConfig(const NetworkImpl& model);

// Of a config by Keras 2.0 to 3. The layers have their names from it, and no values. InvalidArgument lists all classes
// that are not known, or says which layer's config is not understood.
absl::StatusOr<std::shared_ptr<NetworkImpl>> ModelFromConfig(const Json& json, SourceLocation loc);

}  // namespace tandem::keras

#endif  // TANDEM_FRONTENDS_KERAS_MODEL_CONFIG_H_

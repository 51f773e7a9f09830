// Makes parts of layers from their descriptions in model files.
#ifndef TANDEM_FRONTENDS_PARTS_FROM_CONFIG_H_
#define TANDEM_FRONTENDS_PARTS_FROM_CONFIG_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "frontends/activations.h"
#include "frontends/initializers.h"
#include "frontends/part_config.h"
#include "frontends/regularizers.h"

namespace tandem {

// Makes an initialiser from Keras' class, or from a name that InitializerFn accepts; missing values have Keras'
// defaults. InvalidArgument for an unknown class, with the known ones, and for a value of the wrong type or size.
// Unknown keys are ignored with a line in the log. A seed is ignored: random numbers depend on the variable's name and
// the run's seed.
absl::StatusOr<initializers::InitializerFn> InitializerFromConfig(const PartConfig& config);
// InvalidArgument, with the known names, for a name that Activation does not accept.
absl::StatusOr<Activation> ActivationByName(absl::string_view name);
// Makes a regulariser as InitializerFromConfig makes an initialiser. The classes are L1, L2 and L1L2.
absl::StatusOr<Regularizer> RegularizerFromConfig(const PartConfig& config);

}  // namespace tandem

#endif  // TANDEM_FRONTENDS_PARTS_FROM_CONFIG_H_

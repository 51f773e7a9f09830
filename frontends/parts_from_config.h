// Parts of layers by what a model file says of them.
#ifndef TANDEM_FRONTENDS_PARTS_FROM_CONFIG_H_
#define TANDEM_FRONTENDS_PARTS_FROM_CONFIG_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "frontends/activations.h"
#include "frontends/initializers.h"
#include "frontends/part_config.h"
#include "frontends/regularizers.h"

namespace tandem {

// An initialiser by Keras' class, or by a name that InitializerFn takes; what its values leave out has Keras' default.
// InvalidArgument for a class that is not known, with those that are, and for a value of the wrong type or size. Keys
// that are not known are ignored with a line in the log. A seed is ignored: random numbers are keyed by the variable's
// name and the run's seed.
absl::StatusOr<initializers::InitializerFn> InitializerFromConfig(const PartConfig& config);
// InvalidArgument, with the names that there are, for one that Activation does not take.
absl::StatusOr<Activation> ActivationByName(absl::string_view name);
// As InitializerFromConfig: L1, L2 and L1L2.
absl::StatusOr<Regularizer> RegularizerFromConfig(const PartConfig& config);

}  // namespace tandem

#endif  // TANDEM_FRONTENDS_PARTS_FROM_CONFIG_H_

// Makes a Gloo context: connections over TCP between all processes of a group.
#ifndef TANDEM_RUNTIME_COLLECTIVES_GLOO_CONNECTION_H_
#define TANDEM_RUNTIME_COLLECTIVES_GLOO_CONNECTION_H_

#include <memory>

#include "absl/status/statusor.h"
#include "runtime/collectives/gloo_group.h"

namespace gloo {
class Context;
}  // namespace gloo

namespace tandem {

// Connects the ranks over TCP. Errors are those of ConnectGloo.
absl::StatusOr<std::shared_ptr<gloo::Context>> ConnectGlooContext(const ConnectOptions& options);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COLLECTIVES_GLOO_CONNECTION_H_

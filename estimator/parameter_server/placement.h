// Tells on which parameter server each variable is, from a compiled part of the step.
#ifndef TANDEM_ESTIMATOR_PARAMETER_SERVER_PLACEMENT_H_
#define TANDEM_ESTIMATOR_PARAMETER_SERVER_PLACEMENT_H_

#include <vector>

#include "graph/parameter_servers.h"
#include "runtime/executable/executable.h"

namespace tandem {

std::vector<PlacedPart> PlacementOf(const Executable& program);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_PARAMETER_SERVER_PLACEMENT_H_

// Inputs for an executable that nobody gave any.
#ifndef TANDEM_TOOLS_RUN_RANDOM_INPUTS_H_
#define TANDEM_TOOLS_RUN_RANDOM_INPUTS_H_

#include <cstdint>
#include <string>

#include "base/host_tensor.h"

namespace tandem {

// Floating point: uniform in [0, 1). Integers: 0 to 9. Booleans: either. A function of all arguments; `name` and
// `step` keep tensors of one run apart.
HostTensor RandomInput(const std::string& name, DType dtype, const Shape& shape, uint64_t seed, int64_t step);

}  // namespace tandem

#endif  // TANDEM_TOOLS_RUN_RANDOM_INPUTS_H_

// Inputs for an executable that nobody gave any.
#ifndef TANDEM_TOOLS_RUN_RANDOM_INPUTS_H_
#define TANDEM_TOOLS_RUN_RANDOM_INPUTS_H_

#include <cstdint>

#include "base/host_tensor.h"
#include "runtime/format/index.h"

namespace tandem {

// For `input`, in `rows` rows. Floating point: uniform in [0, 1). Integers: any index where the program takes them as
// such, else 0 to 9. Booleans: either. A function of all arguments; the input's name and `step` keep tensors of one run
// apart.
HostTensor RandomInput(const format::Input& input, int64_t rows, uint64_t seed, int64_t step);

}  // namespace tandem

#endif  // TANDEM_TOOLS_RUN_RANDOM_INPUTS_H_

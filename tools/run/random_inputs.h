// Random inputs for an executable.
#ifndef TANDEM_TOOLS_RUN_RANDOM_INPUTS_H_
#define TANDEM_TOOLS_RUN_RANDOM_INPUTS_H_

#include <cstdint>

#include "base/host_tensor.h"
#include "runtime/format/index.h"

namespace tandem {

// Returns `rows` random rows for `input`. Floating-point numbers are uniform in [0, 1). Integers are any valid index if
// the program uses them as indices, otherwise 0 to 9. Booleans have both values. The result depends on all arguments:
// the input's name and `step` make the tensors of one run differ.
HostTensor RandomInput(const format::Input& input, int64_t rows, uint64_t seed, int64_t step);

}  // namespace tandem

#endif  // TANDEM_TOOLS_RUN_RANDOM_INPUTS_H_

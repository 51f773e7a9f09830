#ifndef TANDEM_RUNTIME_TESTING_LIBRARY_REFERENCE_H_
#define TANDEM_RUNTIME_TESTING_LIBRARY_REFERENCE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "runtime/format/index.h"

namespace tandem {

// Returns the first result of the call on a CPU, computed by a plain kernel and in float32 whatever its types are: not
// every CPU has bfloat16 products. `inputs` are of the call's types, as on a GPU (CheckGpuLibraryCall).
absl::StatusOr<std::vector<float>> RunInFloat32(format::LibraryCall call, const std::vector<const void*>& inputs);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_TESTING_LIBRARY_REFERENCE_H_

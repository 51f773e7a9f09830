// Measures the candidates of a library call on the device.
#ifndef TANDEM_RUNTIME_CUDA_AUTOTUNE_H_
#define TANDEM_RUNTIME_CUDA_AUTOTUNE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/cuda/driver_api.h"
#include "runtime/cuda/tunable_call.h"

namespace tandem {

// The fastest candidate of `call`, which is selected when this returns. Operands are memory of the given bytes, filled
// with a small number, allocated and freed again. A candidate that fails, or is hopeless in its first call, is passed
// over; ties go to the library's preference. Not during capture. Errors: those of the driver, and the first candidate's
// when all fail.
absl::StatusOr<int> SelectFastest(const DriverApi& driver, TunableCall& call, const std::vector<uint64_t>& input_bytes,
                                  const std::vector<uint64_t>& output_bytes);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_AUTOTUNE_H_

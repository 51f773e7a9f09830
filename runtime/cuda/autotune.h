// Measures the candidates of a library call on the device.
#ifndef TANDEM_RUNTIME_CUDA_AUTOTUNE_H_
#define TANDEM_RUNTIME_CUDA_AUTOTUNE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/cuda/driver_api.h"
#include "runtime/cuda/tunable_call.h"

namespace tandem {

// What measuring one library call may cost: later candidates, which the library thinks less of, are left out then.
inline constexpr float kMostTuningMilliseconds = 1000;

// The fastest candidate of `call`, which is selected when this returns. Operands are memory of the given bytes,
// allocated and freed again; inputs are random numbers between -1 and 1, in bfloat16 and in float32. A candidate that
// fails, or is hopeless in its first call, is passed over; ties go to the library's preference. Not during capture.
// Errors: those of the driver, and the first candidate's when all fail.
absl::StatusOr<int> SelectFastest(const DriverApi& driver, TunableCall& call, const std::vector<uint64_t>& input_bytes,
                                  const std::vector<uint64_t>& output_bytes,
                                  float most_milliseconds = kMostTuningMilliseconds);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_AUTOTUNE_H_

// Measures on the device the candidates of a library call: the algorithms or plans that can compute it.
#ifndef TANDEM_RUNTIME_CUDA_LIBRARIES_AUTOTUNE_H_
#define TANDEM_RUNTIME_CUDA_LIBRARIES_AUTOTUNE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/cuda/driver/driver_api.h"
#include "runtime/cuda/libraries/tunable_call.h"

namespace tandem {

// The most time that measuring one library call may take: later candidates, which the library prefers less, are left
// out then.
inline constexpr float kMostTuningMilliseconds = 1000;

// Measures the candidates of `call`, selects the fastest and returns it. Operands are memory of the given bytes,
// allocated and freed again; inputs are random numbers between -1 and 1, both when read as bfloat16 and as float32. A
// candidate that fails, or is far too slow in its first call, is skipped; ties go to the one that the library prefers.
// Must not be called during capture. Errors: those of the driver, and the first candidate's when all fail.
absl::StatusOr<int> SelectFastest(const DriverApi& driver, TunableCall& call, const std::vector<uint64_t>& input_bytes,
                                  const std::vector<uint64_t>& output_bytes,
                                  float most_milliseconds = kMostTuningMilliseconds);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_LIBRARIES_AUTOTUNE_H_

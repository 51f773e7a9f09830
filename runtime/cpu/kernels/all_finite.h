#ifndef TANDEM_RUNTIME_CPU_KERNELS_ALL_FINITE_H_
#define TANDEM_RUNTIME_CPU_KERNELS_ALL_FINITE_H_

#include <cstdint>

#include "base/dtype.h"

namespace tandem {

// True if all of `n` numbers are finite; always true for integers.
bool AllFinite(DType dtype, const void* data, int64_t n);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_KERNELS_ALL_FINITE_H_

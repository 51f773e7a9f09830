// A few small kernels for the conformance tests, written for each kind of device.
#ifndef TANDEM_RUNTIME_CONFORMANCE_CONFORMANCE_KERNELS_H_
#define TANDEM_RUNTIME_CONFORMANCE_CONFORMANCE_KERNELS_H_

#include <string>

#include "runtime/cuda/testing/fake_driver.h"
#include "runtime/testing/executable_builder.h"

namespace tandem {

struct ConformanceKernels {
  int affine = 0;      // kernel over rows: x [b,4], w [4] -> y [b,4] = x * w + index of the row
  int column_sum = 0;  // kernel over rows: y [b,4] -> sum [4]
  int column_max = 0;  // kernel over rows: y [b,4] -> max [4]
  int gather = 0;      // kernel over rows: k [b], table [n,4] -> y [b,4], whose row i is row k[i] of the table
  int total = 0;       // kernel that runs once: sum [4] -> total [1]
  int update = 0;      // kernel over elements: a, g, rate -> b = a - rate * g
};

ConformanceKernels AddConformanceKernels(ExecutableBuilder& builder);

std::string ConformanceKernelsIr();  // the kernels as LLVM IR, for a CPU
// the same kernels as PTX, for GPUs; sums run in one block and accept up to 128 rows
std::string ConformanceKernelsPtx();
void RegisterConformanceKernels(FakeDriver& driver);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CONFORMANCE_CONFORMANCE_KERNELS_H_

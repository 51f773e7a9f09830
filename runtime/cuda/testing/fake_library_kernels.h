// The library kernels in C++, for the fake driver.
#ifndef TANDEM_RUNTIME_CUDA_TESTING_FAKE_LIBRARY_KERNELS_H_
#define TANDEM_RUNTIME_CUDA_TESTING_FAKE_LIBRARY_KERNELS_H_

#include "runtime/cuda/testing/fake_driver.h"

namespace tandem {

void RegisterLibraryKernels(FakeDriver& driver);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_TESTING_FAKE_LIBRARY_KERNELS_H_

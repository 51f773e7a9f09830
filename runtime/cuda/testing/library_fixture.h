// One device of the fake driver, with a stream, memory and the kernels around library calls, and a runner of such
// calls.
#ifndef TANDEM_RUNTIME_CUDA_TESTING_LIBRARY_FIXTURE_H_
#define TANDEM_RUNTIME_CUDA_TESTING_LIBRARY_FIXTURE_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "runtime/cuda/libraries/library_calls.h"
#include "runtime/cuda/testing/fake_driver.h"
#include "runtime/cuda/testing/fake_library_kernels.h"

namespace tandem {

// Fake libraries are members of the classes derived from it, which make the runner once the libraries are there.
class LibraryFixture {
 protected:
  LibraryFixture() {
    RegisterLibraryKernels(fake);
    EXPECT_EQ(api.cuDevicePrimaryCtxRetain(&context, 0), 0);
    EXPECT_EQ(api.cuCtxSetCurrent(context), 0);
    EXPECT_EQ(api.cuStreamCreate(&stream, kCudaStreamNonBlocking), 0);
  }

  // To be called at the end of a test: frees everything, and expects that the driver has seen no violation.
  void Close() {
    runner.reset();
    FreeAll();
    api.cuStreamDestroy_v2(stream);
    api.cuDevicePrimaryCtxRelease_v2(0);
    EXPECT_EQ(absl::StrJoin(fake.TakeViolations(), "; "), "");
  }

  void MakeRunner(LibraryCallRunner::Options options = {}) {
    runner.reset();
    auto made = LibraryCallRunner::Create(&api, options);
    ASSERT_TRUE(made.ok()) << made.status();
    runner = *std::move(made);
  }

  CUdeviceptr Allocate(uint64_t bytes) {
    CUdeviceptr address = 0;
    EXPECT_EQ(api.cuMemAlloc_v2(&address, std::max<uint64_t>(bytes, 1)), 0);
    memory.push_back(address);
    return address;
  }
  void FreeAll() {
    fake.Drain();
    for (CUdeviceptr address : memory) api.cuMemFree_v2(address);
    memory.clear();
  }

  FakeDriver fake;
  const DriverApi& api = fake.api();
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  std::vector<CUdeviceptr> memory;
  std::unique_ptr<LibraryCallRunner> runner;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_TESTING_LIBRARY_FIXTURE_H_

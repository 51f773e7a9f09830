#include "runtime/cuda/driver/driver_api.h"

#include <cstdlib>

#include "absl/strings/match.h"
#include "base/exit_code.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

void ExpectUnusable(const absl::Status& status, const std::string& part) {
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_EQ(ExitCodeFor(status), kExitUsage);
  EXPECT_TRUE(absl::StrContains(status.message(), part)) << status;
}

CUresult g_init = kCudaSuccess;
int g_version = 13000, g_count = 1;

DriverApi Driver() {
  DriverApi driver;
  driver.cuInit = [](unsigned) { return g_init; };
  driver.cuDriverGetVersion = [](int* version) { return *version = g_version, kCudaSuccess; };
  driver.cuDeviceGetCount = [](int* count) { return *count = g_count, kCudaSuccess; };
  driver.cuGetErrorName = [](CUresult error, const char** name) {
    *name = error == kCudaOutOfMemory ? "CUDA_ERROR_OUT_OF_MEMORY" : nullptr;
    return kCudaSuccess;
  };
  driver.cuGetErrorString = [](CUresult, const char** text) { return *text = "a sentence", kCudaSuccess; };
  return driver;
}

TEST(DriverApiTest, SaysWhyThereIsNoDriver) {
  ExpectUnusable(BindDriver("libno_such_driver.so.1").status(), "there is no NVIDIA driver on this machine");
  ExpectUnusable(BindDriver("libm.so.6").status(), "too old: libm.so.6 has no cuInit");
}

TEST(DriverApiTest, SaysWhyADriverCannotBeUsed) {
  EXPECT_TRUE(InitDriver(Driver()).ok());
  g_version = 11080;
  ExpectUnusable(InitDriver(Driver()), "it is for CUDA 11.8, and CUDA 12.0 or newer is needed");
  g_version = 13000;

  g_init = kCudaNoDevice;
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  ExpectUnusable(InitDriver(Driver()), "CUDA_VISIBLE_DEVICES=\"\" leaves no GPU visible");
  unsetenv("CUDA_VISIBLE_DEVICES");
  ExpectUnusable(InitDriver(Driver()), "no NVIDIA GPU in this machine");
  g_init = kCudaSuccess;
  g_count = 0;
  ExpectUnusable(InitDriver(Driver()), "no NVIDIA GPU in this machine");
  g_count = 1;

  g_init = kCudaStubLibrary;
  ExpectUnusable(InitDriver(Driver()), "toolkit's stub");
  g_init = kCudaSystemDriverMismatch;
  ExpectUnusable(InitDriver(Driver()), "restart the machine");
  g_init = kCudaSuccess;
}

TEST(DriverApiTest, ErrorsSayTheCallAndTheKind) {
  const DriverApi driver = Driver();
  EXPECT_TRUE(CudaStatus(driver, kCudaSuccess, "cuInit(0)").ok());
  const absl::Status memory = CudaStatus(driver, kCudaOutOfMemory, "cuMemAlloc_v2(&address, bytes)");
  EXPECT_EQ(memory.message(), "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (a sentence, code 2)");
  EXPECT_EQ(memory.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ExitCodeFor(memory), kExitUsage);
  const absl::Status lost = CudaStatus(driver, kCudaEccUncorrectable, "cuStreamSynchronize(stream)");
  EXPECT_EQ(lost.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ExitCodeFor(lost), kExitTemporary);
  EXPECT_TRUE(absl::StrContains(lost.message(), "the GPU was lost")) << lost;
  EXPECT_EQ(CudaStatus(driver, kCudaIllegalAddress, "x()").code(), absl::StatusCode::kInternal);
  auto call = [&]() -> absl::Status {
    int count = 0;
    TD_CU(driver, cuDeviceGetCount(&count));
    TD_CU(driver, cuInit(count == 1 ? g_init : 0));
    return absl::OkStatus();
  };
  g_init = kCudaLaunchFailed;
  EXPECT_TRUE(absl::StrContains(call().message(), "cuInit: an unknown error"));
  g_init = kCudaSuccess;
}

TEST(DriverApiTest, ATestMayPutADriverInItsPlace) {
  const DriverApi driver = Driver();
  ScopedDriver scoped(&driver);
  auto loaded = LoadDriver();
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(*loaded, &driver);
}

}  // namespace
}  // namespace tandem

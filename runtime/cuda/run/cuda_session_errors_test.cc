// What goes wrong when a session is made and runs: devices that do not fit, calls that fail, GPUs that are lost.
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "runtime/cuda/run/cuda_device_class.h"
#include "runtime/cuda/testing/linear_job.h"

namespace tandem {
namespace {

TEST_F(CudaSessionTest, SaysWhatDoesNotFitTheDevices) {
  ExpectError(CreateError(8), kExitUsage, "device \"gpu:4\": gpu:4: there is no such device; there are gpu:0 to gpu:3");
  auto store = std::make_shared<VariableStore>(1);
  ASSERT_TRUE(store->Create({"other", DType::kFloat32, {1}}).ok());
  store->Buffer("other", 0);
  ExpectError(CreateError(1, store), kExitUsage, "in use by a program for cpu devices");
  store = std::make_shared<VariableStore>(1);
  auto session = Session::Create(CudaDeviceClass(), LinearModel(1), store, {.pool = std::make_shared<ThreadPool>(1)});
  ASSERT_TRUE(session.ok());
  ExpectError((*session)->Run(Inputs(Full(1), 1), {}).status(), kExitUsage, "variable w has no value");
  ExpectError((*session)->Run(Inputs(Full(2), 1), {}).status(), kExitUsage, "variable w has no value");
}

TEST_F(CudaSessionTest, AFailedCallEndsTheSessionWithoutLeaks) {
  // Every function that creating and running a session calls fails once, the first and the third time.
  const char* names[] = {"cuDevicePrimaryCtxRetain",   "cuMemAlloc_v2",      "cuMemHostAlloc", "cuModuleLoadDataEx",
                         "cuModuleGetFunction",        "cuStreamCreate",     "cuEventCreate",  "cuMemcpyHtoDAsync_v2",
                         "cuMemcpyDtoHAsync_v2",       "cuMemsetD32Async",   "cuLaunchKernel", "cuStreamQuery",
                         "cuStreamBeginCapture_v2",    "cuStreamEndCapture", "cuGraphLaunch",  "cuCtxSetCurrent",
                         "cuGraphInstantiateWithFlags"};
  int failed = 0;
  for (const char* name : names) {
    for (int n : {1, 3}) {
      fake.FailCall(name, kCudaLaunchFailed, n);
      auto store = std::make_shared<VariableStore>(1);
      absl::Status status;
      auto session =
          Session::Create(CudaDeviceClass(), LinearModel(1), store, {.pool = std::make_shared<ThreadPool>(1)});
      status.Update(session.status());
      if (session.ok()) {
        status.Update(store->Assign("w", Random({kIn}, 1)));
        status.Update(store->Assign("c", Random({}, 2)));
        for (uint32_t i = 0; i < 3 && status.ok(); ++i) {
          status.Update((*session)->Run(Inputs(Full(1), i), {kLoss}).status());
        }
        if (!status.ok() && absl::StrContains(status.message(), "half updated")) {
          EXPECT_EQ((*session)->Run(Inputs(Full(1), 1), {}).status(), status);  // for good
        }
      }
      if (!status.ok()) ++failed;
      if (n == 1 && !status.ok()) {
        EXPECT_TRUE(absl::StrContains(status.message(), "gpu:0")) << name << ": " << status;
      }
      session = absl::CancelledError();
      store.reset();
      EXPECT_EQ(fake.AllocatedBytes(0), 0u) << name;
      fake.FailCall(name, kCudaSuccess, 1);  // uses up what has not happened
    }
  }
  EXPECT_GE(failed, 25);
}

TEST_F(CudaSessionTest, ALostGpuIsTemporaryAndKeepsTheVariablesAway) {
  Job job = Start(1);
  ASSERT_TRUE(job.session->Run(Inputs(Full(1), 1), {}).ok());
  fake.FailWork("gradient", kCudaEccUncorrectable);
  absl::Status lost = job.session->Run(Inputs(Full(1), 2), {}).status();
  ExpectError(lost, kExitTemporary, "gpu:0 (Fake GPU): the GPU was lost: cuStreamQuery: CUDA_ERROR_ECC_UNCORRECTABLE");
  EXPECT_TRUE(absl::StrContains(lost.message(), "go on from the last checkpoint")) << lost;
  ExpectError(job.variables->Read("w").status(), kExitTemporary, "gpu:0: the GPU was lost");
}

TEST_F(CudaSessionTest, AHungGpuIsGivenUpAfterTheDeadline) {
  Job job = Start(1, {.deadline_seconds = 0.05});
  ASSERT_TRUE(job.session->Run(Inputs(Full(1), 1), {}).ok());
  fake.Hang(0);
  const absl::Status status = job.session->Run(Inputs(Full(1), 2), {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded) << status;
  ExpectError(status, kExitTemporary, "gpu:0 (Fake GPU) did not finish a step within 0.05");
}

// The others wait in collectives for the one that hangs. Nothing is asked of any of them any more.
TEST_F(CudaSessionTest, GpusThatHangAreLeftAlone) {
  Job job = Start(4, {.deadline_seconds = 0.05});
  ASSERT_TRUE(job.session->Run(Inputs(Full(4), 1), {}).ok());
  fake.Hang(1);
  ExpectError(job.session->Run(Inputs(Full(4), 2), {}).status(), kExitTemporary, "replica 1 (gpu:1)");
  fake.ClearCalls();
  job = Job();
  for (const FakeCall& call : fake.calls()) EXPECT_EQ(call.name, "cuCtxSetCurrent");
}

class SmallGpuTest : public CudaSessionTest {
 protected:
  SmallGpuTest() : CudaSessionTest({.memory_bytes = 2048}) {}
};

TEST_F(SmallGpuTest, SaysWhatTheMemoryWasFor) {
  auto store = std::make_shared<VariableStore>(1);
  absl::Status status = CreateError(1, store);
  ExpectError(status, kExitUsage, "gpu:0 (Fake GPU): out of memory");
  for (const char* part : {"microbatch arena 64", "inputs 1024", "of 2048 bytes are free", "Take a smaller batch"}) {
    EXPECT_TRUE(absl::StrContains(status.message(), part)) << status;
  }
}

class OldGpuTest : public CudaSessionTest {
 protected:
  OldGpuTest() : CudaSessionTest({.compute_capability = 80}) {}
};

TEST_F(OldGpuTest, SaysWhatTheExecutableWasCompiledFor) {
  EXPECT_TRUE(CreateError(1).ok());
  ExpectError(CreateError(1, nullptr, {90, 100}), kExitUsage,
              "compiled for sm_90, sm_100; gpu:0 (Fake GPU) is sm_80: compile it for --target=cuda:sm_80 or older");
}

class AncientGpuTest : public CudaSessionTest {
 protected:
  AncientGpuTest() : CudaSessionTest({.compute_capability = 61}) {}
};

TEST_F(AncientGpuTest, SaysThatTheGpuIsTooOld) {
  ExpectError(CreateError(1), kExitUsage,
              "gpu:0 (Fake GPU): its compute capability is 6.1, and 7.5 or newer is needed");
}

class OldDriverTest : public CudaSessionTest {
 protected:
  OldDriverTest() : CudaSessionTest({.version = 12010, .ptx_version = 70}) {}
};

TEST_F(OldDriverTest, SaysThatTheDriverIsTooOld) {
  ExpectError(CreateError(1), kExitUsage, "the NVIDIA driver (for CUDA 12.1) is too old for the executable's PTX");
}

}  // namespace
}  // namespace tandem

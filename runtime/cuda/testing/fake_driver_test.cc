#include "runtime/cuda/testing/fake_driver.h"

#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

const char kText[] = R"(
.version 8.0
.target sm_75
.address_size 64
.visible .entry add_one(.param .u64 p, .param .u64 n) { ret; }
)";

class FakeDriverTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Ok(api.cuDevicePrimaryCtxRetain(&context, 0));
    Ok(api.cuCtxSetCurrent(context));
    Ok(api.cuStreamCreate(&a, kCudaStreamNonBlocking));
    Ok(api.cuStreamCreate(&b, kCudaStreamNonBlocking));
    Ok(api.cuEventCreate(&event, kCudaEventDisableTiming));
    Ok(api.cuMemAlloc_v2(&device, 64));
    void* p = nullptr;
    Ok(api.cuMemHostAlloc(&p, 64, 0));
    host = static_cast<float*>(p);
    Ok(api.cuModuleLoadDataEx(&module, kText, 0, nullptr, nullptr));
    Ok(api.cuModuleGetFunction(&function, module, "add_one"));
    fake.RegisterKernel("add_one", [](uint32_t, uint32_t, uint32_t, void** params) {
      float* x = *static_cast<float**>(params[0]);
      for (int64_t i = 0; i < *static_cast<int64_t*>(params[1]); ++i) x[i] += 1;
    });
  }

  void TearDown() override {
    api.cuModuleUnload(module);
    api.cuMemFreeHost(host);
    if (device != 0) api.cuMemFree_v2(device);
    api.cuEventDestroy_v2(event);
    api.cuStreamDestroy_v2(a);
    api.cuStreamDestroy_v2(b);
    api.cuDevicePrimaryCtxRelease_v2(0);
    EXPECT_EQ(absl::StrJoin(fake.TakeViolations(), "; "), "");
  }

  static void Ok(CUresult result) { ASSERT_EQ(result, kCudaSuccess); }

  void AddOne(CUstream stream, int64_t n = 4) {
    void* params[] = {&device, &n};
    const DeviceAccess access = {device, static_cast<uint64_t>(n) * 4, true};
    DeclareAccesses({&access, 1});
    Ok(api.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, params, nullptr));
  }

  void ExpectViolation(const std::string& part) {
    const std::string all = absl::StrJoin(fake.TakeViolations(), "; ");
    EXPECT_TRUE(absl::StrContains(all, part)) << "\"" << all << "\" lacks \"" << part << "\"";
  }

  FakeDriver fake{{.gpus = 2, .memory_bytes = 4096}};
  const DriverApi& api = fake.api();
  CUcontext context = nullptr;
  CUstream a = nullptr, b = nullptr;
  CUevent event = nullptr;
  CUdeviceptr device = 0;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  float* host = nullptr;
};

TEST_F(FakeDriverTest, WorkRunsWhenItIsWaitedFor) {
  host[0] = 1, host[1] = 2, host[2] = 3, host[3] = 4;
  Ok(api.cuMemcpyHtoDAsync_v2(device, host, 16, a));
  AddOne(a);
  Ok(api.cuEventRecord(event, a));
  Ok(api.cuStreamWaitEvent(b, event, 0));
  Ok(api.cuMemcpyDtoHAsync_v2(host + 8, device, 16, b));
  host[8] = -1;
  host[0] = 5;  // before the copy has run: it is seen
  EXPECT_EQ(host[8], -1);
  Ok(api.cuStreamSynchronize(b));
  EXPECT_EQ(host[8], 6);
  EXPECT_EQ(host[11], 5);
}

TEST_F(FakeDriverTest, FindsRacesBetweenStreams) {
  AddOne(a);
  Ok(api.cuMemcpyDtoHAsync_v2(host, device, 16, b));
  ExpectViolation("race: cuMemcpyDtoHAsync_v2 on stream 1 reads what add_one on stream 0 writes");
  Ok(api.cuStreamSynchronize(a));
  Ok(api.cuStreamSynchronize(b));
  // Ordered by a wait of the host, by reading both times, and by touching other bytes.
  Ok(api.cuMemcpyDtoHAsync_v2(host, device, 16, b));
  Ok(api.cuMemcpyDtoHAsync_v2(host + 4, device, 16, a));
  Ok(api.cuMemsetD8Async(device + 32, 0, 16, a));
  Ok(api.cuStreamSynchronize(a));
  Ok(api.cuStreamSynchronize(b));
  // An event recorded too early orders nothing.
  Ok(api.cuEventRecord(event, a));
  AddOne(a);
  Ok(api.cuStreamWaitEvent(b, event, 0));
  EXPECT_TRUE(fake.TakeViolations().empty());
  AddOne(b);
  ExpectViolation("race: add_one on stream 1 writes what add_one on stream 0 writes");
  fake.Drain();
}

TEST_F(FakeDriverTest, CapturesAndReplays) {
  Ok(api.cuMemsetD8Async(device, 0, 64, a));
  Ok(api.cuStreamBeginCapture_v2(a, kCudaCaptureThreadLocal));
  AddOne(a);
  AddOne(a);
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  Ok(api.cuStreamEndCapture(a, &graph));
  Ok(api.cuGraphInstantiateWithFlags(&exec, graph, 0));
  Ok(api.cuGraphDestroy(graph));
  fake.ClearCalls();
  for (int i = 0; i < 3; ++i) Ok(api.cuGraphLaunch(exec, a));
  Ok(api.cuMemcpyDtoHAsync_v2(host, device, 16, a));
  Ok(api.cuStreamSynchronize(a));
  EXPECT_EQ(host[0], 6);
  EXPECT_EQ(fake.CountCalls(), 5);
  EXPECT_EQ(fake.CountCalls("cuGraphLaunch"), 3);
  Ok(api.cuGraphExecDestroy(exec));
}

TEST_F(FakeDriverTest, ForbidsInCaptureWhatADriverForbids) {
  CUgraph graph = nullptr;
  CUdeviceptr p;
  auto broken = [&](auto call, const std::string& part) {
    Ok(api.cuStreamBeginCapture_v2(a, kCudaCaptureThreadLocal));
    EXPECT_NE(call(), kCudaSuccess);
    EXPECT_EQ(api.cuStreamEndCapture(a, &graph), kCudaCaptureInvalidated);
    ExpectViolation(part);
  };
  broken([&] { return api.cuMemAlloc_v2(&p, 8); }, "cuMemAlloc_v2: not allowed while a stream is captured");
  broken([&] { return api.cuStreamSynchronize(a); }, "the stream is being captured");
  Ok(api.cuEventRecord(event, b));
  broken([&] { return api.cuStreamWaitEvent(a, event, 0); }, "waits for an event from outside");
}

TEST_F(FakeDriverTest, FindsWrongUsesOfMemory) {
  EXPECT_EQ(api.cuMemAlloc_v2(&device, 8192), kCudaOutOfMemory);
  float pageable[4];
  EXPECT_EQ(api.cuMemcpyDtoHAsync_v2(pageable, device, 16, a), kCudaInvalidValue);
  ExpectViolation("not pinned");
  AddOne(a);
  Ok(api.cuMemFree_v2(device));
  ExpectViolation("add_one is queued and uses the memory");
  fake.Drain();
  AddOne(a);
  ExpectViolation("outside of the memory that is allocated");
  EXPECT_EQ(api.cuStreamSynchronize(a), kCudaIllegalAddress);
  device = 0;
  fake.TakeViolations();
}

TEST_F(FakeDriverTest, FindsWritesBeyondAnAllocation) {
  fake.RegisterKernel("add_one",
                      [](uint32_t, uint32_t, uint32_t, void** params) { (*static_cast<float**>(params[0]))[16] = 1; });
  AddOne(a);
  Ok(api.cuStreamSynchronize(a));
  ExpectViolation("wrote outside of an allocation of 64 bytes, at offset 64");
}

TEST_F(FakeDriverTest, FailsWhereItIsTold) {
  fake.FailCall("cuMemsetD8Async", kCudaLaunchFailed, 2);
  Ok(api.cuMemsetD8Async(device, 0, 4, a));
  EXPECT_EQ(api.cuMemsetD8Async(device, 0, 4, a), kCudaLaunchFailed);
  Ok(api.cuMemsetD8Async(device, 0, 4, a));
  fake.FailWork("add_one", kCudaEccUncorrectable);
  AddOne(a);
  Ok(api.cuMemsetD8Async(device, 0, 4, a));
  EXPECT_EQ(api.cuStreamSynchronize(a), kCudaEccUncorrectable);
  EXPECT_EQ(api.cuMemsetD8Async(device, 0, 4, a), kCudaEccUncorrectable);  // for good
}

TEST_F(FakeDriverTest, Hangs) {
  fake.Hang(0);
  AddOne(a);
  EXPECT_EQ(api.cuStreamQuery(a), kCudaNotReady);
  EXPECT_EQ(api.cuStreamQuery(b), kCudaSuccess);
  EXPECT_EQ(api.cuStreamSynchronize(a), kCudaLaunchTimeout);
  ExpectViolation("never ends");
  device = 0;  // freeing it would wait
}

TEST_F(FakeDriverTest, FindsLeaksAndForeignHandles) {
  CUcontext other = nullptr;
  Ok(api.cuDevicePrimaryCtxRetain(&other, 1));
  Ok(api.cuCtxSetCurrent(other));
  EXPECT_EQ(api.cuMemsetD8Async(device, 0, 4, a), kCudaInvalidHandle);
  ExpectViolation("belongs to another context");
  CUdeviceptr p = 0;
  CUstream stream = nullptr;
  Ok(api.cuMemAlloc_v2(&p, 8));
  EXPECT_EQ(fake.AllocatedBytes(1), 8u);
  Ok(api.cuStreamCreate(&stream, 0));
  Ok(api.cuDevicePrimaryCtxRelease_v2(1));
  ExpectViolation("GPU 1: 1 allocations left when its context is released; GPU 1: 1 streams left");
  Ok(api.cuCtxSetCurrent(context));
  EXPECT_EQ(api.cuStreamWaitEvent(a, reinterpret_cast<CUevent>(&p), 0), kCudaInvalidHandle);
  ExpectViolation("a handle that does not exist");
}

TEST_F(FakeDriverTest, ReadsOnlyTextsForItsGpu) {
  CUmodule m = nullptr;
  char log[100] = "";
  int options[] = {kCudaJitErrorLogBuffer, kCudaJitErrorLogBufferSize};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  EXPECT_EQ(api.cuModuleLoadDataEx(&m, ".version 9.9\n.target sm_75", 2, options, values), kCudaUnsupportedPtxVersion);
  EXPECT_TRUE(absl::StrContains(log, "not supported")) << log;
  EXPECT_EQ(api.cuModuleLoadDataEx(&m, ".version 8.0\n.target sm_100", 2, options, values), kCudaInvalidPtx);
  EXPECT_EQ(api.cuModuleLoadDataEx(&m, "nothing", 2, options, values), kCudaInvalidPtx);
  CUfunction f = nullptr;
  EXPECT_EQ(api.cuModuleGetFunction(&f, module, "absent"), kCudaNotFound);
}

TEST_F(FakeDriverTest, MuchSharedMemoryNeedsAnAttribute) {
  int64_t n = 4;
  void* params[] = {&device, &n};
  auto launch = [&] { return api.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 64 << 10, a, params, nullptr); };
  EXPECT_EQ(launch(), kCudaInvalidValue);
  ExpectViolation("shared memory need an attribute");
  EXPECT_EQ(api.cuFuncSetAttribute(function, kCudaFunctionMaxDynamicShared, 1 << 20), kCudaInvalidValue);
  Ok(api.cuFuncSetAttribute(function, kCudaFunctionMaxDynamicShared, 64 << 10));
  Ok(launch());
  fake.Drain();
}

TEST_F(FakeDriverTest, RunsTheWorkOfFakeLibraries) {
  Ok(fake.Enqueue(a, "library", {{device, 4, true}}, [this] { *reinterpret_cast<float*>(device) = 7; }));
  Ok(api.cuMemcpyDtoHAsync_v2(host, device, 4, a));
  Ok(api.cuStreamSynchronize(a));
  EXPECT_EQ(host[0], 7);
  EXPECT_EQ(fake.CountCalls("library"), 1);
  EXPECT_EQ(FakeDriver::current(), &fake);
}

}  // namespace
}  // namespace tandem

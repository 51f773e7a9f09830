// Convolutions whose epilogue cuDNN has no plan for: kernels of our own compute it behind the plan of the convolution.
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/bfloat16.h"
#include "base/dtype.h"
#include "base/env.h"
#include "base/logging.h"
#include "gtest/gtest.h"
#include "runtime/cuda/device/kernel_library.h"
#include "runtime/cuda/libraries/library_calls.h"
#include "runtime/cuda/libraries/plan_choices.h"
#include "runtime/cuda/testing/fake_cudnn.h"
#include "runtime/cuda/testing/library_fixture.h"
#include "runtime/library_calls/gpu_library.h"
#include "runtime/library_calls/library_call.h"
#include "runtime/testing/library_calls.h"

namespace tandem {
namespace {

using DType::kBFloat16;
using DType::kFloat32;

class CudnnEpiloguesTest : public ::testing::Test, public LibraryFixture {
 protected:
  CudnnEpiloguesTest() { MakeRunner(); }

  void TearDown() override {
    Close();
    EXPECT_EQ(cudnn.live_objects(), 0);
  }

  // A forward convolution of the types, with a packed kernel.
  static format::LibraryCall Call(format::Epilogue epilogue, DType type = kFloat32, DType result = kFloat32) {
    format::Conv2D conv = Conv(2, 8, 7, 3, 3, 3, 10, 1, 0, 1);
    SetTypes(conv, type);
    conv.y_dtype = result;
    conv.packed = true;
    conv.epilogue = epilogue;
    return CallOf(conv);
  }

  CUdeviceptr Random(int64_t n, DType type, uint32_t seed) {
    const CUdeviceptr address = Allocate(n * SizeOf(type));
    std::mt19937 rng(seed);
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (int64_t i = 0; i < n; ++i) {
      if (type == kBFloat16) {
        reinterpret_cast<uint16_t*>(address)[i] = ToBFloat16Bits(uniform(rng));
      } else {
        reinterpret_cast<float*>(address)[i] = uniform(rng);
      }
    }
    return address;
  }

  // The result, by the plan in an executable where there is one. `launches` is what the stream was given.
  std::vector<float> Run(const format::LibraryCall& call, absl::string_view plan = "") {
    const format::Conv2D& conv = *call.operation.As<format::Conv2D>();
    const DType type = conv.y_dtype;
    const int64_t n = NumElements(conv.y_shape);
    std::vector<CUdeviceptr> inputs = {Random(NumElements(conv.x_shape), conv.x_dtype, 1),
                                       Random(NumElements(conv.kernel_shape), conv.kernel_dtype, 2)};
    if (conv.epilogue.bias) inputs.push_back(Random(10, type, 3));
    const CUdeviceptr output = Allocate(n * SizeOf(type));
    auto prepared = runner->Prepare(call, plan);
    EXPECT_TRUE(prepared.ok()) << prepared.status();
    if (!prepared.ok()) return {};
    implementation = (*prepared)->implementation();
    EXPECT_LE((*prepared)->workspace_bytes(), GpuWorkspaceBytes(call, 1000));
    const CUdeviceptr workspace = Allocate((*prepared)->workspace_bytes());
    fake.ClearCalls();
    const absl::Status status = (*prepared)->Enqueue(inputs, {&output, 1}, workspace, stream);
    EXPECT_TRUE(status.ok()) << status;
    std::vector<std::string> names;
    for (const FakeCall& c : fake.calls()) {
      if (c.stream >= 0) names.push_back(c.name == "cuLaunchKernel" ? c.detail : c.name);
    }
    launches = absl::StrJoin(names, " ");
    EXPECT_EQ(api.cuStreamSynchronize(stream), 0);
    std::vector<float> result(n);
    for (int64_t i = 0; i < n; ++i) {
      result[i] = type == kBFloat16 ? FromBFloat16Bits(reinterpret_cast<const uint16_t*>(output)[i])
                                    : reinterpret_cast<const float*>(output)[i];
    }
    FreeAll();
    return result;
  }

  FakeCudnn cudnn;
  std::string implementation, launches;
};

const format::Epilogue kBias = {.bias = true}, kBiasRelu = {.bias = true, .activation = format::Activation::kRelu},
                       kRelu = {.activation = format::Activation::kRelu};

TEST_F(CudnnEpiloguesTest, KernelsComputeWhatThePlansWould) {
  for (const format::Epilogue& epilogue : {kBias, kBiasRelu, kRelu}) {
    for (auto [type, result] : {std::pair{kFloat32, kFloat32}, {kBFloat16, kBFloat16}, {kBFloat16, kFloat32}}) {
      const format::LibraryCall call = Call(epilogue, type, result);
      SCOPED_TRACE(TextOf(call));
      cudnn.RefuseEpilogues(false);
      const std::vector<float> want = Run(call);
      EXPECT_EQ(implementation, "cuDNN fake_eng0");
      cudnn.RefuseEpilogues();
      LogCapture log;
      const std::vector<float> got = Run(call);
      EXPECT_EQ(implementation, "cuDNN unfused:fake_eng0");
      const double unit = type == kBFloat16 ? 1.0 / 64 : 0;
      ASSERT_EQ(got.size(), want.size());
      for (size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(got[i], want[i], unit * (1 + std::fabs(want[i]))) << i;
    }
  }
}

TEST_F(CudnnEpiloguesTest, WhatIsLaunched) {
  cudnn.RefuseEpilogues();
  LogCapture log;
  const std::string plan = "cudnnBackendExecute ";
  Run(Call(kBias));
  EXPECT_EQ(launches, plan + "td_add_bias_f32");
  Run(Call(kRelu));
  EXPECT_EQ(launches, plan + "td_relu_f32");
  Run(Call(kBiasRelu, kBFloat16, kBFloat16));
  EXPECT_EQ(launches, plan + "td_convert_bf16_f32 td_add_bias_bf16 td_relu_bf16");
  Run(Call(kBiasRelu, kBFloat16, kFloat32));
  EXPECT_EQ(launches, plan + "td_convert_bf16_f32 td_add_bias_f32 td_relu_f32");
}

TEST_F(CudnnEpiloguesTest, TheLogSaysItOncePerCall) {
  cudnn.RefuseEpilogues();
  LogCapture log;
  ASSERT_TRUE(runner->Prepare(Call(kBias), "").ok());
  ASSERT_TRUE(runner->Prepare(Call({}), "").ok());
  const std::string text = log.Text();
  const std::string warning = "; kernels of our own compute the epilogue behind the convolution";
  ASSERT_TRUE(absl::StrContains(text, warning)) << text;
  EXPECT_EQ(text.find(warning), text.rfind(warning)) << text;
}

// Where the convolution has no plan either, that is what is said.
TEST_F(CudnnEpiloguesTest, NoPlanAtAllIsAnError) {
  cudnn.RefuseEpilogues();
  cudnn.FailNext("Build", absl::UnimplementedError("no plan at all"));
  LogCapture log;
  EXPECT_EQ(runner->Prepare(Call(kBias), "").status().message(), "no plan at all");
}

// An executable holds the plan of the convolution alone then, and a device builds no other.
TEST_F(CudnnEpiloguesTest, ThePlanOfTheConvolutionIsCompiled) {
  cudnn.RefuseEpilogues();
  const format::LibraryCall call = Call(kBiasRelu);
  absl::StatusOr<std::optional<LibraryPlan>> plan = CudaKernelLibrary().Plan(call, 90);
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_TRUE(plan->has_value());
  EXPECT_EQ((*plan)->implementation, "cudnn unfused:fake_eng0");
  EXPECT_EQ((*plan)->workspace_bytes, GpuWorkspaceBytes(call, 1000));
  LogCapture log;
  cudnn.TakeCalls();
  Run(call, (*plan)->bytes);
  EXPECT_EQ(absl::StrJoin(cudnn.TakeCalls(), " "), "Load Build 1 Load Enqueue fake_eng0");
}

// Measured plans are kept with the word in front, and looked for as such.
TEST_F(CudnnEpiloguesTest, ARecordedPlanIsRepeated) {
  cudnn.RefuseEpilogues();
  const std::string file = absl::StrCat(testing::TempDir(), "/plans.json");
  if (Env::Default()->Exists(file)) {
    ASSERT_TRUE(Env::Default()->DeleteFile(file).ok());
  }
  auto choices = PlanChoices::Load(Env::Default(), file);
  ASSERT_TRUE(choices.ok()) << choices.status();
  const format::LibraryCall call = Call(kBias);
  choices->Record(PlanChoiceKey(call, "fake", cudnn.version()), "unfused:fake_eng5");
  MakeRunner({.choices = &*choices, .device_name = "fake"});
  LogCapture log;
  auto prepared = runner->Prepare(call, "");
  ASSERT_TRUE(prepared.ok()) << prepared.status();
  EXPECT_EQ((*prepared)->implementation(), "cuDNN unfused:fake_eng5");
  EXPECT_EQ(log.Text(), "");
}

}  // namespace
}  // namespace tandem

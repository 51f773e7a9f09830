// Plans for all convolutions of models that matter, made by the real cuDNN without a GPU. Skipped, with the reason,
// where the build has no headers or the machine no library.
#include <iterator>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/dtype.h"
#include "gtest/gtest.h"
#include "runtime/cuda/libraries/cudnn_api.h"
#include "runtime/cuda/libraries/cudnn_plan_text.h"
#include "runtime/library_calls/gpu_library.h"
#include "runtime/testing/library_calls.h"

// For the leak sanitizer: cuDNN and cuBLASLt keep what they made until the process ends.
extern "C" int __lsan_is_turned_off();  // NOLINT(bugprone-reserved-identifier)
extern "C" int __lsan_is_turned_off() { return 1; }

namespace tandem {
namespace {

struct Layer {
  const char* name;
  int64_t batch, size, in, out, kernel, stride, low, high;
};

// Every shape of the models once that cuDNN computes: products of matrices compute kernels of 1x1 without strides, so
// that ResNet-50's other convolutions are not here. Its first one pads more on one side, as those behind it would with
// a kernel of 3x3 and a stride of 2, which other models have. tests/gpu:model_plans_test has the programs themselves.
const Layer kLayers[] = {
    {"S0 conv1", 512, 28, 1, 32, 3, 1, 0, 0},
    {"S0 conv2", 512, 13, 32, 64, 3, 1, 0, 0},
    {"S0 conv3", 512, 5, 64, 64, 3, 1, 0, 0},
    {"S2 conv1", 128, 28, 1, 32, 3, 1, 0, 0},
    {"S2 conv2", 128, 26, 32, 256, 3, 1, 0, 0},
    {"S2 conv3", 128, 24, 256, 128, 3, 1, 0, 0},
    {"VGG16 1_1", 32, 224, 3, 64, 3, 1, 1, 1},
    {"VGG16 1_2", 32, 224, 64, 64, 3, 1, 1, 1},
    {"VGG16 2_1", 32, 112, 64, 128, 3, 1, 1, 1},
    {"VGG16 2_2", 32, 112, 128, 128, 3, 1, 1, 1},
    {"VGG16 3_1", 32, 56, 128, 256, 3, 1, 1, 1},
    {"VGG16 3_2", 32, 56, 256, 256, 3, 1, 1, 1},
    {"VGG16 4_1", 32, 28, 256, 512, 3, 1, 1, 1},
    {"VGG16 4_2", 32, 28, 512, 512, 3, 1, 1, 1},
    {"VGG16 5", 32, 14, 512, 512, 3, 1, 1, 1},
    {"ResNet-50 1", 256, 224, 3, 64, 7, 2, 2, 3},
    {"ResNet-50 2b", 256, 56, 64, 64, 3, 1, 1, 1},
    {"ResNet-50 3a", 256, 56, 256, 128, 1, 2, 0, 0},
    {"ResNet-50 3b", 256, 28, 128, 128, 3, 1, 1, 1},
    {"ResNet-50 4a", 256, 28, 512, 256, 1, 2, 0, 0},
    {"ResNet-50 4b", 256, 14, 256, 256, 3, 1, 1, 1},
    {"ResNet-50 5a", 256, 14, 1024, 512, 1, 2, 0, 0},
    {"ResNet-50 5b", 256, 7, 512, 512, 3, 1, 1, 1},
    {"ResNet-50 3 shortcut", 256, 56, 256, 512, 1, 2, 0, 0},
    {"ResNet-50 4 shortcut", 256, 28, 512, 1024, 1, 2, 0, 0},
    {"ResNet-50 5 shortcut", 256, 14, 1024, 2048, 1, 2, 0, 0},
    {"even pads, 7x7", 256, 224, 3, 64, 7, 2, 3, 3},
    {"even pads, 56", 256, 56, 128, 128, 3, 2, 1, 1},
    {"uneven pads, 56", 256, 56, 128, 128, 3, 2, 0, 1},
    {"uneven pads, 28", 256, 28, 256, 256, 3, 2, 0, 1},
    {"uneven pads, 14", 256, 14, 512, 512, 3, 2, 0, 1},
};

format::Conv2D ConvOf(const Layer& l, format::Direction direction, DType type) {
  format::Conv2D call;
  call.direction = direction;
  const int64_t out = (l.size + l.low + l.high - l.kernel) / l.stride + 1;
  call.x_shape = {l.batch, l.size, l.size, l.in};
  call.kernel_shape = {l.kernel, l.kernel, l.in, l.out};
  call.y_shape = {l.batch, out, out, l.out};
  call.strides = {l.stride, l.stride};
  call.pad_low = {l.low, l.low};
  call.pad_high = {l.high, l.high};
  SetTypes(call, type);
  return call;
}

class CudnnPlansTest : public ::testing::Test {
 protected:
  void SetUp() override {
    absl::StatusOr<const CudnnApi*> api = LoadCudnn();
    if (!api.ok()) GTEST_SKIP() << api.status();
  }
};

TEST(CudnnTest, TheReasonIsOneSentence) {
  absl::StatusOr<const CudnnApi*> api = LoadCudnn();
  if (api.ok()) {
    EXPECT_TRUE(absl::StrContains((*api)->version(), "cuDNN 9.")) << (*api)->version();
    return;
  }
  EXPECT_EQ(api.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(absl::StrContains(api.status().message(), "./setup --cuda") ||
              absl::StrContains(api.status().message(), "install cuDNN 9"))
      << api.status();
  EXPECT_FALSE(absl::StrContains(api.status().message(), "\n"));
}

// Where cuDNN has no engine but that of grouped convolutions: no model asks for the gradient of its images.
bool OnlyOfGroups(const Layer& layer, format::Direction direction, const std::string& precision) {
  return precision == "f32" && direction == format::Direction::kInputGrad && layer.kernel == 7 &&
         layer.low != layer.high;
}

// And none of them the engine of grouped convolutions, which is many times slower, nor with that one to fall back to.
TEST_F(CudnnPlansTest, EveryConvolutionHasAPlan) {
  for (const Layer& layer : kLayers) {
    for (const char* precision : {"f32", "tf32", "bf16"}) {
      for (format::Direction direction : format::kDirectionValues) {
        const bool narrow = absl::StrContains(precision, "bf16");
        format::LibraryCall call = CallOf(ConvOf(layer, direction, narrow ? DType::kBFloat16 : DType::kFloat32));
        call.tf32 = absl::StrContains(precision, "tf32");
        ASSERT_EQ(LibraryOf(call), GpuLibrary::kCudnn) << layer.name;
        const std::string what = absl::StrCat(layer.name, " ", format::Name(direction), " ", precision);
        absl::StatusOr<CudnnPlan> plan = CompileCudnnPlan(call, 90);  // which loads what it made
        ASSERT_TRUE(plan.ok()) << what << ": " << plan.status();
        EXPECT_FALSE(plan->bytes.empty()) << what;
        for (absl::string_view name : absl::StrSplit(plan->name, ", else ")) {
          EXPECT_TRUE(absl::StartsWith(name, "eng")) << what << ": " << plan->name;
          EXPECT_FALSE(direction == format::Direction::kFilterGrad && precision != std::string("f32") &&
                       layer.low != layer.high && IsOfEvenPadsOnly(name))
              << what << ": " << plan->name;
          EXPECT_TRUE(!IsGroupedEngine(name) || OnlyOfGroups(layer, direction, precision))
              << what << ": " << plan->name;
        }
        EXPECT_LE(plan->workspace_bytes, kMaxPlanWorkspace) << what;
        EXPECT_GE(GpuWorkspaceBytes(call, plan->workspace_bytes), plan->workspace_bytes);
        RecordProperty(what, absl::StrCat(plan->name, " ", plan->workspace_bytes));
      }
    }
  }
}

// A filter gradient of few results is one tile of a product whose sum has 346,112 terms (S0, batch 512) or 3.2 million:
// a plan that computes it in one piece keeps one of 132 multiprocessors busy. The settings that split a sum are SPLIT_K
// (0), which the frontend has no name for, and SPLIT_K_BUF (12).
TEST_F(CudnnPlansTest, LongSumsAreSplit) {
  for (const Layer& layer : {kLayers[0], kLayers[15]}) {
    const format::LibraryCall call = CallOf(ConvOf(layer, format::Direction::kFilterGrad, DType::kBFloat16));
    absl::StatusOr<CudnnPlan> plan = CompileCudnnPlan(call, 90);
    ASSERT_TRUE(plan.ok()) << plan.status();
    EXPECT_TRUE(absl::StrContains(plan->name, "_k0=") || absl::StrContains(plan->name, "_k12="))
        << layer.name << ": " << plan->name << ", " << plan->workspace_bytes << " bytes";
  }
}

const format::Epilogue kEpilogues[] = {
    {.bias = true}, {.bias = true, .activation = format::Activation::kRelu}, {.activation = format::Activation::kRelu}};

TEST_F(CudnnPlansTest, EpiloguesHavePlans) {
  for (const Layer& layer : kLayers) {
    for (DType type : {DType::kFloat32, DType::kBFloat16}) {
      for (const format::Epilogue& epilogue : kEpilogues) {
        format::Conv2D conv = ConvOf(layer, format::Direction::kForward, type);
        conv.epilogue = epilogue;
        absl::StatusOr<CudnnPlan> plan = CompileCudnnPlan(CallOf(conv), 90);
        const std::string what = absl::StrCat(layer.name, " ", epilogue.Text(), " ", Name(type));
        // Of the last one cuDNN computes no epilogue in float32 with another engine: kernels of our own do.
        if (&layer == std::end(kLayers) - 1 && type == DType::kFloat32) {
          EXPECT_EQ(plan.status().code(), absl::StatusCode::kUnimplemented) << what;
          conv.epilogue = {};
          plan = CompileCudnnPlan(CallOf(conv), 90);
        }
        ASSERT_TRUE(plan.ok()) << what << ": " << plan.status();
        EXPECT_FALSE(IsGroupedEngine(plan->name) || absl::StrContains(plan->name, "else eng0")) << what << plan->name;
      }
    }
  }
}

TEST_F(CudnnPlansTest, ACallHasOnePlan) {
  const format::LibraryCall call = CallOf(ConvOf(kLayers[1], format::Direction::kForward, DType::kFloat32));
  absl::StatusOr<CudnnPlan> a = CompileCudnnPlan(call, 90), b = CompileCudnnPlan(call, 90);
  ASSERT_TRUE(a.ok()) << a.status();
  ASSERT_TRUE(b.ok()) << b.status();
  EXPECT_EQ(a->bytes, b->bytes);
  EXPECT_EQ(a->name, b->name);
}

// With tensor cores, float32 operands would be rounded: without leave there must be none among the engines.
TEST_F(CudnnPlansTest, TensorFloat32IsOptIn) {
  std::set<std::string> exact, rounded;
  for (const Layer& layer : kLayers) {
    format::LibraryCall call = CallOf(ConvOf(layer, format::Direction::kForward, DType::kFloat32));
    absl::StatusOr<CudnnPlan> plan = CompileCudnnPlan(call, 90);
    ASSERT_TRUE(plan.ok()) << plan.status();
    exact.insert(absl::StrCat(layer.name, " ", plan->name));
    call.tf32 = true;
    plan = CompileCudnnPlan(call, 90);
    ASSERT_TRUE(plan.ok()) << plan.status();
    rounded.insert(absl::StrCat(layer.name, " ", plan->name));
  }
  EXPECT_NE(exact, rounded);
}

TEST_F(CudnnPlansTest, WhatCannotBeCompiledIsAnError) {
  format::Conv2D conv = ConvOf(kLayers[1], format::Direction::kForward, DType::kFloat32);
  const absl::Status unknown = CompileCudnnPlan(CallOf(conv), 75).status();
  EXPECT_EQ(unknown.code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(unknown.message(), "plans for sm_75 are made on the GPU: its properties are not known here");
  conv.y_shape[1] = 1;
  EXPECT_EQ(CompileCudnnPlan(CallOf(conv), 90).status().code(), absl::StatusCode::kInvalidArgument);
}

// Without a GPU a device does not open, and says so without throwing.
TEST_F(CudnnPlansTest, ADeviceThatIsNotThereIsAnError) {
  auto device = (*LoadCudnn())->OpenDevice();
  if (device.ok()) GTEST_SKIP() << "this machine has a GPU";
  EXPECT_TRUE(absl::StartsWith(device.status().message(), "cuDNN cannot start on this GPU")) << device.status();
}

}  // namespace
}  // namespace tandem

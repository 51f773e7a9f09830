// The plans that cuDNN makes for the convolutions of real models, as they stand in programs compiled for sm_90: made by
// the real cuDNN without a GPU. Skipped where the build has no headers or the machine no library.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"
#include "runtime/commands/command.h"
#include "runtime/cuda/libraries/cudnn_api.h"
#include "runtime/cuda/libraries/cudnn_plan_text.h"
#include "runtime/library_calls/gpu_library.h"
#include "runtime/library_calls/library_call.h"
#include "tests/gpu/compiled_model.h"

namespace tandem {
namespace {

struct Case {
  std::string model;
  int64_t batch = 0;
  int convolutions = 0;  // of a step, computed by cuDNN: so many at least
};

class ModelPlansTest : public ::testing::TestWithParam<Case> {};

// Its executable names a plan for each convolution, and none is the engine of grouped convolutions (0), which is many
// times slower; nor is what stands behind a plan that the library may not offer again ("eng49_k0=23, else eng65").
TEST_P(ModelPlansTest, EveryConvolutionHasAPlanOfAFastEngine) {
  if (absl::StatusOr<const CudnnApi*> api = LoadCudnn(); !api.ok()) GTEST_SKIP() << api.status();
  const Case& c = GetParam();
  struct Variant {
    const char* name;
    Precision precision;
    bool tf32;
  };
  for (const Variant& v :
       {Variant{"float32", Precision::kStrictFloat32, false}, Variant{"TF32", Precision::kFloat32, true},
        Variant{"bfloat16", Precision::kMixedBfloat16, false}}) {
    absl::StatusOr<std::shared_ptr<const Executable>> executable =
        CompileModelForGpu(c.model, c.batch, v.precision, {.tf32 = v.tf32, .all_layers = true});
    ASSERT_TRUE(executable.ok()) << executable.status();
    int convolutions = 0;
    for (const auto& command : CommandsInOrder((*executable)->index().programs[0])) {
      const format::LibraryCall* call = command->table().body.As<format::LibraryCall>();
      if (call == nullptr || LibraryOf(*call) != GpuLibrary::kCudnn) continue;
      ++convolutions;
      absl::string_view plans = call->implementation;
      const std::string what = absl::StrCat(v.name, " ", TextOf(*call), ": ", plans);
      EXPECT_GT(call->plan, 0) << what;
      EXPECT_TRUE(absl::ConsumePrefix(&plans, "cudnn ")) << what;
      for (absl::string_view plan : absl::StrSplit(plans, ", else ")) {
        EXPECT_TRUE(absl::StartsWith(plan, "eng")) << what;
        EXPECT_FALSE(IsGroupedEngine(plan)) << what;
      }
    }
    EXPECT_GE(convolutions, c.convolutions) << v.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, ModelPlansTest,
                         ::testing::Values(Case{"s0", 512, 6}, Case{"s0", 4096, 6}, Case{"s2", 128, 6},
                                           Case{"vgg16", 32, 37}, Case{"resnet50", 256, 65}),
                         [](const auto& info) { return absl::StrCat(info.param.model, "_", info.param.batch); });

}  // namespace
}  // namespace tandem

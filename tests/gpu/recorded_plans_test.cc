// The plans that were measured on an H100 (tests/data/h100_plans.json) are those of programs that the compiler still
// makes: a call that is described otherwise is measured again by whoever kept a file of plans.
#include <cstdio>
#include <string>

#include "base/env.h"
#include "gtest/gtest.h"
#include "runtime/commands/command.h"
#include "runtime/cuda/libraries/plan_choices.h"
#include "runtime/library_calls/gpu_library.h"
#include "tests/gpu/compiled_model.h"

namespace tandem {
namespace {

struct Case {
  const char* model;
  int64_t batch;
  int64_t unknown;  // calls that have come since, or are described otherwise
};

class RecordedPlansTest : public ::testing::TestWithParam<Case> {};

TEST_P(RecordedPlansTest, AreOfTodaysCalls) {
  absl::StatusOr<PlanChoices> choices = PlanChoices::Load(Env::Default(), "tests/data/h100_plans.json");
  ASSERT_TRUE(choices.ok()) << choices.status();
  ASSERT_GT(choices->size(), 100);
  absl::StatusOr<std::shared_ptr<const Executable>> executable =
      CompileModelForGpu(GetParam().model, GetParam().batch, Precision::kMixedBfloat16);
  ASSERT_TRUE(executable.ok()) << executable.status();
  int64_t calls = 0, unknown = 0;
  for (const auto& command : CommandsInOrder((*executable)->index().programs[0])) {
    const format::LibraryCall* call = command->table().body.As<format::LibraryCall>();
    if (call == nullptr || call->operation.As<format::PackWeights>() != nullptr) continue;
    const bool cudnn = LibraryOf(*call) == GpuLibrary::kCudnn;
    const std::string key = PlanChoiceKey(*call, "NVIDIA H100 80GB HBM3", cudnn ? "cuDNN 9.19.0" : "cuBLASLt 130100");
    ++calls;
    if (choices->Find(key) != nullptr) continue;
    ++unknown;
    std::printf("not recorded: %s\n", key.c_str());
  }
  EXPECT_GT(calls, 10);
  EXPECT_LE(unknown, GetParam().unknown) << "of " << calls << " calls";
}

INSTANTIATE_TEST_SUITE_P(Models, RecordedPlansTest,
                         ::testing::Values(Case{"s0", 512, 0}, Case{"transformer", 512, 0}, Case{"resnet50", 256, 0}),
                         [](const auto& info) { return std::string(info.param.model); });

}  // namespace
}  // namespace tandem

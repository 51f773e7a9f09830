// What a GPU's streams are given in a step: launches that depend on each other cost one to two microseconds each, which
// the fast layers of a small network do not hide. Counted on programs for sm_90; nothing runs.
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "runtime/commands/command.h"
#include "tests/gpu/compiled_model.h"

namespace tandem {
namespace {

struct Case {
  std::string model;
  int64_t batch = 0;
  Precision precision = Precision::kFloat32;
  int64_t limit = 0;  // what the compiler has reached
  int64_t bar = 0;    // what it is to reach; 0: none
  bool tf32 = false;
};

std::string CaseName(const Case& c) {
  return absl::StrCat(c.model, c.precision == Precision::kMixedBfloat16 ? "_bfloat16" : c.tf32 ? "_tf32" : "_float32");
}

class LaunchCountsTest : public ::testing::TestWithParam<Case> {};

TEST_P(LaunchCountsTest, AreWithinTheLimit) {
  const Case& c = GetParam();
  absl::StatusOr<std::shared_ptr<const Executable>> executable =
      CompileModelForGpu(c.model, c.batch, c.precision, {.tf32 = c.tf32});
  ASSERT_TRUE(executable.ok()) << executable.status();
  const format::Index& index = (*executable)->index();
  const format::Program& program = index.programs[0];
  int64_t launches = 0;
  for (const auto& command : CommandsInOrder(program)) launches += command->GpuLaunches({index, program});
  std::printf(
      "%s, batch %d: %d launches%s\n", CaseName(c).c_str(), static_cast<int>(c.batch), static_cast<int>(launches),
      c.bar == 0 ? "" : absl::StrCat("; bar ", c.bar, launches <= c.bar ? ": reached" : ": NOT REACHED").c_str());
  EXPECT_LE(launches, c.limit);
}

INSTANTIATE_TEST_SUITE_P(Models, LaunchCountsTest,
                         ::testing::Values(Case{"s0", 512, Precision::kFloat32, 25, 30},
                                           Case{"s0", 512, Precision::kMixedBfloat16, 27, 30},
                                           Case{"transformer", 512, Precision::kFloat32, 85, 0},
                                           Case{"transformer", 512, Precision::kFloat32, 85, 0, /*tf32=*/true},
                                           Case{"transformer", 512, Precision::kMixedBfloat16, 86, 90},
                                           // The first filter gradient is seven rows of another.
                                           Case{"resnet50", 256, Precision::kFloat32, 429, 0},
                                           Case{"resnet50", 256, Precision::kMixedBfloat16, 421, 450}),
                         [](const auto& info) { return CaseName(info.param); });

}  // namespace
}  // namespace tandem

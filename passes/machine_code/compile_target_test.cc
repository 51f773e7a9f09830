#include "passes/machine_code/compile_target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "passes/analysis/machine_model.h"
#include "passes/codegen/cpu_target.h"

namespace tandem {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(CompileTargetTest, GpusAreNamedByComputeCapability) {
  absl::StatusOr<std::unique_ptr<CompileTarget>> target = ParseTarget("cuda:sm_90");
  ASSERT_TRUE(target.ok()) << target.status();
  EXPECT_EQ((*target)->device_class(), "gpu");
  EXPECT_TRUE((*target)->UseMixedBfloat16().ok());
  EXPECT_EQ((*target)->Requirements(), "cuda sm_90");
  EXPECT_TRUE(BuiltInMachineModel((*target)->MachineModelName()).ok());

  absl::StatusOr<std::unique_ptr<CompileTarget>> old = ParseTarget("cuda:sm_75");
  ASSERT_TRUE(old.ok()) << old.status();
  EXPECT_THAT(std::string((*old)->UseMixedBfloat16().message()), HasSubstr("\"cuda:sm_75\" is older"));
}

TEST(CompileTargetTest, EveryArchitectureHasAMachineModel) {
  for (int sm : CudaArchitectures()) {
    absl::StatusOr<std::unique_ptr<CompileTarget>> target = ParseTarget(absl::StrCat("cuda:sm_", sm));
    ASSERT_TRUE(target.ok()) << target.status();
    absl::StatusOr<MachineModel> model = BuiltInMachineModel((*target)->MachineModelName());
    ASSERT_TRUE(model.ok()) << model.status();
    // Where mixed_bfloat16 is allowed it is worth it.
    EXPECT_EQ((*target)->UseMixedBfloat16().ok(), model->library_bf16 > 1.25 * model->library_f32) << sm;
  }
}

TEST(CompileTargetTest, AGpuGetsTheNewestTargetThatItRuns) {
  EXPECT_EQ(*TargetForComputeCapability(75), "cuda:sm_75");
  EXPECT_EQ(*TargetForComputeCapability(90), "cuda:sm_90");
  EXPECT_EQ(*TargetForComputeCapability(121), "cuda:sm_120");
  EXPECT_THAT(std::string(TargetForComputeCapability(70).status().message()),
              HasSubstr("compute capability 7.0 is too old: 7.5 or newer"));
}

TEST(CompileTargetTest, ALevelIsWhatItsProcessorsHave) {
  absl::StatusOr<std::unique_ptr<CompileTarget>> target = ParseTarget("cpu:x86-64-v3");
  ASSERT_TRUE(target.ok()) << target.status();
  EXPECT_EQ((*target)->device_class(), "cpu");
  EXPECT_THAT(std::string((*target)->UseMixedBfloat16().message()), HasSubstr("needs a CPU with AVX-512"));
  EXPECT_THAT((*target)->Requirements(), StartsWith("x86-64 avx avx2 "));
  EXPECT_EQ((*target)->MachineModelName(), "generic-avx2");
  EXPECT_EQ((*target)->Name(), "cpu:x86-64-v3");
  EXPECT_EQ((*target)->LibraryInstructions(), format::InstructionSet::kAvx2);
}

TEST(CompileTargetTest, ProcessorsHaveVendorsAndModels) {
  for (const auto& [name, vendor, machine] :
       {std::tuple("cpu:znver4", "AMD", "zen4"), std::tuple("cpu:sapphirerapids", "Intel", "sapphirerapids"),
        std::tuple("cpu:cooperlake", "Intel", "generic-avx512"),
        std::tuple("cpu:x86-64-v4", "any", "generic-avx512")}) {
    absl::StatusOr<std::unique_ptr<CompileTarget>> target = ParseTarget(name);
    ASSERT_TRUE(target.ok()) << target.status();
    EXPECT_EQ((*target)->Name(), name);
    EXPECT_EQ(CpuTargetByName(absl::StripPrefix(name, "cpu:"))->vendor, vendor) << name;
    EXPECT_EQ((*target)->MachineModelName(), machine) << name;
    EXPECT_TRUE((*target)->UseMixedBfloat16().ok()) << name;
  }
}

TEST(CompileTargetTest, NativeIsResolved) {
  absl::StatusOr<std::unique_ptr<CompileTarget>> target = ParseTarget("cpu:native");
  ASSERT_TRUE(target.ok()) << target.status();
  EXPECT_THAT((*target)->Name(), StartsWith("cpu:"));
  EXPECT_NE((*target)->Name(), "cpu:native");
}

TEST(CompileTargetTest, SaysWhatTheMachineThatCompilesLacks) {
  const absl::StatusOr<CpuTarget> host = HostCpuTarget();
  ASSERT_TRUE(host.ok()) << host.status();
  for (const char* name : {"cpu:native", "cpu:sapphirerapids", "cuda:sm_90"}) {
    absl::StatusOr<std::unique_ptr<CompileTarget>> target = ParseTarget(name);
    ASSERT_TRUE(target.ok()) << target.status();
    if (host->vector_bits == 512) {
      EXPECT_TRUE((*target)->UseMixedBfloat16().ok()) << name;
    }
    const std::vector<std::string> missing = (*target)->MissingHere();
    if (absl::string_view(name) != "cpu:sapphirerapids") {
      EXPECT_TRUE(missing.empty()) << name << missing[0];
    }
    if (absl::string_view(name) == "cpu:sapphirerapids" && host->vector_bits == 512) {
      EXPECT_EQ(std::count(missing.begin(), missing.end(), "amx-tile"), host->has_tiles ? 0 : 1);
      EXPECT_EQ(std::count(missing.begin(), missing.end(), "avx2"), 0);
    }
  }
}

// LLVM would warn about an unknown architecture and abort later.
TEST(CompileTargetTest, OtherNamesAreRefusedWithTheListOfAll) {
  for (const char* name : {"", "cuda", "cuda:sm_", "cuda:sm_70", "cuda:sm_090", "cuda:sm_90a", "gpu:0", "avx2",
                           "cpu:", "cpu:host", "native"}) {
    absl::StatusOr<std::unique_ptr<CompileTarget>> target = ParseTarget(name);
    EXPECT_EQ(target.status().code(), absl::StatusCode::kInvalidArgument) << name;
    EXPECT_THAT(
        std::string(target.status().message()),
        HasSubstr(
            "cpu:native, cpu:x86-64-v3, cpu:x86-64-v4, cpu:cooperlake, cpu:znver4, cpu:sapphirerapids, cuda:sm_75, "));
  }
}

}  // namespace
}  // namespace tandem

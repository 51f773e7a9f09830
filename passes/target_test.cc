#include "passes/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "mlir/IR/MLIRContext.h"
#include "passes/analysis/machine_model.h"

namespace tandem {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

mlir::OwningOpRef<mlir::ModuleOp> EmptyModule(mlir::MLIRContext& context) {
  context.loadDialect<exec::ExecDialect>();
  return mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
}

TEST(TargetTest, GpusAreNamedByComputeCapability) {
  absl::StatusOr<CompileTarget> target = ParseTarget("cuda:sm_90");
  ASSERT_TRUE(target.ok()) << target.status();
  EXPECT_TRUE(target->gpu);
  EXPECT_EQ(target->sm, 90);
  EXPECT_TRUE(target->has_bfloat16());
  EXPECT_THAT(target->PtxArchitectures(), ElementsAre(75, 90));
  EXPECT_EQ(target->Requirements(), "cuda sm_90");
  EXPECT_TRUE(BuiltInMachineModel(MachineModelNameFor(*target)).ok());

  absl::StatusOr<CompileTarget> old = ParseTarget("cuda:sm_75");
  ASSERT_TRUE(old.ok()) << old.status();
  EXPECT_FALSE(old->has_bfloat16());
  EXPECT_THAT(old->PtxArchitectures(), ElementsAre(75));
}

TEST(TargetTest, AGpuGetsTheNewestTargetThatItRuns) {
  EXPECT_EQ(*TargetForComputeCapability(75), "cuda:sm_75");
  EXPECT_EQ(*TargetForComputeCapability(90), "cuda:sm_90");
  EXPECT_EQ(*TargetForComputeCapability(121), "cuda:sm_120");
  EXPECT_THAT(std::string(TargetForComputeCapability(70).status().message()),
              HasSubstr("compute capability 7.0 is too old: 7.5 or newer"));
}

TEST(TargetTest, ALevelIsWhatItsProcessorsHave) {
  absl::StatusOr<CompileTarget> target = ParseTarget("cpu:x86-64-v3");
  ASSERT_TRUE(target.ok()) << target.status();
  EXPECT_FALSE(target->gpu);
  EXPECT_EQ(target->cpu.vector_bits, 256);
  EXPECT_FALSE(target->has_bfloat16());
  EXPECT_TRUE(target->PtxArchitectures().empty());
  EXPECT_THAT(target->Requirements(), StartsWith("x86-64 avx avx2 "));
  EXPECT_EQ(MachineModelNameFor(*target), "generic-avx2");
  EXPECT_EQ(target->Name(), "cpu:x86-64-v3");
  EXPECT_EQ(target->LibraryInstructions(), fb::InstructionSet::Avx2);
}

TEST(TargetTest, ProcessorsHaveVendorsAndModels) {
  for (const auto& [name, vendor, machine] :
       {std::tuple("cpu:znver4", "AMD", "zen4"), std::tuple("cpu:sapphirerapids", "Intel", "sapphirerapids"),
        std::tuple("cpu:cooperlake", "Intel", "generic-avx512"),
        std::tuple("cpu:x86-64-v4", "any", "generic-avx512")}) {
    absl::StatusOr<CompileTarget> target = ParseTarget(name);
    ASSERT_TRUE(target.ok()) << target.status();
    EXPECT_EQ(target->Name(), name);
    EXPECT_EQ(target->cpu.vendor, vendor) << name;
    EXPECT_EQ(MachineModelNameFor(*target), machine) << name;
    EXPECT_EQ(target->cpu.vector_bits, 512) << name;
  }
}

TEST(TargetTest, NativeIsResolved) {
  absl::StatusOr<CompileTarget> target = ParseTarget("cpu:native");
  ASSERT_TRUE(target.ok()) << target.status();
  EXPECT_TRUE(target->native);
  EXPECT_THAT(target->Name(), StartsWith("cpu:"));
  EXPECT_NE(target->Name(), "cpu:native");
}

// LLVM would warn about an unknown architecture and abort later.
TEST(TargetTest, OtherNamesAreRefusedWithTheListOfAll) {
  for (const char* name : {"", "cuda", "cuda:sm_", "cuda:sm_70", "cuda:sm_090", "cuda:sm_90a", "gpu:0", "avx2",
                           "cpu:", "cpu:host", "native"}) {
    absl::StatusOr<CompileTarget> target = ParseTarget(name);
    EXPECT_EQ(target.status().code(), absl::StatusCode::kInvalidArgument) << name;
    EXPECT_THAT(
        std::string(target.status().message()),
        HasSubstr(
            "cpu:native, cpu:x86-64-v3, cpu:x86-64-v4, cpu:cooperlake, cpu:znver4, cpu:sapphirerapids, cuda:sm_75, "));
  }
}

TEST(TargetTest, AModuleKnowsItsTarget) {
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module = EmptyModule(context);
  SetTarget(*module, *ParseTarget("cpu:x86-64-v3"));
  EXPECT_FALSE(IsGpuTarget(*module));
  EXPECT_EQ(BufferAlignment(*module), 64);
  SetTarget(*module, *ParseTarget("cuda:sm_80"));
  EXPECT_TRUE(IsGpuTarget(*module));
  EXPECT_EQ(BufferAlignment(*module), 256);
}

}  // namespace
}  // namespace tandem

#include "passes/codegen/cpu_target.h"

#include "base/cpu_features.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

namespace tandem {
namespace {

// The runtime has to tell whether a machine can run what was compiled for any target.
TEST(CpuTargetTest, TheRuntimeKnowsAllFeaturesOfAllTargets) {
  std::vector<std::string> known;
  for (const auto& [name, here] : CpuFeatures()) known.push_back(name);
  for (const std::string& name : CpuTargetNames()) {
    absl::StatusOr<CpuTarget> target = CpuTargetByName(name);
    ASSERT_TRUE(target.ok()) << target.status();
    UseBFloat16(&*target);
    EXPECT_THAT(known, ::testing::IsSupersetOf(target->required)) << name;
  }
}

TEST(CpuTargetTest, TheRuntimeFindsTheFeaturesThatLlvmFinds) {
  const llvm::StringMap<bool> found = llvm::sys::getHostCPUFeatures();
  ASSERT_TRUE(found.lookup("sse2"));
  for (const auto& [name, here] : CpuFeatures()) {
    ASSERT_TRUE(found.contains(name)) << "LLVM has no feature of the name " << name;
    EXPECT_EQ(here, found.lookup(name)) << name;
  }
}

}  // namespace
}  // namespace tandem

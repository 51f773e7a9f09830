// Compiles what compiled_programs.md shows.
#include <string>

#include "estimator/test_models.h"
#include "gtest/gtest.h"
#include "tandem/base/env.h"
#include "tandem/estimator/estimator.h"

namespace tandem {
namespace {

#include "docs/guide/compiled_programs_test_blocks.inc"

TEST(CompiledProgramsPage, ForOtherMachines) {
  const std::string dir = test::ModelDir();
  Estimator estimator(test::LineModel, ForOtherMachines(dir));
  ASSERT_EQ(estimator.Train(test::LineInput(), {.steps = 1}), absl::OkStatus());
  EXPECT_EQ(estimator.global_step(), 0);
  const auto programs = Env::Default()->ListDir(dir + "/compiled");
  ASSERT_TRUE(programs.ok()) << programs.status();
  EXPECT_FALSE(programs->empty());
}

}  // namespace
}  // namespace tandem

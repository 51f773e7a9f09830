// CI's sample of the oracle: compiled training steps against double precision computed from the formulas.
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/compiled/harness.h"
#include "tests/oracle/cases.h"
#include "tests/oracle/runner.h"

namespace tandem::oracle {
namespace {

class Oracle : public testing::TestWithParam<Case> {};

TEST_P(Oracle, AgreesWithDoublePrecision) {
  Runner runner(testing::TempDir() + "/kernels");  // what cases have in common is compiled once
  absl::StatusOr<std::vector<std::string>> differences = runner.Run(GetParam());
  ASSERT_TRUE(differences.ok()) << differences.status();
  for (const std::string& difference : *differences) ADD_FAILURE() << difference;
  if (!differences->empty()) ADD_FAILURE() << "bazel run //tests/oracle -- --run=" << GetParam().Id();
}

INSTANTIATE_TEST_SUITE_P(Sample, Oracle, testing::ValuesIn(SampledCases(kSampleSeed, kSamplePerModel)),
                         [](const auto& info) {
                           std::string name = std::to_string(info.index) + "_" + info.param.Id();
                           for (char& c : name) c = c == '/' ? '_' : c;
                           return name;
                         });

TEST(OracleCases, AreFoundByTheirNames) {
  for (const Case& c : AllCases()) {
    absl::StatusOr<Case> found = CaseFromId(c.Id());
    ASSERT_TRUE(found.ok()) << found.status();
    ASSERT_EQ(found->Id(), c.Id());
  }
  for (const char* wrong : {"dense", "dense/sgd/no_clipping/1/float32", "dense/adam/no_clipping/3/float32"}) {
    EXPECT_EQ(CaseFromId(wrong).status().code(), absl::StatusCode::kInvalidArgument) << wrong;
  }
}

}  // namespace
}  // namespace tandem::oracle

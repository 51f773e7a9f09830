#include "tests/oracle/singular_points.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tandem::oracle {
namespace {

TEST(SingularPoints, OfOps) {
  const absl::StatusOr<std::vector<std::string>> wrong = WrongNumbers(SingularOps());
  ASSERT_TRUE(wrong.ok()) << wrong.status();
  EXPECT_THAT(*wrong, testing::IsEmpty());
}

TEST(SingularPoints, OfLosses) {
  const absl::StatusOr<std::vector<std::string>> wrong = WrongNumbers(SingularLosses());
  ASSERT_TRUE(wrong.ok()) << wrong.status();
  EXPECT_THAT(*wrong, testing::IsEmpty());
}

}  // namespace
}  // namespace tandem::oracle

// Reference semantics of pooling against values worked out by hand.
#include <cmath>
#include <limits>

#include "gmock/gmock.h"
#include "graph/ir/evaluate_test_util.h"
#include "gtest/gtest.h"

namespace tandem::td {
namespace {

using testing::ElementsAre;

TEST(MaxPoolTest, TakesTheLargestOfEveryWindow) {
  EXPECT_THAT(EvaluateOp("%x: tensor<?x4x4x1xf32>",
                         "%y = td.max_pool %x window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : "
                         "tensor<?x4x4x1xf32> -> tensor<?x2x2x1xf32>",
                         {{1, 2, -1, -2, 3, 4, -3, -4, 9, 8, 5, 5, 7, 6, 5, 5}}),
              ElementsAre(ElementsAre(4, -1, 9, 5)));
}

TEST(MaxPoolTest, PaddingNeverWinsAndRowsStayApart) {
  EXPECT_THAT(EvaluateOp("%x: tensor<?x1x3x1xf32>",
                         "%y = td.max_pool %x window [2, 2] strides [1, 2] low [1, 0] high [0, 1] : "
                         "tensor<?x1x3x1xf32> -> tensor<?x1x2x1xf32>",
                         {{-1, -2, -3, -6, -5, -4}}, 2),
              ElementsAre(ElementsAre(-1, -3, -5, -4)));
}

TEST(MaxPoolTest, ChannelsStayApartAndNaNWins) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  auto y = EvaluateOp("%x: tensor<?x2x1x2xf32>",
                      "%y = td.max_pool %x window [2, 1] strides [1, 1] low [0, 0] high [0, 0] : "
                      "tensor<?x2x1x2xf32> -> tensor<?x1x1x2xf32>",
                      {{nan, 1, 2, 3}});
  ASSERT_EQ(y[0].size(), 2u);
  EXPECT_TRUE(std::isnan(y[0][0]));
  EXPECT_EQ(y[0][1], 3);
}

TEST(MaxPoolGradTest, GoesToTheFirstMaximum) {
  EXPECT_THAT(EvaluateOp("%x: tensor<?x2x5x1xf32>, %dy: tensor<?x1x2x1xf32>",
                         "%dx = td.max_pool_grad %x, %dy window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : "
                         "tensor<?x2x5x1xf32>, tensor<?x1x2x1xf32> -> tensor<?x2x5x1xf32>",
                         {{1, 3, 2, 2, 9, 3, 0, 2, 2, 9}, {10, 20}}),
              ElementsAre(ElementsAre(0, 10, 20, 0, 0, 0, 0, 0, 0, 0)));
}

TEST(MaxPoolGradTest, WindowsThatOverlapAddUp) {
  EXPECT_THAT(EvaluateOp("%x: tensor<?x1x3x1xf32>, %dy: tensor<?x1x2x1xf32>",
                         "%dx = td.max_pool_grad %x, %dy window [1, 2] strides [1, 1] low [0, 0] high [0, 0] : "
                         "tensor<?x1x3x1xf32>, tensor<?x1x2x1xf32> -> tensor<?x1x3x1xf32>",
                         {{1, 5, 2}, {10, 20}}),
              ElementsAre(ElementsAre(0, 30, 0)));
}

TEST(MaxPoolArgmaxTest, NumbersTheFirstMaximumOfEveryWindow) {
  EXPECT_THAT(EvaluateOp("%x: tensor<?x2x5x1xf32>",
                         "%k = td.max_pool_argmax %x window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : "
                         "tensor<?x2x5x1xf32> -> tensor<?x1x2x1xui8>",
                         {{1, 3, -2, -2, 9, 3, 4, -2, -2, 9}}),
              ElementsAre(ElementsAre(3, 0)));
}

TEST(MaxPoolArgmaxTest, PaddingCountsButNeverWinsAndNothingIsPositiveBelowZero) {
  const char* x = "%x: tensor<?x1x2x1xf32>";
  const std::string op = "%k = td.max_pool_argmax %x window [2, 2] strides [1, 1] low [1, 1] high [0, 1] ";
  const std::string type = " : tensor<?x1x2x1xf32> -> tensor<?x1x3x1xui8>";
  EXPECT_THAT(EvaluateOp(x, op + type, {{0, 1}}), ElementsAre(ElementsAre(3, 3, 2)));
  EXPECT_THAT(EvaluateOp(x, op + "{positive = true}" + type, {{0, 1}}), ElementsAre(ElementsAre(255, 3, 2)));
}

TEST(MaxPoolArgmaxGradTest, GoesToTheNumberedElements) {
  EXPECT_THAT(EvaluateOp("%k: tensor<?x1x2x1xui8>, %dy: tensor<?x1x2x1xf32>",
                         "%dx = td.max_pool_argmax_grad %k, %dy size [1, 3] window [1, 2] strides [1, 1] low [0, 0] "
                         "high [0, 0] : tensor<?x1x2x1xui8>, tensor<?x1x2x1xf32> -> tensor<?x1x3x1xf32>",
                         {{1, 0, 255, 1}, {10, 20, 30, 40}}, 2),
              ElementsAre(ElementsAre(0, 30, 0, 0, 0, 40)));
}

TEST(AvgPoolTest, DividesByTheElementsInsideTheImage) {
  // A 3x3 image, window 2, SAME with stride 2: windows of 4, 2, 2 and 1 elements.
  EXPECT_THAT(EvaluateOp("%x: tensor<?x3x3x1xf32>",
                         "%y = td.avg_pool %x window [2, 2] strides [2, 2] low [0, 0] high [1, 1] : "
                         "tensor<?x3x3x1xf32> -> tensor<?x2x2x1xf32>",
                         {{1, 2, 3, 4, 5, 6, 7, 8, 9}}),
              ElementsAre(ElementsAre(3, 4.5, 7.5, 9)));
}

TEST(AvgPoolGradTest, SharesEveryGradientAmongItsWindow) {
  EXPECT_THAT(EvaluateOp("%dy: tensor<?x2x2x1xf32>",
                         "%dx = td.avg_pool_grad %dy size [3, 3] window [2, 2] strides [2, 2] low [0, 0] high [1, 1] : "
                         "tensor<?x2x2x1xf32> -> tensor<?x3x3x1xf32>",
                         {{4, 6, 8, 10}}),
              ElementsAre(ElementsAre(1, 1, 3, 1, 1, 3, 4, 4, 10)));
}

}  // namespace
}  // namespace tandem::td

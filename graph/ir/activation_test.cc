// Reference semantics of the smooth activations against tabulated values.
#include "gmock/gmock.h"
#include "graph/ir/evaluate_test_util.h"
#include "gtest/gtest.h"

namespace tandem::td {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

auto Near(double v) { return DoubleNear(v, 1e-9); }

TEST(ErfTest, TabulatedValues) {
  EXPECT_THAT(EvaluateOp("%x: tensor<?x3xf32>", "%y = td.erf %x : tensor<?x3xf32>", {{0, 0.5, -2}}),
              ElementsAre(ElementsAre(0, Near(0.520499877813), Near(-0.995322265019))));
}

// Phi(1) = 0.841344746068, Phi(-2) = 0.022750131948.
TEST(GeluTest, TimesTheDistributionFunction) {
  EXPECT_THAT(EvaluateOp("%x: tensor<?x4xf32>", "%y = td.gelu %x : tensor<?x4xf32>", {{0, 1, -2, 40}}),
              ElementsAre(ElementsAre(0, Near(0.841344746068), Near(-2 * 0.022750131948), 40)));
}

// The approximation at 1 and -2: 0.841191990608, -0.045402305912 (torch.nn.functional.gelu, approximate="tanh").
TEST(GeluTest, TanhApproximation) {
  EXPECT_THAT(EvaluateOp("%x: tensor<?x3xf32>", "%y = td.gelu %x {approximate = true} : tensor<?x3xf32>", {{0, 1, -2}}),
              ElementsAre(ElementsAre(0, Near(0.841191990608), Near(-0.045402305912))));
}

// The slopes at 0, 1 and -2 by differences of the functions above, in Python.
TEST(GeluGradTest, TimesTheSlope) {
  EXPECT_THAT(EvaluateOp("%d: tensor<?x3xf32>, %x: tensor<?x3xf32>", "%y = td.gelu_grad %d, %x : tensor<?x3xf32>",
                         {{1, 2, -1}, {0, 1, -2}}),
              ElementsAre(ElementsAre(0.5, Near(2 * 1.083315470588), Near(0.085231801078))));
}

TEST(GeluGradTest, TimesTheSlopeOfTheApproximation) {
  EXPECT_THAT(EvaluateOp("%d: tensor<?x3xf32>, %x: tensor<?x3xf32>",
                         "%y = td.gelu_grad %d, %x {approximate = true} : tensor<?x3xf32>", {{1, 2, -1}, {0, 1, -2}}),
              ElementsAre(ElementsAre(0.5, Near(2 * 1.082964083846), Near(0.086099256624))));
}

}  // namespace
}  // namespace tandem::td

// Reference semantics of softmax, cross-entropies and batch moments against closed forms.
#include <cmath>

#include "gmock/gmock.h"
#include "graph/ir/evaluate_test_util.h"
#include "gtest/gtest.h"

namespace tandem::td {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::IsNan;

auto Near(double v) { return DoubleNear(v, 1e-12); }

// Logits log(1), log(2), log(5) have the probabilities 1/8, 2/8, 5/8, wherever they are shifted to.
std::vector<double> Logits(double shift = 0) { return {std::log(1) + shift, std::log(2) + shift, std::log(5) + shift}; }

TEST(SoftmaxTest, IsTheSameForShiftedLogits) {
  for (double shift : {0.0, 700.0, -700.0}) {
    EXPECT_THAT(EvaluateOp("%x: tensor<?x3xf32>", "%y = td.softmax %x : tensor<?x3xf32>", {Logits(shift)}),
                ElementsAre(ElementsAre(Near(0.125), Near(0.25), Near(0.625))));
  }
}

TEST(SoftmaxTest, LeadingDimensionsAreRows) {
  EXPECT_THAT(EvaluateOp("%x: tensor<2x1x2xf32>", "%y = td.softmax %x : tensor<2x1x2xf32>", {{4, 4, 0, std::log(3)}}),
              ElementsAre(ElementsAre(Near(0.5), Near(0.5), Near(0.25), Near(0.75))));
}

TEST(LogSoftmaxTest, IsTheLogarithmOfSoftmax) {
  EXPECT_THAT(EvaluateOp("%x: tensor<?x3xf32>", "%y = td.log_softmax %x : tensor<?x3xf32>", {Logits(1000)}),
              ElementsAre(ElementsAre(Near(std::log(0.125)), Near(std::log(0.25)), Near(std::log(0.625)))));
}

TEST(SoftmaxCrossEntropyTest, WeighsTheLogProbabilities) {
  EXPECT_THAT(EvaluateOp("%l: tensor<?x3xf32>, %x: tensor<?x3xf32>",
                         "%y = td.softmax_cross_entropy %l, %x : tensor<?x3xf32>, tensor<?x3xf32> -> tensor<?xf32>",
                         {{0.5, 0, 0.5}, Logits(1000)}),
              ElementsAre(ElementsAre(Near(-0.5 * std::log(0.125) - 0.5 * std::log(0.625)))));
}

TEST(LayerNormTest, NormalisesEveryRow) {
  // Means 2 and 1000; variances 1 and 25, of which epsilon 11 makes 12 and 36.
  const double r = 1 / std::sqrt(12.0);
  EXPECT_THAT(
      EvaluateOp("%x: tensor<?x1x2xf32>",
                 "%y, %r = td.layer_norm %x epsilon 11.0 : tensor<?x1x2xf32> -> tensor<?x1x2xf32>, tensor<?x1xf32>",
                 {{1, 3, 1005, 995}}, 2),
      ElementsAre(ElementsAre(Near(-r), Near(r), Near(5.0 / 6), Near(-5.0 / 6)), ElementsAre(Near(r), Near(1.0 / 6))));
}

TEST(SparseSoftmaxCrossEntropyTest, PicksTheLabel) {
  std::vector<double> logits = Logits(), more = Logits(3);
  logits.insert(logits.end(), more.begin(), more.end());
  EXPECT_THAT(
      EvaluateOp("%l: tensor<?xi64>, %x: tensor<?x3xf32>",
                 "%y = td.sparse_softmax_cross_entropy %l, %x : tensor<?xi64>, tensor<?x3xf32> -> tensor<?xf32>",
                 {{2, 0}, logits}, 2),
      ElementsAre(ElementsAre(Near(-std::log(0.625)), Near(-std::log(0.125)))));
}

TEST(SparseSoftmaxCrossEntropyTest, TheLossOfALabelOfNoClassIsNaN) {
  for (double label : {-1, 3, 7}) {
    std::vector<double> logits = Logits(), more = Logits();
    logits.insert(logits.end(), more.begin(), more.end());
    EXPECT_THAT(
        EvaluateOp("%l: tensor<?xi64>, %x: tensor<?x3xf32>",
                   "%y = td.sparse_softmax_cross_entropy %l, %x : tensor<?xi64>, tensor<?x3xf32> -> tensor<?xf32>",
                   {{label, 2}, logits}, 2),
        ElementsAre(ElementsAre(IsNan(), Near(-std::log(0.625)))));
  }
}

TEST(BatchMomentsTest, PerChannelOverRowsAndPixels) {
  // Channel 0: 1 3 5 7; channel 1: a constant far from zero, whose variance must not be rounding noise.
  EXPECT_THAT(EvaluateOp("%x: tensor<?x2x2xf32>, %n: tensor<f32>",
                         "%m, %v = td.batch_moments %x, %n scope replica : "
                         "tensor<?x2x2xf32>, tensor<f32> -> tensor<2xf32>, tensor<2xf32>",
                         {{1, 1e6, 3, 1e6, 5, 1e6, 7, 1e6}, {2}}, 2),
              ElementsAre(ElementsAre(4, 1e6), ElementsAre(5, 0)));
}

}  // namespace
}  // namespace tandem::td

// Reference semantics of attention and its gradient against closed forms and differences.
#include <cmath>

#include "gmock/gmock.h"
#include "graph/ir/evaluate_test_util.h"
#include "gtest/gtest.h"

namespace tandem::td {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using Values = std::vector<std::vector<double>>;

auto Near(double v) { return DoubleNear(v, 1e-12); }

// One head, two queries and keys of one number each.
const char kOperands[] = "%q: tensor<?x1x2x1xf32>, %k: tensor<?x1x2x1xf32>, %v: tensor<?x1x2x1xf32>";
const char kTypes[] =
    "(tensor<?x1x2x1xf32>, tensor<?x1x2x1xf32>, tensor<?x1x2x1xf32>) -> "
    "(tensor<?x1x2x1xf32>, tensor<?x1x2xf32>, tensor<?x1x2xf32>)";

// Scores of the first query are 0 and log(3), of the second 0 and 2 log(3): weights 1/4, 3/4 and 1/10, 9/10.
const Values kScores = {{1, 2}, {0, std::log(3) / 2}, {8, 12}};

Values Attend(const std::string& attributes) {
  return EvaluateOp(kOperands, "%y, %m, %s = td.attention %q, %k, %v {" + attributes + "} : " + kTypes, kScores);
}

TEST(AttentionTest, MixesValues) {
  EXPECT_THAT(Attend("scale = 2.0"), ElementsAre(ElementsAre(Near(8 / 4.0 + 12 * 3 / 4.0), Near(0.8 + 12 * 0.9)),
                                                 ElementsAre(Near(std::log(3)), Near(2 * std::log(3))),
                                                 ElementsAre(Near(1 + 1 / 3.0), Near(1 + 1 / 9.0))));
}

TEST(AttentionTest, CausalQueriesSeeEarlierKeys) {
  EXPECT_THAT(Attend("scale = 2.0, causal"),
              ElementsAre(ElementsAre(Near(8), Near(0.8 + 12 * 0.9)), ElementsAre(Near(0), Near(2 * std::log(3))),
                          ElementsAre(Near(1), Near(1 + 1 / 9.0))));
}

const char kKept[] = "%q: tensor<?x1x2x1xf32>, %k: tensor<?x1x2x1xf32>, %v: tensor<?x1x2x1xf32>, %c: ";

TEST(AttentionTest, ScoresThatAreNotKeptAreLow) {
  // The second key is not kept; of the second example none is, so that all weigh alike.
  const Values two = {{1, 2, 1, 2}, {0, 1, 0, 1}, {8, 12, 8, 12}, {1, 0, 0, 0}};
  const std::string op =
      "%y, %m, %s = td.attention %q, %k, %v keep %c {scale = 1.0, low = -1.0e9} : "
      "(tensor<?x1x2x1xf32>, tensor<?x1x2x1xf32>, tensor<?x1x2x1xf32>, tensor<?x2xi1>) -> "
      "(tensor<?x1x2x1xf32>, tensor<?x1x2xf32>, tensor<?x1x2xf32>)";
  EXPECT_THAT(EvaluateOp(std::string(kKept) + "tensor<?x2xi1>", op, two, 2)[0],
              ElementsAre(Near(8), Near(8), Near(10), Near(10)));
}

// The gradients of sum(dy * y), by differences of the forward pass.
TEST(AttentionGradTest, IsTheDerivative) {
  // Two heads inside a position, two queries, three keys, two numbers; the values have one.
  const std::string rows = "%q: tensor<?x2x2x2xf32>, %k: tensor<?x3x2x2xf32>, %v: tensor<?x3x2x1xf32>";
  const std::string types = "tensor<?x2x2x2xf32>, tensor<?x3x2x2xf32>, tensor<?x3x2x1xf32>";
  const std::string results = "tensor<?x2x2x1xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>";
  const std::string keep = ", %c: tensor<?x2x3xi1>", attributes = "{scale = 0.7, low = -1.0e9, heads_inside}";
  Values x = {{0.3, -1.2, 0.8, 0.5, 1.1, -0.4, 0.2, 0.9},
              {0.1, 0.7, -0.6, 1.3, 0.4, -0.9, 0.8, 0.2, -1.1, 0.5, 0.3, -0.2},
              {1.5, -0.5, 0.25, 2, -1, 0.75}};
  const std::vector<double> kept = {1, 0, 1, 1, 1, 1}, dy = {1, -2, 0.5, 3};
  const auto forward = [&](const Values& operands) {
    Values all = operands;
    all.push_back(kept);
    return EvaluateOp(rows + keep,
                      "%y, %m, %s = td.attention %q, %k, %v keep %c " + attributes + " : (" + types +
                          ", tensor<?x2x3xi1>) -> (" + results + ")",
                      all);
  };
  const auto loss = [&](const Values& operands) {
    const std::vector<double> y = forward(operands)[0];
    double sum = 0;
    for (size_t i = 0; i < y.size(); ++i) sum += dy[i] * y[i];
    return sum;
  };
  const Values y = forward(x);
  Values all = x;
  all.insert(all.end(), y.begin(), y.end());
  all.push_back(dy);
  all.push_back(kept);
  const Values gradients = EvaluateOp(
      rows + ", %y: tensor<?x2x2x1xf32>, %m: tensor<?x2x2xf32>, %s: tensor<?x2x2xf32>, %dy: tensor<?x2x2x1xf32>" + keep,
      "%dq, %dk, %dv = td.attention_grad %q, %k, %v, %y, %m, %s, %dy keep %c " + attributes + " : (" + types + ", " +
          results + ", tensor<?x2x2x1xf32>, tensor<?x2x3xi1>) -> (" + types + ")",
      all);
  constexpr double kStep = 1e-5;
  for (size_t operand = 0; operand < x.size(); ++operand) {
    for (size_t i = 0; i < x[operand].size(); ++i) {
      Values up = x, down = x;
      up[operand][i] += kStep;
      down[operand][i] -= kStep;
      EXPECT_NEAR(gradients[operand][i], (loss(up) - loss(down)) / (2 * kStep), 1e-8) << operand << " " << i;
    }
  }
}

}  // namespace
}  // namespace tandem::td

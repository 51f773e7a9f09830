// Reference semantics of optimizer updates against values worked out by hand.
#include <cmath>

#include "gmock/gmock.h"
#include "graph/ir/evaluate_test_util.h"
#include "gtest/gtest.h"

namespace tandem::td {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

auto Near(double v) { return DoubleNear(v, 1e-12); }

// One step of `op` (with attributes) on scalars: the variable, `slots` slots, the gradient and the rate.
std::vector<std::vector<double>> Step(const std::string& op, int slots, const std::vector<double>& values,
                                      const std::string& attributes) {
  const std::string type = "tensor<1xf32>";
  std::string arguments, names, types, results = type, targets = "%0";
  for (int i = 0; i < slots + 2; ++i) {
    std::string name = "%a" + std::to_string(i);
    arguments += name + ": " + type + ", ";
    names += name + ", ";
    types += type + ", ";
    if (i > 0 && i <= slots) {
      results += ", " + type;
      targets += ", %" + std::to_string(i);
    }
  }
  std::vector<std::vector<double>> operands;
  for (double v : values) operands.push_back({v});
  return EvaluateOp(arguments + "%lr: tensor<f32>",
                    targets + " = td." + op + " " + names + "%lr " + attributes + " : (" + types + "tensor<f32>) -> (" +
                        results + ")",
                    operands);
}

TEST(ApplySgdTest, Step) { EXPECT_THAT(Step("apply_sgd", 0, {1, 4, 0.25}, ""), ElementsAre(ElementsAre(0))); }

TEST(ApplyMomentumTest, Step) {
  // accum' = 0.5 * 2 + 4 = 5.
  EXPECT_THAT(Step("apply_momentum", 1, {1, 2, 4, 0.25}, "{momentum = 0.5}"),
              ElementsAre(ElementsAre(1 - 0.25 * 5), ElementsAre(5)));
  EXPECT_THAT(Step("apply_momentum", 1, {1, 2, 4, 0.25}, "{momentum = 0.5, nesterov = true}"),
              ElementsAre(ElementsAre(1 - 0.25 * (4 + 0.5 * 5)), ElementsAre(5)));
}

TEST(ApplyAdamTest, Step) {
  // m' = 0.75 * 2 + 0.25 * 4 = 2.5; v' = 0.9 * 8 + 0.1 * 16 = 8.8.
  EXPECT_THAT(
      Step("apply_adam", 2, {1, 2, 8, 4, 0.5}, "{beta1 = 0.75, beta2 = 0.9, epsilon = 0.1}"),
      ElementsAre(ElementsAre(Near(1 - 0.5 * 2.5 / (std::sqrt(8.8) + 0.1))), ElementsAre(2.5), ElementsAre(Near(8.8))));
}

TEST(ApplyRmsPropTest, Step) {
  // ms' = 0.75 * 4 + 0.25 * 4 = 4.
  EXPECT_THAT(Step("apply_rmsprop", 1, {1, 4, 2, 0.5}, "{rho = 0.75, epsilon = 0.5}"),
              ElementsAre(ElementsAre(Near(1 - 0.5 * 2 / 2.5)), ElementsAre(4)));
  // accum' = 0.5 * 3 + 0.5 * 2 / 2.5 = 1.9.
  EXPECT_THAT(Step("apply_rmsprop_momentum", 2, {1, 4, 3, 2, 0.5}, "{rho = 0.75, momentum = 0.5, epsilon = 0.5}"),
              ElementsAre(ElementsAre(Near(1 - 1.9)), ElementsAre(4), ElementsAre(Near(1.9))));
}

}  // namespace
}  // namespace tandem::td

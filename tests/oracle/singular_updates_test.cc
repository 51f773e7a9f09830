// Updates by gradients that are 0 from the first step on, and by ones whose squares are infinite in float32. What is
// right is the optimizers' formulas (frontends/optimizers.h) in IEEE 754 arithmetic: an infinite root divides a
// gradient to 0, as in TensorFlow and PyTorch, and nothing is NaN that only meets an infinity.
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "frontends/optimizers.h"
#include "graph/ops.h"
#include "gtest/gtest.h"
#include "tests/compiled/harness.h"
#include "tests/oracle/singular_points.h"

namespace tandem::oracle {
namespace {

using namespace optimizers;  // NOLINT: what the test is about

// The gradients, of weights that are all 1/2 before.
const Numbers kGradients = {0, -0.0, 1e30, -1e30, 1};
constexpr double kBefore = 0.5, kRate = 0.1;

struct UpdateRow {
  std::string name;
  Optimizer optimizer;
  std::string slot;  // the first one's name behind the variable's; the next have "_1", "_2"
  // The weights and slots after one step by kGradients, and after one by zeros, the same for all weights.
  std::vector<Numbers> after;
  Numbers after_zeros;
};

// `value` where the gradient is 0, the following ones where it is 1e30, -1e30 and 1.
Numbers Each(double zero, double large, double negative, double one) { return {zero, zero, large, negative, one}; }
// The weights, moved only where the gradient is 1.
Numbers MovedBy(double change) { return Each(kBefore, kBefore, kBefore, kBefore - change); }

std::vector<UpdateRow> GradientRows() {
  const Numbers descended = Each(kBefore, -1e29, 1e29, kBefore - kRate);
  const Numbers gradient = Each(0, 1e30, -1e30, 1);
  const Numbers signs = Each(kBefore, kBefore - kRate, kBefore + kRate, kBefore - kRate);
  return {
      {"sgd", GradientDescent({.learning_rate = kRate}), "", {descended}, {kBefore}},
      {"momentum", Momentum({.learning_rate = kRate}), "/Momentum", {descended, gradient}, {kBefore, 0}},
      {"lion", Lion({.learning_rate = kRate}), "/Lion", {signs, Each(0, 1e28, -1e28, 0.01)}, {kBefore, 0}},
      // The largest magnitude needs no square.
      {"adamax",
       Adamax({.learning_rate = kRate}),
       "/Adamax",
       {signs, Each(0, 1e29, -1e29, 0.1), Each(0, 1e30, 1e30, 1)},
       {kBefore, 0, 0}},
  };
}

std::vector<UpdateRow> SquareRows() {
  auto squares = [](double share) { return Each(0, kInf, kInf, share); };
  const Numbers tenth = Each(0, 1e29, -1e29, 0.1);
  // Nadam's shares of the first two steps.
  const double now = 0.9 * (1 - 0.5 * 0.96), next = 0.9 * (1 - 0.5 * 0.96 * 0.96);
  const double step = std::sqrt(1e-7) / std::sqrt(0.05 + 1e-7);
  return {
      {"adam", Adam({.learning_rate = kRate}), "/Adam", {MovedBy(kRate), tenth, squares(0.001)}, {kBefore, 0, 0}},
      {"adam_without_epsilon",
       Adam({.learning_rate = kRate, .epsilon = 0}),
       "/Adam",
       {Each(kNaN, kBefore, kBefore, kBefore - kRate), tenth, squares(0.001)},
       {kNaN, 0, 0}},
      {"adamw",
       AdamW({.learning_rate = kRate, .weight_decay = 0}),
       "/AdamW",
       {MovedBy(kRate), tenth, squares(0.001)},
       {kBefore, 0, 0}},
      {"rmsprop",
       RMSprop({.learning_rate = kRate}),
       "/RMSProp",
       {MovedBy(kRate / std::sqrt(0.1)), squares(0.1)},
       {kBefore, 0}},
      {"rmsprop_with_momentum",
       RMSprop({.learning_rate = kRate, .momentum = 0.9}),
       "/RMSProp",
       {MovedBy(kRate / std::sqrt(0.1)), squares(0.1), Each(0, 0, 0, kRate / std::sqrt(0.1))},
       {kBefore, 0, 0}},
      {"rmsprop_in_root",
       RMSprop({.learning_rate = kRate, .epsilon_in_root = true}),
       "/RMSProp",
       {MovedBy(kRate / std::sqrt(0.1)), squares(0.1)},
       {kBefore, 0}},
      {"adagrad",
       Adagrad({.learning_rate = kRate, .initial_accumulator_value = 0}),
       "/Adagrad",
       {MovedBy(kRate), squares(1)},
       {kBefore, 0}},
      {"adadelta",
       Adadelta({.learning_rate = kRate}),
       "/Adadelta",
       {MovedBy(kRate * step), squares(0.05), Each(0, 0, 0, 0.05 * step * step)},
       {kBefore, 0, 0}},
      {"nadam",
       Nadam({.learning_rate = kRate}),
       "/Nadam",
       {MovedBy(kRate * (next * 0.1 / (1 - now * next) + 1)), tenth, squares(0.001), Each(now, now, now, now)},
       {kBefore, 0, 0, now}},
      // The norm of what is left, 1, and that of the weights.
      {"lamb",
       LAMB({.learning_rate = kRate}),
       "/LAMB",
       {MovedBy(kRate * std::sqrt(5) * kBefore), tenth, squares(0.001)},
       {kBefore, 0, 0}},
      // The gradient's norm is infinite, so that the trust ratio is 0.
      {"lars", LARS({.learning_rate = kRate}), "/LARS", {MovedBy(0), Each(0, 0, 0, 0)}, {kBefore, 0}},
  };
}

std::vector<UpdateRow> FtrlRows() {
  // n = g^2, z = g - |g| / lr w and w = -z lr / |g|, at g = 1; at 1e30 an infinite n comes with an infinite z, and w is
  // their quotient, as in Keras.
  const double z = 1 - kBefore / kRate, root = std::sqrt(1.1), moved = 1 - (root - std::sqrt(0.1)) / kRate * kBefore;
  const Numbers squares = Each(0, kInf, kInf, 1), sums = Each(0.1, kInf, kInf, 1.1);
  return {
      // McMahan et al. 2013, algorithm 1: the weight is 0 where |z| <= l1.
      {"ftrl",
       Ftrl({.learning_rate = kRate, .initial_accumulator_value = 0}),
       "/Ftrl",
       {Each(0, kNaN, kNaN, -z * kRate), squares, Each(0, -kInf, -kInf, z)},
       {0, 0, 0}},
      {"ftrl_with_l1",
       Ftrl({.learning_rate = kRate, .initial_accumulator_value = 0, .l1 = 10}),
       "/Ftrl",
       {Each(0, kNaN, kNaN, 0), squares, Each(0, -kInf, -kInf, z)},
       {0, 0, 0}},
      {"ftrl_of_a_tenth",
       Ftrl({.learning_rate = kRate}),
       "/Ftrl",
       {Each(0, kNaN, kNaN, -moved * kRate / root), sums, Each(0, -kInf, -kInf, moved)},
       {0, 0.1, 0}},
      {"ftrl_of_power_0",
       Ftrl({.learning_rate = kRate, .learning_rate_power = 0, .initial_accumulator_value = 0}),
       "/Ftrl",
       {Each(0, -1e29, 1e29, -kRate), squares, Each(0, 1e30, -1e30, 1)},
       {0, 0, 0}},
  };
}

std::vector<UpdateRow> Rows() {
  std::vector<UpdateRow> rows;
  for (auto family : {GradientRows, SquareRows, FtrlRows}) {
    for (UpdateRow& row : family()) rows.push_back(std::move(row));
  }
  return rows;
}

// The gradient of each optimizer's weights is the row x.
void Build(GraphBuilder& g, const std::vector<UpdateRow>& rows) {
  Tensor x = g.Input("x", DType::kFloat32, {kBatch, static_cast<int64_t>(kGradients.size())});
  for (const UpdateRow& row : rows) {
    Tensor w = g.Variable({.name = row.name, .shape = {static_cast<int64_t>(kGradients.size())}});
    row.optimizer.Minimize(ReduceMean(ReduceSum(x * w, {1})), {.var_list = {w}});
  }
}

void ExpectAfter(const compiled::Program& program, const UpdateRow& row, const std::vector<Numbers>& after) {
  for (size_t i = 0; i < after.size(); ++i) {
    std::string name = row.name;
    if (i > 0) name += row.slot;
    if (i > 1) absl::StrAppend(&name, "_", i - 1);
    absl::StatusOr<HostTensor> value = program.variables->Read(name);
    ASSERT_TRUE(value.ok()) << value.status();
    for (size_t j = 0; j < after[i].size(); ++j) {
      const double got = value->data<float>()[j];
      EXPECT_TRUE(Agrees(got, after[i][j], 1e-6)) << name << "[" << j << "] is " << got << ", not " << after[i][j];
    }
  }
}

TEST(SingularPoints, OfUpdates) {
  const std::vector<UpdateRow> rows = Rows();
  const Shape shape = {static_cast<int64_t>(kGradients.size())};
  for (bool zeros : {false, true}) {
    SCOPED_TRACE(zeros ? "gradients of 0" : "large gradients");
    absl::StatusOr<compiled::Program> program =
        compiled::Prepare([&](GraphBuilder& g) { Build(g, rows); }, compiled::OnTestTarget({.batch = 1}));
    ASSERT_TRUE(program.ok()) << program.status();
    for (const UpdateRow& row : rows) {
      const HostTensor before = HostTensor::FromVector<float>(shape, std::vector<float>(kGradients.size(), kBefore));
      ASSERT_TRUE(program->variables->Assign(row.name, before).ok());
    }
    std::vector<float> x(kGradients.begin(), kGradients.end());
    if (zeros) x.assign(x.size(), 0);
    const TensorMap batch = {{"x", HostTensor::FromVector<float>({1, shape[0]}, x)}};
    absl::StatusOr<StepResult> result = program->Run(compiled::Deal(*program, batch, {1}, 0));
    ASSERT_TRUE(result.ok()) << result.status();
    ASSERT_TRUE(result->finite);
    for (const UpdateRow& row : rows) {
      std::vector<Numbers> after = row.after;
      for (size_t i = 0; zeros && i < after.size(); ++i) after[i].assign(kGradients.size(), row.after_zeros[i]);
      ExpectAfter(*program, row, after);
    }
  }
}

}  // namespace
}  // namespace tandem::oracle

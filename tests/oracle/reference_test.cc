// The oracle's own foundations: exact derivatives against central differences, formulas against numbers worked out by
// hand or published.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/compiled/harness.h"
#include "tests/oracle/draw.h"
#include "tests/oracle/models.h"
#include "tests/oracle/reference_losses.h"
#include "tests/oracle/reference_optimizers.h"
#include "tests/oracle/tape.h"

namespace tandem::oracle {
namespace {

class Gradients : public testing::TestWithParam<Model> {};

// On two replicas, one of them short. The step is small enough that no choice flips.
TEST_P(Gradients, AreCentralDifferences) {
  constexpr double kStep = 3e-6, kMargin = 1e-4;
  constexpr size_t kLarge = 4000, kSome = 4;  // of a model with more elements, only some of each variable
  const Model& model = GetParam();
  auto build = [&](GraphBuilder& g) { g.Output("loss", model.loss(g)); };
  absl::StatusOr<compiled::Program> program = compiled::Prepare(build, {.devices = 2, .batch = 4});
  ASSERT_TRUE(program.ok()) << program.status();
  ref::NumbersMap variables, inputs, uniforms;
  size_t elements = 0;
  for (const VariableSpec& v : program->graph->variables()) {
    variables[v.name] = FirstValue(model.name, v.name, v.shape);
    elements += variables[v.name].values.size();
  }
  const std::vector<int64_t> rows = elements > kLarge ? std::vector<int64_t>{1, 1} : std::vector<int64_t>{4, 2};
  double margin = 0;
  auto loss = [&](std::vector<double>* derivatives, std::map<std::string, std::vector<int32_t>>* ids) {
    ref::Tape tape;
    ref::Forward forward(variables, inputs, rows, uniforms);
    const ref::Real y = model.reference(forward);
    margin = tape.margin();
    if (derivatives != nullptr) *derivatives = tape.Gradient(y);
    for (const auto& [name, array] : forward.variables()) {
      for (ref::Real x : array.values) {
        if (ids != nullptr) (*ids)[name].push_back(x.id);
      }
    }
    return tape.value(y);
  };
  for (const std::string& op : model.randoms) {
    for (int i = 0; i < 10000; ++i) uniforms[op].values.push_back(std::fmod(i * 0.618034, 1));
  }
  std::vector<double> derivatives;
  std::map<std::string, std::vector<int32_t>> ids;
  for (int draw = 0; draw < 200 && margin < kMargin; ++draw) {
    inputs = ToNumbers(DrawInputs(*program->executable, model, rows[0] + rows[1], model.name + std::to_string(draw)));
    ids.clear();
    loss(&derivatives, &ids);
  }
  ASSERT_GE(margin, kMargin);
  for (auto& [name, numbers] : variables) {
    if (name.find("/moving_") != std::string::npos) continue;
    const size_t stride = elements > kLarge ? (numbers.values.size() + kSome - 1) / kSome : 1;
    for (size_t i = 0; i < numbers.values.size(); i += stride) {
      const double old = numbers.values[i];
      numbers.values[i] = old + kStep;
      const double above = loss(nullptr, nullptr);
      numbers.values[i] = old - kStep;
      const double below = loss(nullptr, nullptr);
      numbers.values[i] = old;
      const double derivative = derivatives[ids[name][i]];
      ASSERT_NEAR(derivative, (above - below) / (2 * kStep),
                  1e-7 * std::max({1.0, std::abs(derivative), std::abs(above)}))
          << name << " element " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Gradients, testing::ValuesIn(Models()), [](const auto& info) { return info.param.name; });

// Gradient descent at rate 1 on the scale of a batch normalisation, with each replica's own statistics.
TEST(Reference, BatchNormByReplica) {
  const ref::NumbersMap variables = {{"bn/gamma", {{1}, {1}}},
                                     {"bn/beta", {{1}, {0}}},
                                     {"bn/moving_mean", {{1}, {0}}},
                                     {"bn/moving_variance", {{1}, {1}}}};
  const ref::NumbersMap inputs = {{"x", {{8, 1}, {1, 2, 3, 5, -2, .5, 4, 7}}},
                                  {"t", {{8, 1}, {.5, -1, 1, 0, 2, 1, -.5, .25}}}};
  auto change = [&](const std::vector<int64_t>& rows) {
    ref::Tape tape;
    ref::Forward f(variables, inputs, rows, {});
    const ref::Array y = ref::BatchNorm(f, f.Input("x"), "bn", {});
    const ref::Real loss = ref::Reduce(ref::SquaredErrors(f.Input("t"), y), {}, ref::Mean::kOverExamples);
    return -tape.Gradient(loss)[f.Variable("bn/gamma").values[0].id];
  };
  EXPECT_NEAR(change({4, 4}), -2.731, 5e-4);
  EXPECT_NEAR(change({2, 2, 2, 2}), -2.684, 5e-4);
}

// With zero slots Adam's first step is the rate times the gradient's sign, whatever the decays are.
TEST(Reference, FirstStepsOfOptimizers) {
  for (double g : {0.3, -20.0}) {
    ref::Element e{1, {0, 0}};
    ref::AdamUpdate(0.9, 0.999, 0)(0.1, 0, g, &e);
    EXPECT_NEAR(e.value, 1 - std::copysign(0.1, g), 1e-12);
    e = {1, {0}};
    ref::RmsPropUpdate(0.75, 0, 0)(0.1, 0, g, &e);  // the root of a quarter of g^2
    EXPECT_NEAR(e.value, 1 - std::copysign(0.2, g), 1e-12);
  }
  ref::Element e{1, {2}};
  ref::DescendWithMomentum(0.5, false)(0.1, 0, 3, &e);
  EXPECT_NEAR(e.value, 1 - 0.1 * 4, 1e-12);
  e = {1, {2}};
  ref::DescendWithMomentum(0.5, true)(0.1, 0, 3, &e);
  EXPECT_NEAR(e.value, 1 - 0.1 * (3 + 0.5 * 4), 1e-12);
}

TEST(Reference, Schedules) {
  EXPECT_NEAR(ref::ExponentialDecayAt(3, 0.1, 2, 0.25, false), 0.0125, 1e-12);
  EXPECT_NEAR(ref::ExponentialDecayAt(3, 0.1, 2, 0.25, true), 0.025, 1e-12);
  EXPECT_NEAR(ref::PiecewiseConstantAt(3, {3, 5}, {1, 2, 3}), 1, 0);
  EXPECT_NEAR(ref::PiecewiseConstantAt(4, {3, 5}, {1, 2, 3}), 2, 0);
  EXPECT_NEAR(ref::PolynomialDecayAt(5, 1, 10, 0.5, 2, false), 0.625, 1e-12);
  EXPECT_NEAR(ref::PolynomialDecayAt(20, 1, 10, 0.5, 2, false), 0.5, 1e-12);
  EXPECT_NEAR(ref::PolynomialDecayAt(15, 1, 10, 0, 1, true), 0.25, 1e-12);
  EXPECT_NEAR(ref::CosineDecayAt(5, 1, 10, 0.2), 0.6, 1e-12);
  EXPECT_NEAR(ref::LinearWarmupAt(1, 4, 0.2, [](double) { return 2.0; }), 0.8, 1e-12);
}

}  // namespace
}  // namespace tandem::oracle

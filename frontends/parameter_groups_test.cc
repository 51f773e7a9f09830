// Groups of variables and moving averages, by their formulas.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/moving_average_name.h"
#include "frontends/layers.h"
#include "frontends/optimizers.h"
#include "frontends/testing.h"
#include "graph/ops.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

using frontends::ErrorMismatch;
using frontends::Fetched;
using frontends::Floats;
using frontends::RunStep;
using frontends::Values;

constexpr char kFile[] = "parameter_groups_test.cc";

// The mean of squares of three variables, c_v w^2 / 2 each: the gradient of v is c_v w.
struct Three {
  GraphBuilder graph;
  Tensor a = Make("a/kernel"), b = Make("a/bias"), c = Make("b/kernel");
  Tensor loss = (ReduceSum(Square(a)) * 1.0 + ReduceSum(Square(b)) * 2.0 + ReduceSum(Square(c)) * 3.0) * 0.5;
  Tensor Make(const std::string& name) { return graph.Variable({.name = name, .shape = {2}}); }
  static std::map<std::string, Values> Start() {
    return {{"a/kernel", {1, -2}}, {"a/bias", {0.5, 3}}, {"b/kernel", {-1, 0.25}}};
  }
};

Fetched Train(const Optimizer& optimizer, int steps, std::map<std::string, double> scalars) {
  Three model;
  EXPECT_TRUE(optimizer.Minimize(model.loss).ok()) << model.graph.status();
  Fetched state;
  state.variables = Three::Start();
  for (int step = 0; step < steps; ++step) {
    scalars["global_step"] = step;
    state = RunStep(model.graph, {.batch = 1, .variables = state.variables, .scalars = scalars});
  }
  return state;
}

void ExpectNear(const Values& actual, const Values& expected, double tolerance = 1e-6) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(actual[i], expected[i], tolerance) << "element " << i;
}

// w after `steps` steps of w -= rate (c w + decay w).
Values Descended(Values w, double c, double rate, double decay, int steps) {
  for (int s = 0; s < steps; ++s) {
    for (double& x : w) x -= rate * (c * x + decay * x);
  }
  return w;
}

TEST(ParameterGroupsTest, EachHasItsRateAndDecay) {
  const Optimizer optimizer = optimizers::SGD({.learning_rate = 0.1})
                                  .WithGroup({.variables = ".*/bias", .learning_rate_factor = 0.5})
                                  .WithGroup({.variables = "b/.*", .learning_rate = 0.2, .weight_decay = 0.3});
  Three model;
  ASSERT_TRUE(optimizer.Minimize(model.loss).ok()) << model.graph.status();
  EXPECT_EQ(model.graph.scalar_defaults(),
            (std::map<std::string, double>{{"learning_rate", 0.1}, {"learning_rate_1", 0.2}}));
  Fetched got = Train(optimizer, 3, {{"learning_rate", 0.1}, {"learning_rate_1", 0.2}});
  const auto start = Three::Start();
  ExpectNear(got.variables["a/kernel"], Descended(start.at("a/kernel"), 1, 0.1, 0, 3));
  ExpectNear(got.variables["a/bias"], Descended(start.at("a/bias"), 2, 0.05, 0, 3));
  ExpectNear(got.variables["b/kernel"], Descended(start.at("b/kernel"), 3, 0.2, 0.3, 3));
}

TEST(ParameterGroupsTest, ADecayTakesThePlaceOfTheOptimizersOwn) {
  // The gradient of the kernel of b alone is 0 where c is 0: only decay moves it.
  auto step = [](const Optimizer& optimizer) {
    GraphBuilder graph;
    Tensor w = graph.Variable({.name = "w", .shape = {1}}), v = graph.Variable({.name = "v", .shape = {1}});
    EXPECT_TRUE(optimizer.Minimize(ReduceSum(Square(w)) + ReduceSum(v) * 0.0).ok()) << graph.status();
    return RunStep(graph, {.batch = 1, .variables = {{"w", {0}}, {"v", {2}}}, .scalars = {{"learning_rate", 0.1}}})
        .variables["v"];
  };
  for (const auto& optimizer :
       {optimizers::AdamW({.learning_rate = 0.1, .weight_decay = 0.5}),
        optimizers::AdamW({.learning_rate = 0.1, .weight_decay = 0.5, .exclude = {"v"}}),
        optimizers::Lion({.learning_rate = 0.1, .weight_decay = 0.5}), optimizers::Adam({.learning_rate = 0.1}),
        optimizers::Momentum({.learning_rate = 0.1}), optimizers::Adadelta({.learning_rate = 0.1})}) {
    ExpectNear(step(optimizer.WithGroup({.variables = "v", .weight_decay = 0.25})), {2 * (1 - 0.1 * 0.25)});
    ExpectNear(step(optimizer.WithGroup({.variables = "v", .weight_decay = 0})), {2});
  }
  ExpectNear(step(optimizers::AdamW({.learning_rate = 0.1, .weight_decay = 0.5})), {2 * (1 - 0.1 * 0.5)});
}

TEST(ParameterGroupsTest, EachIsClippedByItsOwnNorm) {
  // Gradients: a/kernel (1, -2), a/bias (1, 6), b/kernel (-3, 0.75).
  const Fetched got = Train(optimizers::SGD({.learning_rate = 1, .clip = {.global_norm = 2}})
                                .WithGroup({.variables = "b/.*", .clip = ClipOptions{.value = 0.5}}),
                            1, {{"learning_rate", 1}});
  const double norm = std::sqrt(1 + 4 + 1 + 36);  // without b's
  ExpectNear(got.variables.at("a/kernel"), {1 - 2 / norm, -2 + 4 / norm});
  ExpectNear(got.variables.at("a/bias"), {0.5 - 2 / norm, 3 - 12 / norm});
  ExpectNear(got.variables.at("b/kernel"), {-1 + 0.5, 0.25 - 0.5});
  const Fetched none = Train(optimizers::SGD({.learning_rate = 1, .clip = {.value = 0.5}})
                                 .WithGroup({.variables = "a/.*", .clip = ClipOptions{}}),
                             1, {{"learning_rate", 1}});
  ExpectNear(none.variables.at("a/bias"), {0.5 - 1, 3 - 6});
  ExpectNear(none.variables.at("b/kernel"), {-0.5, -0.25});
}

TEST(ParameterGroupsTest, AFrozenOneHasNeitherSlotsNorGradients) {
  GraphBuilder graph;
  Tensor x = graph.Input("x", DType::kFloat32, {kBatch, 6, 6, 2});
  x = layers::Conv2D(x, {.filters = 3, .kernel_size = 3, .activation = Relu});
  Tensor loss = ReduceMean(layers::Dense(layers::Flatten(x), {.units = 1}));
  const Optimizer adam = optimizers::Adam({}).WithGroup({.variables = "conv2d/.*", .frozen = true});
  std::vector<std::string> names;
  for (const GradientAndVariable& g : adam.ComputeGradients(loss)) names.push_back(g.name);
  EXPECT_EQ(names, (std::vector<std::string>{"dense/kernel", "dense/bias"}));
  ASSERT_TRUE(adam.Minimize(loss).ok()) << graph.status();
  for (const VariableSpec& spec : graph.variables()) {
    EXPECT_FALSE(spec.slot_of.starts_with("conv2d")) << spec.name;
  }
  // Nothing of the gradient goes back through the convolution.
  const std::string text = graph.ToString();
  EXPECT_EQ(text.find("conv2d_filter_grad"), std::string::npos);
  GraphBuilder all;
  Tensor y = layers::Conv2D(all.Input("x", DType::kFloat32, {kBatch, 6, 6, 2}), {.filters = 3, .kernel_size = 3});
  ASSERT_TRUE(optimizers::Adam({}).Minimize(ReduceMean(y)).ok());
  EXPECT_NE(all.ToString().find("conv2d_filter_grad"), std::string::npos);
}

TEST(ParameterGroupsTest, MistakesNameTheLineOfTheGroup) {
  using optimizers::SGD;
  const struct {
    Optimizer optimizer;
    const char* text;
  } cases[] = {
      {SGD({}).WithGroup({.variables = "kernel"}), "\"kernel\" matches no trainable variable; there are a/kernel"},
      {SGD({}).WithGroup({.variables = ""}), "`variables` is empty"},
      {SGD({}).WithGroup({.variables = "("}), "\"(\" is no regular expression"},
      {SGD({}).WithGroup({.variables = "a/.*"}).WithGroup({.variables = ".*/bias"}), "both match \"a/bias\""},
      {SGD({}).WithGroup({.variables = ".*", .frozen = true}), "all variables are in groups that are frozen"},
      {SGD({}).WithGroup({.variables = ".*", .learning_rate = 1, .frozen = true}),
       "a group that is frozen has no rate"},
      {SGD({}).WithGroup({.variables = ".*", .learning_rate_factor = -1}), "`learning_rate_factor` must be a number"},
      {SGD({}).WithGroup({.variables = ".*", .weight_decay = NAN}), "`weight_decay` must be a number >= 0, got nan"},
      {SGD({}).WithGroup({.variables = ".*", .learning_rate = -1}), "must be a number >= 0, got -1"},
      {SGD({}).WithGroup({.variables = ".*", .clip = ClipOptions{.global_norm = 1, .value = 1}}), "only one of"},
      {SGD({}).WithMovingAverage({.decay = 1}), "`decay` must be in [0, 1), got 1"},
      {SGD({}).WithMovingAverage({.also = "a/.*"}), "matches no variable that is not trained; there is none"},
      {SGD({}).WithMovingAverage({.also = "["}), "\"[\" is no regular expression"},
  };
  for (const auto& c : cases) {
    Three model;
    EXPECT_FALSE(c.optimizer.Minimize(model.loss).ok());
    EXPECT_EQ(ErrorMismatch(model.graph, c.text, kFile), "");
  }
}

// tf.train.ExponentialMovingAverage: shadow -= (1 - decay) (shadow - variable), with num_updates the decay is
// min(decay, (1 + num_updates) / (10 + num_updates)).
TEST(MovingAverageTest, FollowsTheFormula) {
  for (bool num_updates : {false, true}) {
    const Fetched got =
        Train(optimizers::SGD({.learning_rate = 0.1}).WithMovingAverage({.decay = 0.6, .num_updates = num_updates}), 5,
              {{"learning_rate", 0.1}});
    Values w = {0.5, 3}, average(2);  // the interpreter starts slots from 0
    for (int t = 1; t <= 5; ++t) {
      const double decay = num_updates ? std::min(0.6, (1.0 + t) / (10.0 + t)) : 0.6;
      for (int i = 0; i < 2; ++i) {
        w[i] -= 0.1 * 2 * w[i];
        average[i] -= (1 - decay) * (average[i] - w[i]);
      }
    }
    ExpectNear(got.variables.at("a/bias"), w);
    ExpectNear(got.variables.at(MovingAverageName("a/bias")), average);
  }
}

TEST(MovingAverageTest, IsOfWhatIsTrainedAndOfWhatIsAskedFor) {
  GraphBuilder graph;
  Tensor x = graph.Input("x", DType::kFloat32, {kBatch, 3});
  Tensor y = layers::BatchNormalization(x, {.momentum = 0.5, .training = true});
  Tensor loss = ReduceMean(Square(layers::Dense(y, {.units = 1})));
  const Optimizer optimizer = optimizers::SGD({.learning_rate = 0.1})
                                  .WithGroup({.variables = ".*/gamma", .frozen = true})
                                  .WithMovingAverage({.decay = 0.75, .also = ".*/moving_mean"});
  ASSERT_TRUE(optimizer.Minimize(loss).ok()) << graph.status();
  std::vector<std::string> averaged;
  for (const VariableSpec& spec : graph.variables()) {
    if (spec.name == MovingAverageName(spec.slot_of)) averaged.push_back(spec.slot_of);
  }
  std::sort(averaged.begin(), averaged.end());
  EXPECT_EQ(averaged, (std::vector<std::string>{"batch_normalization/beta", "batch_normalization/moving_mean",
                                                "dense/bias", "dense/kernel"}));
  // Of the value after the step: 0.5 * 0 + 0.5 * 2, then a quarter of that.
  const Fetched got = RunStep(
      graph, {.batch = 2, .inputs = {{"x", Floats({2, 3}, {1, 4, 0, 3, 0, -6})}}, .scalars = {{"learning_rate", 0.1}}});
  ExpectNear(got.variables.at("batch_normalization/moving_mean"), {1, 1, -1.5});
  ExpectNear(got.variables.at(MovingAverageName("batch_normalization/moving_mean")), {0.25, 0.25, -0.375});
}

TEST(MovingAverageTest, RefusesAValueThatIsAssignedBehindIt) {
  GraphBuilder graph;
  Tensor x = graph.Input("x", DType::kFloat32, {kBatch, 3});
  Tensor count = graph.Variable({.name = "count", .trainable = false});
  Tensor loss = ReduceMean(Square(layers::Dense(x, {.units = 1})));
  const int line = __LINE__ + 1;
  ASSERT_TRUE(optimizers::SGD({.learning_rate = 0.1}).WithMovingAverage({.also = "count"}).Minimize(loss).ok());
  graph.Assign(count, count + 1.0);
  EXPECT_EQ(ErrorMismatch(graph,
                          absl::StrCat(kFile, ":", line + 1,
                                       ": its value at the end of the step was taken before this assignment, by "
                                       "WithMovingAverage at frontends/",
                                       kFile, ":", line, "; assign it first"),
                          kFile),
            "");
}

}  // namespace
}  // namespace tandem

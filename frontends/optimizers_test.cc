#include "frontends/optimizers.h"

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/testing.h"
#include "graph/ops.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

using frontends::ErrorMismatch;
using frontends::Fetched;
using frontends::Floats;
using frontends::Ints;
using frontends::Pattern;
using frontends::RunStep;
using frontends::Values;

constexpr char kFile[] = "optimizers_test.cc";

// loss = sum(c w^2 / 2) with c = {1, -2, 3}: the gradient is c w.
struct Bowl {
  GraphBuilder graph;
  Tensor w = graph.Variable({.name = "w", .shape = {3}});
  Tensor loss = Mul(ReduceSum(Mul(Square(w), graph.Constant(HostTensor::FromVector<float>({3}, {1, -2, 3})))), 0.5);
  static constexpr double kC[] = {1, -2, 3};
};

// Runs `steps` steps and returns w and all slots after the last; `expected` after it must agree.
Fetched Train(const Optimizer& optimizer, int steps) {
  Bowl bowl;
  EXPECT_TRUE(optimizer.Minimize(bowl.loss).ok()) << bowl.graph.status();
  Fetched state;
  state.variables["w"] = {1, 2, -0.5};
  for (int step = 0; step < steps; ++step) {
    state =
        RunStep(bowl.graph,
                {.batch = 1, .variables = state.variables, .scalars = {{"global_step", static_cast<double>(step)}}});
  }
  return state;
}

void ExpectNear(const Values& actual, const Values& expected, double tolerance = 1e-6) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(actual[i], expected[i], tolerance) << "element " << i;
}

TEST(OptimizersTest, GradientDescent) {
  Values w = {1, 2, -0.5};
  for (int s = 0; s < 3; ++s)
    for (int i = 0; i < 3; ++i) w[i] -= 0.1 * Bowl::kC[i] * w[i];
  ExpectNear(Train(optimizers::GradientDescent({.learning_rate = 0.1}), 3).variables["w"], w);
  ExpectNear(Train(optimizers::SGD({.learning_rate = 0.1}), 3).variables["w"], w);
}

TEST(OptimizersTest, Momentum) {
  for (bool nesterov : {false, true}) {
    Values w = {1, 2, -0.5}, a(3);
    for (int s = 0; s < 3; ++s)
      for (int i = 0; i < 3; ++i) {
        double g = Bowl::kC[i] * w[i];
        a[i] = 0.8 * a[i] + g;
        w[i] -= 0.1 * (nesterov ? g + 0.8 * a[i] : a[i]);
      }
    Fetched got = Train(optimizers::Momentum({.learning_rate = 0.1, .momentum = 0.8, .use_nesterov = nesterov}), 3);
    ExpectNear(got.variables["w"], w);
    ExpectNear(got.variables["w/Momentum"], a);
  }
}

TEST(OptimizersTest, Adam) {
  Values w = {1, 2, -0.5}, m(3), v(3);
  for (int s = 0; s < 4; ++s) {
    double alpha = 0.1 * std::sqrt(1 - std::pow(0.99, s + 1)) / (1 - std::pow(0.8, s + 1));
    for (int i = 0; i < 3; ++i) {
      double g = Bowl::kC[i] * w[i];
      m[i] = 0.8 * m[i] + 0.2 * g;
      v[i] = 0.99 * v[i] + 0.01 * g * g;
      w[i] -= alpha * m[i] / (std::sqrt(v[i]) + 1e-3);
    }
  }
  Fetched got = Train(optimizers::Adam({.learning_rate = 0.1, .beta1 = 0.8, .beta2 = 0.99, .epsilon = 1e-3}), 4);
  ExpectNear(got.variables["w"], w, 1e-5);
  ExpectNear(got.variables["w/Adam"], m, 1e-5);
  ExpectNear(got.variables["w/Adam_1"], v, 1e-5);
  // With the defaults the first step is lr in the direction of the gradient, but for epsilon.
  ExpectNear(Train(optimizers::Adam({}), 1).variables["w"], {0.999, 2.001, -0.499}, 1e-6);
}

TEST(OptimizersTest, RmsProp) {
  for (double momentum : {0.0, 0.5}) {
    for (bool in_root : {false, true}) {
      Values w = {1, 2, -0.5}, s(3), a(3);
      for (int step = 0; step < 3; ++step)
        for (int i = 0; i < 3; ++i) {
          double g = Bowl::kC[i] * w[i];
          s[i] = 0.9 * s[i] + 0.1 * g * g;
          a[i] = momentum * a[i] + 0.01 * g / (in_root ? std::sqrt(s[i] + 0.1) : std::sqrt(s[i]) + 0.1);
          w[i] -= a[i];
        }
      Fetched got =
          Train(optimizers::RMSprop(
                    {.learning_rate = 0.01, .momentum = momentum, .epsilon = 0.1, .epsilon_in_root = in_root}),
                3);
      ExpectNear(got.variables["w"], w, 1e-5);
      ExpectNear(got.variables["w/RMSProp"], s, 1e-5);
      EXPECT_EQ(got.variables.count("w/RMSProp_1"), momentum > 0 ? 1u : 0u);
      if (momentum > 0) ExpectNear(got.variables["w/RMSProp_1"], a, 1e-5);
    }
  }
}

TEST(OptimizersTest, SlotsBelongToTheirVariable) {
  GraphBuilder graph;
  Tensor x = graph.Input("x", DType::kFloat32, {kBatch, 2});
  Tensor loss = ReduceMean(layers::Dense(x, {.units = 3}));
  {
    NameScope scope(&graph, "training");
    ASSERT_TRUE(optimizers::Adam({}).Minimize(loss).ok()) << graph.status();
  }
  std::vector<std::string> slots;
  for (const VariableSpec& v : graph.variables()) {
    if (v.slot_of.empty()) continue;
    EXPECT_FALSE(v.trainable);
    EXPECT_EQ(v.initializer.kind, Initializer::Kind::kZeros);
    EXPECT_EQ(v.shape, v.slot_of == "dense/kernel" ? (Shape{2, 3}) : (Shape{3}));
    slots.push_back(v.name);
  }
  EXPECT_EQ(slots, (std::vector<std::string>{"dense/kernel/Adam", "dense/kernel/Adam_1", "dense/bias/Adam",
                                             "dense/bias/Adam_1"}));
}

TEST(OptimizersTest, LearningRateIsARunTimeScalar) {
  Bowl bowl;
  optimizers::GradientDescent({.learning_rate = 0.25}).Minimize(bowl.loss);
  ASSERT_TRUE(bowl.graph.status().ok()) << bowl.graph.status();
  EXPECT_EQ(bowl.graph.scalar_defaults().at("learning_rate"), 0.25);
  Fetched got = RunStep(bowl.graph, {.batch = 1, .variables = {{"w", {1, 1, 1}}}, .scalars = {{"learning_rate", 0.5}}});
  ExpectNear(got.variables["w"], {0.5, 2, -0.5});
}

TEST(OptimizersTest, EveryConstantRateHasAScalarOfItsOwn) {
  GraphBuilder graph;
  Tensor a = graph.Variable({.name = "a", .initializer = {Initializer::Kind::kConstant, 1}});
  Tensor b = graph.Variable({.name = "b", .initializer = {Initializer::Kind::kConstant, 1}});
  Tensor loss = Add(a, b);
  ASSERT_TRUE(optimizers::SGD({.learning_rate = 0.125}).Minimize(loss, {.var_list = {a}}).ok());
  ASSERT_TRUE(optimizers::SGD({.learning_rate = 0.5}).Minimize(loss, {.var_list = {b}}).ok());
  EXPECT_EQ(graph.scalar_defaults().at("learning_rate"), 0.125);
  EXPECT_EQ(graph.scalar_defaults().at("learning_rate_1"), 0.5);
  Fetched got = RunStep(graph, {.batch = 1, .scalars = {{"learning_rate", 0.125}, {"learning_rate_1", 0.5}}});
  ExpectNear(got.variables["a"], {0.875});
  ExpectNear(got.variables["b"], {0.5});
}

TEST(OptimizersTest, AScalarThatWasAskedForFirstIsTheRate) {
  Bowl bowl;
  Tensor rate = bowl.graph.StepScalar("learning_rate", DType::kFloat32);
  optimizers::SGD({.learning_rate = 0.25}).Minimize(bowl.loss);
  EXPECT_EQ(bowl.graph.scalar_defaults().at("learning_rate"), 0.25);
  EXPECT_EQ(bowl.graph.scalar_defaults().count("learning_rate_1"), 0u);
  EXPECT_EQ(bowl.graph.StepScalar("learning_rate", DType::kFloat32), rate);
}

TEST(OptimizersTest, TrainsOnlyWhatIsAskedForAndReached) {
  GraphBuilder graph;
  Tensor a = graph.Variable({.name = "a", .initializer = {Initializer::Kind::kConstant, 1}});
  Tensor b = graph.Variable({.name = "b", .initializer = {Initializer::Kind::kConstant, 1}});
  Tensor c = graph.Variable({.name = "c", .initializer = {Initializer::Kind::kConstant, 1}});
  graph.Variable({.name = "unused"});
  Tensor loss = Add(Square(a), Square(Mul(StopGradient(b), c)));
  ASSERT_TRUE(optimizers::Momentum({.learning_rate = 0.5, .momentum = 0}).Minimize(loss, {.var_list = {a, b}}).ok());
  Fetched got = RunStep(graph, {.batch = 1});
  ExpectNear(got.variables["a"], {0});
  ExpectNear(got.variables["b"], {1});
  ExpectNear(got.variables["c"], {1});
  EXPECT_EQ(got.variables.count("a/Momentum"), 1u);
  EXPECT_EQ(got.variables.count("b/Momentum") + got.variables.count("c/Momentum"), 0u);
}

TEST(OptimizersTest, Clipping) {
  Values start = {1, 2, -0.5};  // gradients 1, -4, -1.5: norm 4.387
  double norm = std::sqrt(1 + 16 + 2.25);
  Fetched clipped = Train(optimizers::GradientDescent({.learning_rate = 1, .clip = {.global_norm = 2}}), 1);
  ExpectNear(clipped.variables["w"], {1 - 2 / norm, 2 + 8 / norm, -0.5 + 3 / norm}, 1e-5);
  Fetched within = Train(optimizers::GradientDescent({.learning_rate = 1, .clip = {.global_norm = 5}}), 1);
  ExpectNear(within.variables["w"], {0, 6, 1}, 1e-5);
  Fetched value = Train(optimizers::GradientDescent({.learning_rate = 1, .clip = {.value = 1.25}}), 1);
  ExpectNear(value.variables["w"], {0, 3.25, 0.75}, 1e-5);

  GraphBuilder graph;
  Tensor x = graph.Input("x", DType::kFloat32, {kBatch});
  Tensor a = ReduceSum(x), b = Mul(a, 2.0);
  graph.Output("norm", GlobalNorm({a, Tensor(), b}));
  Fetched got = RunStep(graph, {.batch = 2, .inputs = {{"x", Floats({2}, {1, 2})}}});
  ExpectNear(got.outputs["norm"], {std::sqrt(45)}, 1e-5);
}

// The learning rate at a step, as an optimizer sees it.
double RateAt(const LearningRate& rate, double step) {
  GraphBuilder graph;
  graph.Output("rate", rate.Build(&graph));
  Values values = RunStep(graph, {.batch = 1, .scalars = {{"global_step", step}}}).outputs["rate"];
  return values.size() == 1 ? values[0] : NAN;
}

TEST(SchedulesTest, Values) {
  using namespace schedules;
  const double pi = std::acos(-1);
  struct Case {
    const char* name;
    Schedule schedule;
    std::function<double(double)> expected;
  };
  auto exponential = ExponentialDecay({.initial_learning_rate = 0.5, .decay_steps = 10, .decay_rate = 0.9});
  auto stairs =
      ExponentialDecay({.initial_learning_rate = 0.5, .decay_steps = 10, .decay_rate = 0.9, .staircase = true});
  auto pieces = PiecewiseConstant({.boundaries = {5, 20}, .values = {1, 0.5, 0.25}});
  auto polynomial =
      PolynomialDecay({.initial_learning_rate = 0.5, .decay_steps = 20, .end_learning_rate = 0.1, .power = 2});
  auto cycle =
      PolynomialDecay({.initial_learning_rate = 0.5, .decay_steps = 20, .end_learning_rate = 0.1, .cycle = true});
  auto cosine = CosineDecay({.initial_learning_rate = 0.5, .decay_steps = 20, .alpha = 0.1});
  auto warm = LinearWarmup({.warmup_steps = 5, .start_factor = 0.2, .then = exponential});
  auto warm_constant = LinearWarmup({.warmup_steps = 5, .then = 0.5});
  const Case cases[] = {
      {"exponential", exponential, [](double s) { return 0.5 * std::pow(0.9, s / 10); }},
      {"stairs", stairs, [](double s) { return 0.5 * std::pow(0.9, std::floor(s / 10)); }},
      {"pieces", pieces, [](double s) { return s <= 5    ? 1
                                               : s <= 20 ? 0.5
                                                         : 0.25; }},
      {"polynomial", polynomial, [](double s) { return 0.4 * std::pow(1 - std::min(s, 20.0) / 20, 2) + 0.1; }},
      {"cycle", cycle, [](double s) { return 0.4 * (1 - s / (20 * std::max(1.0, std::ceil(s / 20)))) + 0.1; }},
      {"cosine", cosine,
       [pi](double s) { return 0.5 * (0.9 * 0.5 * (1 + std::cos(pi * std::min(s, 20.0) / 20)) + 0.1); }},
      {"warm", warm, [](double s) { return s < 5 ? 0.5 * (0.2 + 0.8 * s / 5) : 0.5 * std::pow(0.9, (s - 5) / 10); }},
      {"warm_constant", warm_constant, [](double s) { return 0.5 * std::min(1.0, s / 5); }},
  };
  for (const Case& c : cases) {
    for (double step : {0, 1, 5, 6, 10, 19, 20, 21, 40, 1000}) {
      EXPECT_NEAR(RateAt(c.schedule, step), c.expected(step), 1e-7) << c.name << " at " << step;
    }
  }
  EXPECT_NEAR(RateAt(0.125, 3), 0.125, 1e-12);
}

TEST(OptimizersTest, ErrorsSayWhatAndWhere) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  using optimizers::GradientDescent;
  struct Case {
    std::function<void(Bowl&)> build;
    const char* text;
  };
  const Case cases[] = {
      {[](Bowl& b) { GradientDescent({}).Minimize(b.w); }, "must be a floating-point scalar, got float32 [3]"},
      {[](Bowl& b) { GradientDescent({}).Minimize(b.graph.Constant(1.0f)); }, "no gradients provided for any variable"},
      {[](Bowl& b) { GradientDescent({}).Minimize(b.loss, {.var_list = {b.loss}}); },
       "`var_list[0]` is not a trainable variable"},
      {[&](Bowl& b) { GradientDescent({.learning_rate = nan}).Minimize(b.loss); }, "must be a number >= 0, got nan"},
      {[](Bowl& b) { GradientDescent({.learning_rate = -1}).Minimize(b.loss); }, "must be a number >= 0, got -1"},
      {[](Bowl& b) { GradientDescent({.clip = {.global_norm = -1}}).Minimize(b.loss); }, "must be a positive number"},
      {[](Bowl& b) { GradientDescent({.clip = {.value = -1}}).Minimize(b.loss); }, "must be a positive number"},
      {[](Bowl& b) { GradientDescent({.clip = {.global_norm = 1, .value = 1}}).Minimize(b.loss); }, "only one of"},
      {[](Bowl& b) { optimizers::Momentum({.momentum = 1}).Minimize(b.loss); }, "`momentum` must be in [0, 1), got 1"},
      {[](Bowl& b) { optimizers::Adam({.beta1 = -1}).Minimize(b.loss); }, "`beta1`"},
      {[](Bowl& b) { optimizers::Adam({.beta2 = 1}).Minimize(b.loss); }, "`beta2`"},
      {[](Bowl& b) { optimizers::Adam({.epsilon = -1}).Minimize(b.loss); }, "`epsilon`"},
      {[](Bowl& b) { optimizers::RMSprop({.rho = 2}).Minimize(b.loss); }, "`rho`"},
      {[](Bowl& b) {
         GradientDescent({.learning_rate = schedules::ExponentialDecay({.decay_steps = 1})}).Minimize(b.loss);
       },
       "a learning rate must be a number >= 0, got -1, which it is where none is given"},
      {[](Bowl& b) {
         GradientDescent({.learning_rate = schedules::ExponentialDecay({.initial_learning_rate = 0.1})})
             .Minimize(b.loss);
       },
       "`decay_steps` must be positive"},
      {[](Bowl& b) {
         GradientDescent({.learning_rate = schedules::LinearWarmup({.warmup_steps = 1})}).Minimize(b.loss);
       },
       "a learning rate must be a number >= 0, got -1, which it is where none is given"},
      {[](Bowl& b) {
         GradientDescent({.learning_rate = schedules::PiecewiseConstant({.boundaries = {1}, .values = {1}})})
             .Minimize(b.loss);
       },
       "one value more"},
      {[](Bowl& b) {
         GradientDescent({.learning_rate = schedules::PiecewiseConstant({.boundaries = {2, 1}, .values = {1, 2, 3}})})
             .Minimize(b.loss);
       },
       "`boundaries` must increase, got 2, 1"},
      {[](Bowl& b) { GradientDescent({.learning_rate = schedules::LinearWarmup({.then = 0.1})}).Minimize(b.loss); },
       "`warmup_steps` must be positive"},
      {[](Bowl& b) {
         GradientDescent({.learning_rate = schedules::CosineDecay({.initial_learning_rate = -1, .decay_steps = 1})})
             .Minimize(b.loss);
       },
       "must be a number >= 0, got -1"},
      {[](Bowl& b) {
         GradientDescent({.learning_rate = Schedule([](const Tensor&) { return Tensor(); })}).Minimize(b.loss);
       },
       "the schedule returned an empty Tensor"},
      {[](Bowl& b) {
         GradientDescent({}).Minimize(b.loss);
         GradientDescent({}).Minimize(b.loss);
       },
       "is updated already, by the Minimize or Assign at frontends/optimizers_test.cc:"},
      {[](Bowl& b) {
         optimizers::Adam({}).Minimize(b.loss);
         optimizers::Adam({}).Minimize(b.loss);
       },
       "name the variables of each: Minimize(loss, {.var_list = {...}})"},
  };
  for (const Case& c : cases) {
    Bowl bowl;
    c.build(bowl);
    EXPECT_EQ(ErrorMismatch(bowl.graph, c.text, kFile), "");
  }
  GraphBuilder empty;
  EXPECT_FALSE(GradientDescent({}).Minimize(empty.Constant(1.0f)).ok());
  EXPECT_EQ(ErrorMismatch(empty, "no variables to optimize", kFile), "");
  EXPECT_FALSE(GradientDescent({}).Minimize(Tensor()).ok());
}

// Central differences of the whole loss of a small network with every layer that has a gradient.
TEST(GradientsTest, FlowThroughANetwork) {
  auto build = [](GraphBuilder& graph) {
    Tensor image = graph.Input("image", DType::kFloat32, {kBatch, 6, 6, 1});
    Tensor labels = graph.Input("labels", DType::kInt32, {kBatch});
    Tensor x = layers::Conv2D(image, {.filters = 2, .kernel_size = 3, .activation = Tanh});
    x = layers::BatchNormalization(x, {.training = true});
    x = layers::AveragePooling2D(x, {.pool_size = 2});
    x = layers::Dense(layers::Flatten(x), {.units = 3, .activation = Elu, .kernel_regularizer = L2(0.01)});
    Tensor logits = layers::Dense(x, {.units = 4});
    return Add(losses::SparseSoftmaxCrossEntropy(labels, logits), losses::RegularizationLoss(&graph));
  };
  GraphBuilder graph;
  Tensor loss = build(graph);
  graph.Output("loss", loss);
  std::vector<GradientAndVariable> gradients = optimizers::GradientDescent({}).ComputeGradients(loss);
  ASSERT_EQ(gradients.size(), 8u) << graph.status();
  frontends::Feed feed{.batch = 3,
                       .inputs = {{"image", Floats({3, 6, 6, 1}, Pattern(108, 1))}, {"labels", Ints({3}, {0, 3, 1})}}};
  int seed = 10;
  for (const VariableSpec& v : graph.variables()) {
    if (!v.trainable) continue;
    feed.variables[v.name] = Pattern(NumElements(v.shape), seed++);
  }
  for (const GradientAndVariable& g : gradients) graph.Output("grad/" + g.name, g.gradient);
  Fetched at = RunStep(graph, feed);
  const double h = 1.0 / 1024;  // exact in float32, as the variables are
  for (const GradientAndVariable& g : gradients) {
    Values& w = feed.variables[g.name];
    const Values& got = at.outputs["grad/" + g.name];
    ASSERT_EQ(got.size(), w.size()) << g.name;
    for (size_t i = 0; i < w.size(); i += 1 + w.size() / 3) {
      double old = w[i];
      w[i] = old + h;
      double up = RunStep(graph, feed).outputs["loss"].at(0);
      w[i] = old - h;
      double down = RunStep(graph, feed).outputs["loss"].at(0);
      w[i] = old;
      EXPECT_NEAR(got[i], (up - down) / (2 * h), 2e-4) << g.name << " element " << i;
    }
  }
}

// An update rule of a user's own: w -= lr s g, s = s / 2, s from 4; of the variable "w" alone, others stay.
class Halving : public UpdateRule {
 public:
  explicit Halving(double start = 4) : start_(start) {}
  std::string name() const override { return "Halving"; }
  int num_slots() const override { return 1; }
  double initial_value(int) const override { return start_; }
  void Validate(GraphBuilder*, SourceLocation) const override {}
  UpdateResult Update(const VariableUpdate& u) const override {
    if (u.name != "w") return {u.variable, {u.slots[0]}};
    return {u.variable - u.learning_rate * (u.slots[0] * u.gradient), {u.slots[0] * 0.5}};
  }

 private:
  double start_;
};

TEST(OptimizersTest, ARuleOfOnesOwnHasSlotsThatStartAnywhereAndKnowsNames) {
  Values w = {1, 2, -0.5};
  double factor = 4;
  for (int s = 0; s < 3; ++s, factor /= 2)
    for (int i = 0; i < 3; ++i) w[i] -= 0.05 * factor * Bowl::kC[i] * w[i];
  Fetched got = Train(Optimizer(std::make_shared<Halving>(), 0.05), 3);
  ExpectNear(got.variables["w"], w);
  ExpectNear(got.variables["w/Halving"], {0.5, 0.5, 0.5});

  Bowl bowl;
  Tensor v = bowl.graph.Variable({.name = "v", .shape = {3}, .initializer = {Initializer::Kind::kConstant, 3, 0}});
  EXPECT_TRUE(Optimizer(std::make_shared<Halving>(), 0.05).Minimize(bowl.loss + ReduceSum(Square(v))).ok());
  Fetched both = RunStep(bowl.graph, {.batch = 1, .variables = {{"w", {1, 2, -0.5}}}});
  ExpectNear(both.variables["v"], {3, 3, 3});
  ExpectNear(both.variables["v/Halving"], {4, 4, 4});

  Bowl bad;
  EXPECT_FALSE(Optimizer(std::make_shared<Halving>(NAN), 0.05).Minimize(bad.loss).ok());
  EXPECT_EQ(ErrorMismatch(bad.graph, "Halving", kFile), "");
  EXPECT_EQ(ErrorMismatch(bad.graph, "slot 0 starts from nan; it must be a finite number", kFile), "");
}

// What the golden test has none of: variables that are all 0, whose norm would divide by 0.
TEST(OptimizersTest, LayerwiseRatesOfZeroVariablesAreThoseOfTheOptimizer) {
  for (const Optimizer& optimizer :
       {optimizers::LAMB({.learning_rate = 0.1}), optimizers::LARS({.learning_rate = 0.1})}) {
    Bowl bowl;
    Tensor v = bowl.graph.Variable({.name = "v", .shape = {2}});
    // The gradient of v is 1; that of w is 0 at 0.
    ASSERT_TRUE(optimizer.Minimize(bowl.loss + ReduceSum(v)).ok()) << bowl.graph.status();
    Fetched got = RunStep(bowl.graph, {.batch = 1, .variables = {{"w", {0, 0, 0}}}});
    ExpectNear(got.variables["v"], {-0.1, -0.1}, 1e-5);
    ExpectNear(got.variables["w"], {0, 0, 0});
  }
}

TEST(OptimizersTest, ErrorsOfTheAdaptiveOnesSayWhatAndWhere) {
  const std::pair<Optimizer, const char*> cases[] = {
      {optimizers::AdamW({.weight_decay = -1}), "AdamW"},
      {optimizers::AdamW({.weight_decay = -1}), "`weight_decay` must be a number >= 0, got -1"},
      {optimizers::AdamW({.beta1 = 1}), "`beta1` must be in [0, 1), got 1"},
      {optimizers::Adagrad({.initial_accumulator_value = -0.1}), "`initial_accumulator_value`"},
      {optimizers::Adadelta({.rho = 2}), "`rho`"},
      {optimizers::Adamax({.beta2 = -1}), "`beta2`"},
      {optimizers::Nadam({.epsilon = NAN}), "`epsilon`"},
      {optimizers::Ftrl({.learning_rate_power = 1}), "`learning_rate_power` must be a number of at most 0, got 1"},
      {optimizers::Ftrl({.l1 = -1}), "`l1`"},
      {optimizers::Lion({.beta2 = 1}), "`beta2`"},
      {optimizers::LAMB({.beta1 = 1.5}), "`beta1`"},
      {optimizers::LARS({.trust_coefficient = 0}), "`trust_coefficient` must be a positive number, got 0"},
      {optimizers::LARS({.momentum = 1}), "`momentum`"},
  };
  for (const auto& [optimizer, text] : cases) {
    Bowl bowl;
    EXPECT_FALSE(optimizer.Minimize(bowl.loss).ok());
    EXPECT_EQ(ErrorMismatch(bowl.graph, text, kFile), "");
  }
}

}  // namespace
}  // namespace tandem

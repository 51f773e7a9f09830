#include "frontends/keras/optimizers.h"

#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/env.h"
#include "estimator/checkpoint/safetensors.h"
#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/optimizers.h"
#include "frontends/testing.h"
#include "gmock/gmock.h"
#include "graph/ops.h"
#include "gtest/gtest.h"

namespace tandem::keras {
namespace {

using frontends::ErrorMismatch;
using frontends::Fetched;
using frontends::Floats;
using frontends::RunStep;
using frontends::Values;
using testing::HasSubstr;

using Steps = std::vector<std::map<std::string, Values>>;

Values ValuesOf(const HostTensor& tensor) {
  return Values(tensor.values<float>().begin(), tensor.values<float>().end());
}

// The variables of Dense(2) from 0.1 and 0 after each step with mse on x [steps, 4, 3] and y [steps, 4, 2].
Steps Train(const Optimizer& optimizer, const Values& x, const Values& y, int steps) {
  GraphBuilder graph;
  Tensor in = graph.Input("x", DType::kFloat32, {kBatch, 3}), out = graph.Input("y", DType::kFloat32, {kBatch, 2});
  Tensor dense = layers::Dense(in, {.units = 2, .kernel_initializer = initializers::Constant(0.1)});
  optimizer.Minimize(tandem::losses::MeanSquaredError(out, dense));
  EXPECT_TRUE(graph.status().ok()) << graph.status();
  if (!graph.status().ok()) return {};
  Steps after;
  std::map<std::string, Values> variables;
  for (int step = 0; step < steps; ++step) {
    Fetched got =
        RunStep(graph, {.batch = 4,
                        .inputs = {{"x", Floats({4, 3}, Values(x.begin() + 12 * step, x.begin() + 12 * (step + 1)))},
                                   {"y", Floats({4, 2}, Values(y.begin() + 8 * step, y.begin() + 8 * (step + 1)))}},
                        .variables = variables,
                        .scalars = {{"global_step", step}}});
    variables = got.variables;
    after.push_back(variables);
  }
  return after;
}

std::unique_ptr<SafetensorsReader> OpenGolden() {
  auto golden = SafetensorsReader::Open(Env::Default(), "tests/golden/keras_optimizers.safetensors");
  EXPECT_TRUE(golden.ok()) << golden.status();
  return golden.ok() ? *std::move(golden) : nullptr;
}

// The optimizers of tests/golden/make_keras_optimizers.py, and what their files say of them.
struct Golden {
  const char* name;
  Optimizer optimizer;
  std::string config;
};

// Keras' config up to the learning rate; what is not null is given.
std::string CommonText(const std::string& name, const std::string& rate = "0.0010000000474974513",
                       const std::string& weight_decay = "null", const std::string& clipnorm = "null") {
  return absl::StrCat(R"({"name": ")", name, R"(", "weight_decay": )", weight_decay, R"(, "clipnorm": )", clipnorm,
                      R"(, "global_clipnorm": null, "clipvalue": null, "use_ema": false, "ema_momentum": 0.99, )",
                      R"("ema_overwrite_frequency": )", name == "RMSprop" ? "100" : "null",
                      R"(, "jit_compile": false, "is_legacy_optimizer": false, "learning_rate": )", rate, ", ");
}

std::vector<Golden> Goldens() {
  using namespace optimizers;  // NOLINT: what the table is about
  const std::string moments = R"("beta_1": 0.9, "beta_2": 0.999, "epsilon": 1e-07)";
  const std::string schedule =
      R"({"module": "keras.optimizers.schedules", "class_name": "ExponentialDecay", "config": )"
      R"({"initial_learning_rate": 0.1, "decay_steps": 1, "decay_rate": 0.5, "staircase": false, "name": null}, )"
      R"("registered_name": null})";
  return {
      {"sgd", SGD(), CommonText("SGD", "0.009999999776482582") + R"("momentum": 0.0, "nesterov": false})"},
      {"sgd_momentum", SGD({.learning_rate = 0.1, .momentum = 0.9, .nesterov = true}),
       CommonText("SGD", "0.10000000149011612") + R"("momentum": 0.9, "nesterov": true})"},
      {"rmsprop", RMSprop(),
       CommonText("RMSprop") + R"("rho": 0.9, "momentum": 0.0, "epsilon": 1e-07, "centered": false})"},
      {"rmsprop_centered", RMSprop({.learning_rate = 0.01, .momentum = 0.5, .centered = true}),
       CommonText("RMSprop", "0.009999999776482582") +
           R"("rho": 0.9, "momentum": 0.5, "epsilon": 1e-07, "centered": true})"},
      {"adam", Adam(), CommonText("Adam") + moments + R"(, "amsgrad": false})"},
      {"adam_amsgrad", Adam({.amsgrad = true}), CommonText("Adam") + moments + R"(, "amsgrad": true})"},
      {"adam_schedule",
       Adam({.learning_rate =
                 schedules::ExponentialDecay({.initial_learning_rate = 0.1, .decay_steps = 1, .decay_rate = 0.5}),
             .clipnorm = 1}),
       CommonText("Adam", schedule, "null", "1.0") + moments + R"(, "amsgrad": false})"},
      {"adamw", AdamW(), CommonText("AdamW", "0.0010000000474974513", "0.004") + moments + R"(, "amsgrad": false})"},
      {"adamax", Adamax(), CommonText("Adamax") + moments + "}"},
      {"nadam", Nadam(), CommonText("Nadam") + moments + "}"},
      {"adagrad", Adagrad(), CommonText("Adagrad") + R"("initial_accumulator_value": 0.1, "epsilon": 1e-07})"},
      {"adadelta", Adadelta(), CommonText("Adadelta") + R"("rho": 0.95, "epsilon": 1e-07})"},
      {"ftrl", Ftrl(),
       CommonText("Ftrl") +
           R"("learning_rate_power": -0.5, "initial_accumulator_value": 0.1, "l1_regularization_strength": 0.0, )"
           R"("l2_regularization_strength": 0.0, "l2_shrinkage_regularization_strength": 0.0, "beta": 0.0})"}};
}

void ExpectSteps(const Optimizer& optimizer, const std::string& name) {
  std::unique_ptr<SafetensorsReader> golden = OpenGolden();
  ASSERT_NE(golden, nullptr);
  const Values x = ValuesOf(*golden->Read("x")), y = ValuesOf(*golden->Read("y"));
  const Steps got = Train(optimizer, x, y, 3);
  ASSERT_EQ(got.size(), 3u) << name;
  for (const char* variable : {"dense/kernel", "dense/bias"}) {
    for (const auto& [step, when] : {std::pair(1, "saved"), std::pair(2, "third_step")}) {
      const std::string key = absl::StrCat(name, "/", when, "/", variable, ":0");
      absl::StatusOr<HostTensor> want = golden->Read(key);
      ASSERT_TRUE(want.ok()) << want.status();
      const Values expected = ValuesOf(*want);
      const Values& actual = got[step].at(variable);
      ASSERT_EQ(actual.size(), expected.size()) << key;
      for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 1e-5) << key << " " << i;
    }
  }
}

// Whether Keras' own steps are the formula's: Nadam of Keras 2.15 multiplies its product by b(t) once for each variable
// or not at all, as it happens to trace the step, so that its numbers are those of no formula.
bool StepsAreRight(const Golden& golden) { return golden.name != std::string("nadam"); }

TEST(KerasOptimizers, StepAsKerasDoes) {
  for (const Golden& golden : Goldens()) {
    if (StepsAreRight(golden)) ExpectSteps(golden.optimizer, golden.name);
  }
}

// As Python's json writes a number.
std::string NumberText(double number) {
  char text[40];
  for (int digits = 1; digits <= 17; ++digits) {
    std::snprintf(text, sizeof(text), "%.*g", digits, number);
    if (std::stod(text) == number) break;
  }
  std::string result = text;
  return result.find_first_of(".e") == std::string::npos ? result + ".0" : result;
}

std::string JsonText(const PartConfig& config);

struct ValueText {
  std::string operator()(std::monostate) const { return "null"; }
  std::string operator()(bool flag) const { return flag ? "true" : "false"; }
  std::string operator()(int64_t whole) const { return absl::StrCat(whole); }
  std::string operator()(double number) const { return NumberText(number); }
  std::string operator()(const std::string& text) const { return absl::StrCat("\"", text, "\""); }
  std::string operator()(const std::vector<double>& list) const {
    return absl::StrCat("[", absl::StrJoin(list, ", ", [](std::string* out, double x) { *out += NumberText(x); }), "]");
  }
  std::string operator()(const std::shared_ptr<const PartConfig>& part) const {
    return absl::StrCat(R"({"module": "keras.optimizers.schedules", "class_name": ")", part->class_name,
                        R"(", "config": )", JsonText(*part), R"(, "registered_name": null})");
  }
};

std::string JsonText(const PartConfig& config) {
  std::vector<std::string> entries;
  for (const auto& [key, value] : config.values) {
    entries.push_back(absl::StrCat("\"", key, "\": ", std::visit(ValueText(), value)));
  }
  return absl::StrCat("{", absl::StrJoin(entries, ", "), "}");
}

TEST(KerasOptimizers, HaveTheConfigsOfKerasFiles) {
  for (const Golden& golden : Goldens()) EXPECT_EQ(JsonText(golden.optimizer.config()), golden.config) << golden.name;
}

TEST(KerasOptimizers, ComeBackFromTheirConfigs) {
  for (const Golden& golden : Goldens()) {
    PartConfig config = golden.optimizer.config();
    config.class_name = absl::StrCat("Custom>", config.class_name);
    absl::StatusOr<Optimizer> read = OptimizerFromConfig(config);
    ASSERT_TRUE(read.ok()) << golden.name << ": " << read.status();
    EXPECT_EQ(read->config().class_name, golden.optimizer.config().class_name);
    EXPECT_EQ(JsonText(read->config()), golden.config) << golden.name;
    if (StepsAreRight(golden)) ExpectSteps(*read, golden.name);
  }
}

TEST(KerasOptimizers, ThoseOfFilesBeforeKeras211) {
  const std::vector<std::pair<const char*, PartConfig>> cases = {
      {"legacy_sgd_momentum", {"SGD", {{"lr", 0.1}, {"decay", 0.0}, {"momentum", 0.9}, {"nesterov", false}}}},
      {"legacy_rmsprop",
       {"RMSprop",
        {{"name", "RMSprop"},
         {"learning_rate", 0.001},
         {"decay", 0.0},
         {"rho", 0.9},
         {"momentum", 0.0},
         {"epsilon", 1e-7},
         {"centered", false}}}},
      {"legacy_adam", {"Adam", {{"learning_rate", 0.001}, {"decay", 0.0}, {"epsilon", std::monostate()}}}}};
  for (const auto& [name, config] : cases) {
    absl::StatusOr<Optimizer> optimizer = OptimizerFromConfig(config);
    ASSERT_TRUE(optimizer.ok()) << optimizer.status();
    ExpectSteps(*optimizer, name);
  }
}

TEST(KerasOptimizers, ByNameHaveTheDefaults) {
  EXPECT_EQ(JsonText(Optimizer("rmsprop").config()), JsonText(optimizers::RMSprop().config()));
  EXPECT_EQ(JsonText(Optimizer("AdamW").config()), JsonText(optimizers::AdamW().config()));
  EXPECT_EQ(JsonText(Optimizer("lion").config()), JsonText(optimizers::Lion().config()));
  for (const char* name :
       {"sgd", "rmsprop", "adam", "adamw", "adamax", "nadam", "adagrad", "adadelta", "ftrl", "lion"}) {
    EXPECT_TRUE(OptimizerByName(name).ok()) << name;
  }
  // The weights of any of Tandem's, without a name.
  const Optimizer own = tandem::optimizers::LAMB({});
  EXPECT_TRUE(own.status().ok());
  EXPECT_FALSE(own.config().named());
  EXPECT_TRUE(own.Slots({"dense/kernel"}).empty());
}

std::string SlotText(const Optimizer& optimizer, SlotLayout layout = SlotLayout::kKeras2) {
  return absl::StrJoin(optimizer.Slots({"k", "b"}, layout), " ", [](std::string* out, const OptimizerSlot& slot) {
    absl::StrAppend(out, slot.name, "=", slot.slot);
  });
}

TEST(KerasOptimizers, KnowTheOrderOfFiles) {
  using namespace optimizers;  // NOLINT: what the test is about
  EXPECT_EQ(SlotText(SGD()), "SGD/m/k:0= SGD/m/b:0=");
  EXPECT_EQ(SlotText(SGD({.momentum = 0.9})), "SGD/m/k:0=k/SGD SGD/m/b:0=b/SGD");
  EXPECT_EQ(SlotText(RMSprop({.momentum = 0.5, .centered = true})),
            "RMSprop/velocity/k:0=k/RMSProp RMSprop/velocity/b:0=b/RMSProp RMSprop/momentum/k:0=k/RMSProp_1 "
            "RMSprop/momentum/b:0=b/RMSProp_1 RMSprop/average_gradient/k:0=k/RMSProp_2 "
            "RMSprop/average_gradient/b:0=b/RMSProp_2");
  EXPECT_EQ(SlotText(RMSprop({.centered = true})),
            "RMSprop/velocity/k:0=k/RMSProp RMSprop/velocity/b:0=b/RMSProp RMSprop/average_gradient/k:0=k/RMSProp_1 "
            "RMSprop/average_gradient/b:0=b/RMSProp_1");
  EXPECT_EQ(SlotText(Adam({.amsgrad = true})),
            "Adam/m/k:0=k/Adam Adam/v/k:0=k/Adam_1 Adam/m/b:0=b/Adam Adam/v/b:0=b/Adam_1 Adam/vhat/k:0=k/Adam_2 "
            "Adam/vhat/b:0=b/Adam_2");
  EXPECT_EQ(SlotText(AdamW()), "AdamW/m/k:0=k/AdamW AdamW/v/k:0=k/AdamW_1 AdamW/m/b:0=b/AdamW AdamW/v/b:0=b/AdamW_1");
  EXPECT_EQ(SlotText(Adam(), SlotLayout::kLegacy),
            "Adam/m/k:0=k/Adam Adam/m/b:0=b/Adam Adam/v/k:0=k/Adam_1 Adam/v/b:0=b/Adam_1");
  EXPECT_EQ(SlotText(SGD(), SlotLayout::kLegacy), "");
  EXPECT_EQ(SlotText(Adagrad({.use_ema = true})),
            "Adagrad/average/k:0=k/ExponentialMovingAverage Adagrad/average/b:0=b/ExponentialMovingAverage "
            "Adagrad/accumulator/k:0=k/Adagrad Adagrad/accumulator/b:0=b/Adagrad");
}

// Every slot that Slots() names is one that Minimize makes, and none is left out but those of the iteration.
TEST(KerasOptimizers, NameTheSlotsThatTheyMake) {
  for (const Golden& golden : Goldens()) {
    const Steps steps = Train(golden.optimizer, Values(12, 0.5), Values(8, 0.25), 1);
    ASSERT_EQ(steps.size(), 1u);
    std::map<std::string, Values> left = steps[0];
    const std::vector<std::string> variables = {"dense/kernel", "dense/bias"};
    for (const std::string& variable : variables) EXPECT_EQ(left.erase(variable), 1u);
    for (const OptimizerSlot& slot : golden.optimizer.Slots(variables)) {
      if (slot.slot.empty()) continue;
      EXPECT_EQ(left.erase(slot.slot), 1u) << golden.name << " " << slot.slot;
    }
    for (const auto& [slot, value] : golden.optimizer.SlotsOfIteration(variables, 1)) {
      ASSERT_EQ(left.count(slot), 1u) << slot;
      for (double element : left[slot]) EXPECT_NEAR(element, value, 1e-6);
      left.erase(slot);
    }
    EXPECT_TRUE(left.empty()) << golden.name << " " << left.begin()->first;
  }
}

// One weight w from 0.5 with the gradient 2 (w x - y) x / 1 of one row.
struct Weight {
  double w = 0.5, m = 0, v = 0, a = 0;
};
void ExpectFormula(const Optimizer& optimizer, const std::function<void(Weight&, double gradient, int t)>& formula,
                   const std::string& slot = "w") {
  GraphBuilder graph;
  Tensor x = graph.Input("x", DType::kFloat32, {kBatch});
  Tensor w = graph.Variable({.name = "w", .shape = {}, .initializer = initializers::Constant(0.5)({})});
  optimizer.Minimize(ReduceMean(Square(Mul(x, w) - 3.0)));
  ASSERT_TRUE(graph.status().ok()) << graph.status();
  Weight weight;
  std::map<std::string, Values> variables;
  // An Estimator lets averages begin with their variable's first value.
  if (slot != "w") variables[slot] = {0.5};
  for (int step = 0; step < 4; ++step) {
    const double in = step - 1.25;
    Fetched got = RunStep(
        graph,
        {.batch = 1, .inputs = {{"x", Floats({1}, {in})}}, .variables = variables, .scalars = {{"global_step", step}}});
    formula(weight, 2 * (in * weight.w - 3) * in, step + 1);
    variables = got.variables;
    EXPECT_NEAR(variables["w"][0], weight.w, 1e-5) << step;
    if (slot == "w") continue;
    EXPECT_NEAR(variables[slot][0], weight.a, 1e-5) << step;
  }
}

TEST(KerasOptimizers, MomentumHoldsTheRateOfItsStep) {
  auto formula = [](double decay) {
    return [decay](Weight& s, double g, int t) {
      const double rate = 0.1 * std::pow(0.5, t - 1);
      s.m = 0.9 * s.m - rate * g;
      s.w = s.w - decay * rate * s.w + s.m;
    };
  };
  const optimizers::Rate rate =
      optimizers::schedules::ExponentialDecay({.initial_learning_rate = 0.1, .decay_steps = 1, .decay_rate = 0.5});
  ExpectFormula(optimizers::SGD({.learning_rate = rate, .momentum = 0.9}), formula(0));
  ExpectFormula(optimizers::SGD({.learning_rate = rate, .momentum = 0.9, .weight_decay = 0.2}), formula(0.2));
}

TEST(KerasOptimizers, FtrlSeesTheDecayedWeight) {
  ExpectFormula(optimizers::Ftrl({.learning_rate = 0.1, .weight_decay = 0.5}), [](Weight& s, double g, int t) {
    if (t == 1) s.v = 0.1;
    const double w = s.w - 0.1 * 0.5 * s.w, sum = s.v + g * g;
    s.m += g - (std::sqrt(sum) - std::sqrt(s.v)) / 0.1 * w;
    s.v = sum;
    s.w = -s.m / (std::sqrt(sum) / 0.1);
  });
}

TEST(KerasOptimizers, NadamLooksAhead) {
  ExpectFormula(optimizers::Nadam({.learning_rate = 0.1}), [](Weight& s, double g, int t) {
    auto share = [](int step) { return 0.9 * (1 - 0.5 * std::pow(0.96, step)); };
    if (t == 1) s.a = 1;
    s.a *= share(t);
    s.m = 0.9 * s.m + 0.1 * g;
    s.v = 0.999 * s.v + 0.001 * g * g;
    const double ahead = share(t + 1) * s.m / (1 - s.a * share(t + 1)) + (1 - share(t)) * g / (1 - s.a);
    s.w -= 0.1 * ahead / (std::sqrt(s.v / (1 - std::pow(0.999, t))) + 1e-7);
  });
}

TEST(KerasOptimizers, LionTakesSigns) {
  ExpectFormula(optimizers::Lion({.learning_rate = 0.1}), [](Weight& s, double g, int) {
    const double blend = 0.9 * s.m + 0.1 * g;
    s.w -= 0.1 * (blend > 0 ? 1 : -1);
    s.m = 0.99 * s.m + 0.01 * g;
  });
}

TEST(KerasOptimizers, ClipAsAsked) {
  auto formula = [](double low, double high) {
    return [=](Weight& s, double g, int) { s.w -= 0.1 * std::min(std::max(g, low), high); };
  };
  ExpectFormula(optimizers::SGD({.learning_rate = 0.1, .clipnorm = 2}), formula(-2, 2));
  ExpectFormula(optimizers::SGD({.learning_rate = 0.1, .clipvalue = 1.5}), formula(-1.5, 1.5));
  ExpectFormula(optimizers::SGD({.learning_rate = 0.1, .global_clipnorm = 3}), formula(-3, 3));
}

TEST(KerasOptimizers, ClipEachVariableByItself) {
  GraphBuilder graph;
  Tensor x = graph.Input("x", DType::kFloat32, {kBatch});
  Tensor a = graph.Variable({.name = "a", .shape = {2}}), b = graph.Variable({.name = "b", .shape = {2}});
  Tensor loss = ReduceMean(x) * (ReduceSum(a) * 3.0 + ReduceSum(b) * 0.25);
  optimizers::SGD({.learning_rate = 1, .clipnorm = 1}).Minimize(loss);
  Fetched got = RunStep(graph, {.batch = 1, .inputs = {{"x", Floats({1}, {1})}}});
  EXPECT_NEAR(got.variables["a"][0], -std::sqrt(0.5), 1e-6);
  EXPECT_NEAR(got.variables["b"][1], -0.25, 1e-6);
}

TEST(KerasOptimizers, KeepAveragesOfWeights) {
  ExpectFormula(
      optimizers::SGD({.learning_rate = 0.1, .use_ema = true, .ema_momentum = 0.75}),
      [](Weight& s, double g, int t) {
        if (t == 1) s.a = s.w;
        s.w -= 0.1 * g;
        s.a = 0.75 * s.a + 0.25 * s.w;
      },
      "w/ExponentialMovingAverage");
}

TEST(KerasOptimizers, TheRateIsAStepScalar) {
  GraphBuilder graph;
  Tensor w = graph.Variable({.name = "w", .shape = {}, .initializer = initializers::Constant(1)({})});
  optimizers::RMSprop({.learning_rate = 0.25}).Minimize(Square(w));
  EXPECT_EQ(graph.scalar_defaults().at("learning_rate"), 0.25);
}

TEST(KerasSchedules, CosineDecayWarmsUp) {
  const optimizers::Rate rate = optimizers::schedules::CosineDecay(
      {.initial_learning_rate = 0.1, .decay_steps = 10, .alpha = 0.1, .warmup_target = 0.5, .warmup_steps = 4});
  for (const auto& [step, want] : std::vector<std::pair<double, double>>{
           {0, 0.1}, {1, 0.2}, {4, 0.5}, {9, 0.5 * (0.9 * 0.5 + 0.1)}, {14, 0.05}, {40, 0.05}}) {
    GraphBuilder graph;
    graph.Output("rate", rate.rate().Build(&graph));
    Fetched got = RunStep(graph, {.batch = 1, .scalars = {{"global_step", step}}});
    ASSERT_EQ(got.outputs["rate"].size(), 1u);
    EXPECT_NEAR(got.outputs["rate"][0], want, 1e-6) << step;
  }
}

TEST(KerasSchedules, ComeBackFromTheirConfigs) {
  namespace schedules = optimizers::schedules;
  const std::vector<optimizers::Rate> rates = {
      schedules::ExponentialDecay(
          {.initial_learning_rate = 0.1, .decay_steps = 3, .decay_rate = 0.5, .staircase = true}),
      schedules::PiecewiseConstantDecay({.boundaries = {2, 4}, .values = {0.1, 0.2, 0.3}}),
      schedules::PolynomialDecay({.initial_learning_rate = 0.1, .decay_steps = 3, .power = 2, .cycle = true}),
      schedules::InverseTimeDecay({.initial_learning_rate = 0.1, .decay_steps = 2.5, .decay_rate = 0.5}),
      schedules::CosineDecay({.initial_learning_rate = 0.1, .decay_steps = 3, .alpha = 0.25}),
      schedules::CosineDecay({.initial_learning_rate = 0.1, .decay_steps = 3, .warmup_target = 0.5, .warmup_steps = 2}),
      schedules::CosineDecayRestarts({.initial_learning_rate = 0.1, .first_decay_steps = 3, .m_mul = 0.5})};
  for (const optimizers::Rate& rate : rates) {
    ASSERT_NE(rate.schedule(), nullptr);
    absl::StatusOr<optimizers::Rate> read = schedules::FromConfig(*rate.schedule());
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(JsonText(*read->schedule()), JsonText(*rate.schedule()));
    for (double step : {0.0, 1.0, 3.0, 7.0}) {
      GraphBuilder graph;
      graph.Output("before", rate.rate().Build(&graph));
      graph.Output("after", read->rate().Build(&graph));
      Fetched got = RunStep(graph, {.batch = 1, .scalars = {{"global_step", step}}});
      EXPECT_EQ(got.outputs["before"], got.outputs["after"]);
      EXPECT_EQ(got.outputs["before"].size(), 1u);
    }
  }
}

TEST(KerasOptimizers, ErrorsNameWhatIsWrong) {
  auto error = [](const Optimizer& optimizer) {
    GraphBuilder graph;
    Tensor w = graph.Variable({.name = "w", .shape = {}, .initializer = initializers::Constant(1)({})});
    optimizer.Minimize(Square(w));
    return std::string(graph.status().message());
  };
  EXPECT_THAT(error("rmsporp"), HasSubstr("there is no optimizer \"rmsporp\"; did you mean \"rmsprop\"? The names are "
                                          "sgd, rmsprop, adam, "));
  EXPECT_THAT(error("rmsporp"), HasSubstr("optimizers_test.cc:"));
  EXPECT_THAT(error(optimizers::SGD({.momentum = -1})), HasSubstr("`momentum` must be in [0, 1], got -1"));
  EXPECT_THAT(error(optimizers::Adam({.weight_decay = -1})), HasSubstr("`weight_decay` must be a number >= 0, got -1"));
  EXPECT_THAT(error(optimizers::Adam({.beta_2 = 1, .amsgrad = true})), HasSubstr("`beta_2` must be in [0, 1), got 1"));
  EXPECT_THAT(error(optimizers::RMSprop({.rho = 2, .centered = true})), HasSubstr("`rho` must be in [0, 1), got 2"));
  EXPECT_THAT(error(optimizers::Adam({.clipnorm = 1, .clipvalue = 1})),
              HasSubstr("set only one of `clip.global_norm`, `clip.value` and `clip.norm`"));
  EXPECT_THAT(error(optimizers::Adam({.clipnorm = -1})), HasSubstr("`clip.norm` must be a positive number, got -1"));
  EXPECT_THAT(error(optimizers::SGD(
                  {.learning_rate = optimizers::schedules::CosineDecay(
                       {.initial_learning_rate = 0.1, .decay_steps = 1, .warmup_target = 0.2, .warmup_steps = -1})})),
              HasSubstr("`warmup_steps` must be a number >= 0, got -1"));
}

TEST(KerasOptimizers, RefuseWhatTheyCannotRead) {
  auto error = [](const PartConfig& config) { return std::string(OptimizerFromConfig(config).status().message()); };
  EXPECT_THAT(error({"Custom>Adafactor", {}}), HasSubstr("there is no optimizer \"Custom>Adafactor\""));
  EXPECT_EQ(error({"Adam", {{"beta_1", "much"}}}),
            "the optimizer Adam: \"beta_1\" must be a finite number, got \"much\"");
  EXPECT_EQ(error({"SGD", {{"nesterov", 1.5}}}), "the optimizer SGD: \"nesterov\" must be true or false, got 1.5");
  auto scheduled = [&](PartConfig schedule) {
    return error({"Adam", {{"learning_rate", std::make_shared<const PartConfig>(std::move(schedule))}}});
  };
  EXPECT_THAT(scheduled({"NoamDecay", {}}), HasSubstr("there is no schedule \"NoamDecay\""));
  EXPECT_EQ(scheduled({"ExponentialDecay", {{"initial_learning_rate", 0.1}, {"decay_rate", 0.5}}}),
            "the schedule ExponentialDecay: \"decay_steps\" must be given, got nothing");
}

}  // namespace
}  // namespace tandem::keras

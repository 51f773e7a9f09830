// Optimizers, schedules, clipping, summaries and the samples' networks with arguments that they cannot use.
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "frontends/activations.h"
#include "frontends/clipping.h"
#include "frontends/initializers.h"
#include "frontends/optimizers.h"
#include "frontends/regularizers.h"
#include "frontends/schedules.h"
#include "frontends/summary.h"
#include "graph/ops.h"
#include "gtest/gtest.h"
#include "samples/networks.h"
#include "tests/errors/api_edge.h"

namespace tandem::edge {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

std::vector<Row> Training() {
  using namespace optimizers;  // NOLINT: what the rows are about
  Table t;
  auto loss = [](World& w) { return ReduceMean(Square(MatMul(w.x, w.w))); };
  t.Graph(
      "Minimize", "a batched loss", [](World& w) { SGD({}).Minimize(w.x); }, "scalar");
  t.Graph(
      "Minimize", "an integer loss", [](World& w) { SGD({}).Minimize(ReduceSum(w.ints)); }, "floating-point");
  t.Graph(
      "Minimize", "a loss of nothing", [](World& w) { SGD({}).Minimize(ReduceSum(w.x)); }, "no gradients");
  t.Graph(
      "Minimize", "a list with an empty tensor", [=](World& w) { SGD({}).Minimize(loss(w), {.var_list = {w.none}}); },
      "var_list[0]");
  t.Graph("Minimize", "a list with no variable", [=](World& w) { SGD({}).Minimize(loss(w), {.var_list = {w.x}}); });
  t.Graph(
      "Minimize", "a negative rate", [=](World& w) { SGD({.learning_rate = -1}).Minimize(loss(w)); }, ">= 0",
      "learning_rate");
  t.Graph(
      "Minimize", "a rate that is no number", [=](World& w) { SGD({.learning_rate = kNaN}).Minimize(loss(w)); }, ">= 0",
      "learning_rate");
  t.Graph(
      "Minimize", "a null schedule", [=](World& w) { SGD({.learning_rate = Schedule()}).Minimize(loss(w)); },
      "null function", "learning_rate");
  t.Graph(
      "Minimize", "a schedule that gives nothing",
      [=](World& w) { SGD({.learning_rate = Schedule([](const Tensor&) { return Tensor(); })}).Minimize(loss(w)); },
      "empty Tensor", "learning_rate");
  t.Graph(
      "Minimize", "no rule", [=](World& w) { Optimizer(nullptr, 0.1).Minimize(loss(w)); }, "null", "Optimizer");
  t.Graph(
      "Minimize", "two ways of clipping",
      [=](World& w) { SGD({.clip = {.global_norm = 1, .value = 1}}).Minimize(loss(w)); }, "only one", "Optimizer");
  t.Graph(
      "Minimize", "a negative norm", [=](World& w) { SGD({.clip = {.global_norm = -1}}).Minimize(loss(w)); },
      "positive", "ClipByGlobalNorm");
  t.Graph(
      "Momentum", "momentum 1", [=](World& w) { Momentum({.momentum = 1}).Minimize(loss(w)); }, "`momentum`");
  t.Graph(
      "Adam", "beta1 NaN", [=](World& w) { Adam({.beta1 = kNaN}).Minimize(loss(w)); }, "`beta1`");
  t.Graph(
      "Adam", "a negative epsilon", [=](World& w) { Adam({.epsilon = -1}).Minimize(loss(w)); }, "`epsilon`");
  t.Graph(
      "RMSprop", "rho 1", [=](World& w) { RMSprop({.rho = 1}).Minimize(loss(w)); }, "`rho`");
  t.Graph(
      "AdamW", "a negative decay", [=](World& w) { AdamW({.weight_decay = -1}).Minimize(loss(w)); }, "`weight_decay`");
  t.Graph(
      "Adagrad", "a negative start", [=](World& w) { Adagrad({.initial_accumulator_value = -1}).Minimize(loss(w)); },
      "`initial_accumulator_value`");
  t.Graph(
      "Adadelta", "rho 1", [=](World& w) { Adadelta({.rho = 1}).Minimize(loss(w)); }, "`rho`");
  t.Graph(
      "Adamax", "beta1 1", [=](World& w) { Adamax({.beta1 = 1}).Minimize(loss(w)); }, "`beta1`");
  t.Graph(
      "Nadam", "beta2 NaN", [=](World& w) { Nadam({.beta2 = kNaN}).Minimize(loss(w)); }, "`beta2`");
  t.Graph(
      "Ftrl", "power 1", [=](World& w) { Ftrl({.learning_rate_power = 1}).Minimize(loss(w)); },
      "`learning_rate_power`");
  t.Graph(
      "Ftrl", "l2 without end", [=](World& w) { Ftrl({.l2 = kInf}).Minimize(loss(w)); }, "`l2`");
  t.Graph(
      "Lion", "beta1 -1", [=](World& w) { Lion({.beta1 = -1}).Minimize(loss(w)); }, "`beta1`");
  t.Graph(
      "LAMB", "a negative epsilon", [=](World& w) { LAMB({.epsilon = -1}).Minimize(loss(w)); }, "`epsilon`");
  t.Graph(
      "LARS", "no trust", [=](World& w) { LARS({.trust_coefficient = 0}).Minimize(loss(w)); }, "`trust_coefficient`");
  t.Graph(
      "ApplyGradients", "a gradient of another graph",
      [](World& w) { SGD({}).ApplyGradients({{.gradient = w.foreign, .variable = w.w, .name = "w"}}); },
      "another graph");
  t.Graph(
      "ApplyGradients", "no gradient",
      [](World& w) { SGD({}).ApplyGradients({{.gradient = w.none, .variable = w.w, .name = "w"}}); }, "no gradients",
      "Minimize");
  t.Add(
      "Build", "no graph", [](World&) { return LearningRate(0.1).Build(nullptr); }, "null", "learning_rate");
  t.Add("GlobalNorm", "nothing", [](World&) { return GlobalNorm({}); });
  t.Graph(
      "ClipByGlobalNorm", "an infinite norm", [](World& w) { ClipByGlobalNorm({w.x}, kInf); }, "positive");
  t.Graph(
      "ComputeGradients", "a batched loss", [](World& w) { SGD({}).ComputeGradients(w.x); }, "scalar", "Minimize");
  t.Graph(
      "ComputeGradients", "no loss", [](World& w) { SGD({}).ComputeGradients(w.scalar * w.none); }, "empty Tensor",
      "mul");
  t.Graph("WithGroup", "no pattern", [=](World& w) { SGD({}).WithGroup({.variables = ""}).Minimize(loss(w)); });
  t.Graph(
      "WithGroup", "no regular expression", [=](World& w) { SGD({}).WithGroup({.variables = "("}).Minimize(loss(w)); },
      "\"(\"");
  t.Graph(
      "WithGroup", "what no variable is", [=](World& w) { SGD({}).WithGroup({.variables = "v"}).Minimize(loss(w)); },
      "\"v\"");
  t.Graph("WithGroup", "a negative factor",
          [=](World& w) { SGD({}).WithGroup({.variables = "w", .learning_rate_factor = -1}).Minimize(loss(w)); });
  t.Graph("WithGroup", "a decay that is no number",
          [=](World& w) { SGD({}).WithGroup({.variables = "w", .weight_decay = kNaN}).Minimize(loss(w)); });
  t.Graph("WithGroup", "a rate of what is frozen", [=](World& w) {
    SGD({}).WithGroup({.variables = "w", .learning_rate = 0.1, .frozen = true}).Minimize(loss(w));
  });
  t.Graph(
      "WithMovingAverage", "a decay above 1",
      [=](World& w) { SGD({}).WithMovingAverage({.decay = 1.5}).Minimize(loss(w)); }, "decay");
  t.Graph(
      "WithMovingAverage", "a decay that is no number",
      [=](World& w) { SGD({}).WithMovingAverage({.decay = kNaN}).Minimize(loss(w)); }, "decay");
  t.Graph(
      "WithMovingAverage", "no regular expression",
      [=](World& w) { SGD({}).WithMovingAverage({.also = "["}).Minimize(loss(w)); }, "\"[\"");
  t.Graph(
      "WithGradientFactor", "0", [=](World& w) { SGD({}).WithGradientFactor(0).Minimize(loss(w)); }, "positive");
  t.Graph(
      "WithGradientFactor", "no number", [=](World& w) { SGD({}).WithGradientFactor(kNaN).Minimize(loss(w)); },
      "positive");
  t.Graph(
      "ClipGradients", "a negative norm", [](World& w) { ClipGradients({w.x}, {.norm = -1}); },
      "`clip.norm` must be a positive number, got -1", "Optimizer");
  t.Graph(
      "ClipGradients", "two ways", [](World& w) { ClipGradients({w.x}, {.global_norm = 1, .value = 1}); }, "only one",
      "Optimizer");
  t.Graph("AddRegularization", "what is no variable", [](World& w) { AddRegularization(w.ints, L2(1)); });
  t.Graph(
      "AddRegularization", "a negative factor", [](World& w) { AddRegularization(w.w, L1(-1)); }, "", "Regularizer");
  t.Graph(
      "AddRegularization", "a factor without end", [](World& w) { AddRegularization(w.w, L2(kInf)); }, "",
      "Regularizer");
  t.Add(
      "At", "no step",
      [](World& w) {
        return LearningRate(schedules::CosineDecay({.initial_learning_rate = 0.1, .decay_steps = 3})).At(w.none);
      },
      "", "Tensor");
  t.Graph(
      "Constant", "no number",
      [](World& w) { w.graph.Variable({.name = "v", .shape = {2}, .initializer = initializers::Constant(kNaN)({2})}); },
      "", "Variable");
  t.Graph(
      "RandomUniform", "an end before its begin",
      [](World& w) {
        w.graph.Variable({.name = "v", .shape = {2}, .initializer = initializers::RandomUniform(2, 1)({2})});
      },
      "", "Variable");
  t.Graph(
      "TruncatedNormal", "a negative deviation",
      [](World& w) {
        w.graph.Variable({.name = "v", .shape = {2}, .initializer = initializers::TruncatedNormal(0, -1)({2})});
      },
      "", "Variable");
  using Schedules = std::vector<std::pair<const char*, Schedule>>;
  for (const auto& [name, schedule] : Schedules{
           {"ExponentialDecay", schedules::ExponentialDecay({})},
           {"ExponentialDecay",
            schedules::ExponentialDecay({.initial_learning_rate = 0.1, .decay_steps = 3, .decay_rate = -1})},
           {"PiecewiseConstant", schedules::PiecewiseConstant({})},
           {"PiecewiseConstant", schedules::PiecewiseConstant({.boundaries = {2, 1}, .values = {1, 2, 3}})},
           {"PolynomialDecay", schedules::PolynomialDecay({})},
           {"PolynomialDecay",
            schedules::PolynomialDecay({.initial_learning_rate = 0.1, .decay_steps = 3, .power = 0})},
           {"CosineDecay", schedules::CosineDecay({})},
           {"CosineDecay", schedules::CosineDecay({.initial_learning_rate = kNaN, .decay_steps = 3})},
           {"InverseTimeDecay", schedules::InverseTimeDecay({})},
           {"InverseTimeDecay",
            schedules::InverseTimeDecay({.initial_learning_rate = 0.1, .decay_steps = 3, .decay_rate = -1})},
           {"NaturalExpDecay",
            schedules::NaturalExpDecay({.initial_learning_rate = 0.1, .decay_steps = 3, .decay_rate = kNaN})},
           {"NaturalExpDecay", schedules::NaturalExpDecay({.initial_learning_rate = -1, .decay_steps = 3})},
           {"CosineDecayRestarts", schedules::CosineDecayRestarts({})},
           {"CosineDecayRestarts",
            schedules::CosineDecayRestarts({.initial_learning_rate = 0.1, .first_decay_steps = 3, .t_mul = 0.5})},
           {"CosineDecayRestarts",
            schedules::CosineDecayRestarts({.initial_learning_rate = 0.1, .first_decay_steps = 3, .m_mul = 0})},
           {"OneCycle", schedules::OneCycle({})},
           {"OneCycle", schedules::OneCycle({.max_learning_rate = 0.1, .total_steps = 3, .rising_share = 1})},
           {"OneCycle", schedules::OneCycle({.max_learning_rate = 0.1, .total_steps = 3, .div_factor = 0})},
           {"OneCycle", schedules::OneCycle({.max_learning_rate = 0.1, .total_steps = 3, .final_div_factor = kInf})},
           {"LinearWarmup", schedules::LinearWarmup({})},
           {"LinearWarmup", schedules::LinearWarmup({.warmup_steps = 3, .start_factor = 2, .then = 0.1})}}) {
    t.Add(name, "an option", [schedule = schedule](World& w) { return LearningRate(schedule).Build(&w.graph); });
  }
  return t.rows();
}

std::vector<Row> Networks() {
  Table t;
  t.Add(
      "LeakyRelu", "an empty tensor", [](World& w) { return LeakyRelu(w.none, 0.1); }, "", "mul");
  t.Add(
      "Relu6", "an empty tensor", [](World& w) { return Relu6(w.none); }, "", "relu");
  t.Add(
      "Elu", "an empty tensor", [](World& w) { return Elu(w.none); }, "", "relu");
  t.Add(
      "Softplus", "an empty tensor", [](World& w) { return Softplus(w.none); }, "", "neg");
  t.Add(
      "Swish", "an empty tensor", [](World& w) { return Swish(w.none); }, "", "sigmoid");
  t.Add(
      "ZalandoConvnet", "no image", [](World& w) { return networks::ZalandoConvnet(w.none); }, "is an empty Tensor",
      "Conv2D");
  t.Add(
      "MnistConvnet", "no classes", [](World& w) { return networks::MnistConvnet(w.image, {.classes = 0}); }, "`units`",
      "Dense");
  t.Add(
      "MultiGpuConvnet", "a flat image", [](World& w) { return networks::MultiGpuConvnet(w.x); }, "", "Conv2D");
  t.Add(
      "SmallPictureConvnet", "a flat image", [](World& w) { return networks::SmallPictureConvnet(w.x); }, "", "Conv2D");
  t.Add(
      "Vgg16", "no image", [](World& w) { return networks::Vgg16(w.none, true); }, "is an empty Tensor", "Conv2D");
  t.Add(
      "Linear", "an image that is gone", [](World& w) { return networks::Linear(w.gone); }, "gone", "Dense");
  return t.rows();
}

std::vector<Row> Summaries() {
  Table t;
  t.Graph(
      "Scalar", "an empty tensor", [](World& w) { summary::Scalar("a", w.scalar * w.none); }, "empty Tensor", "mul");
  t.Graph("Scalar", "a batch", [](World& w) { summary::Scalar("a", w.x); });
  t.Graph("Scalar", "no name", [](World& w) { summary::Scalar("", w.scalar); });
  t.Graph("Scalar", "a name twice", [](World& w) { summary::Scalar("a", w.scalar), summary::Scalar("a", w.scalar); });
  t.Graph("Histogram", "of conditions", [](World& w) { summary::Histogram("a", w.flags); });
  t.Graph("Image", "a matrix", [](World& w) { summary::Image("a", w.x); });
  t.Graph("Image", "of none", [](World& w) { summary::Image("a", w.image, {.max_outputs = 0}); });
  t.Graph("Text", "a long text", [](World& w) { summary::Text(&w.graph, "a", std::string(1 << 20, 'x')); });
  return t.rows();
}

TEST(TrainingEdgeTest, Optimizers) { Check(Training()); }
TEST(TrainingEdgeTest, Networks) { Check(Networks()); }
TEST(TrainingEdgeTest, Summaries) { Check(Summaries()); }

// A name of nothing, and no graph at all.
TEST(TrainingEdgeTest, SummariesOfNothingAreHarmless) {
  summary::Scalar("a", Tensor());
  summary::Histogram("a", Tensor());
  summary::Image("a", Tensor());
  summary::Text(nullptr, "a", "text");
  AddRegularization(Tensor(), L2(1));
}

TEST(TrainingEdgeTest, EveryFunctionHasARow) {
  std::vector<Row> training = Training();
  EXPECT_GT(training.size(), 60u);
  for (const char* same : {"GradientDescent", "SGD"}) training.push_back({same, "", nullptr, ""});  // rows of Minimize
  CheckCoverage("frontends/optimizers.h", training);
  CheckCoverage("frontends/schedules.h", training);
  CheckCoverage("frontends/summary.h", Summaries());
  CheckCoverage("samples/networks.h", Networks());
}

}  // namespace
}  // namespace tandem::edge

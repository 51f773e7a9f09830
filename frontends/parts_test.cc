// Activations, initialisers and regularisers: by name, by config, and what is new among them.
#include "frontends/part_config.h"

#include <cmath>
#include <functional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "frontends/activations.h"
#include "frontends/initializers.h"
#include "frontends/layers.h"
#include "frontends/parts_from_config.h"
#include "frontends/regularizers.h"
#include "frontends/testing.h"
#include "gmock/gmock.h"
#include "graph/ops.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

using frontends::ErrorMismatch;
using frontends::Fetched;
using frontends::Floats;
using frontends::RunStep;
using frontends::Values;
using initializers::InitializerFn;
using testing::HasSubstr;
using testing::StartsWith;

constexpr char kPartsFile[] = "parts_test.cc";

// What an activation makes of numbers, and its slopes there.
struct Curve {
  Values values, slopes;
};
Curve CurveOf(const Activation& activation, const Values& in) {
  GraphBuilder graph;
  Tensor x = graph.Input("x", DType::kFloat32, {kBatch});
  Tensor y = activation(x);
  graph.Output("y", y);
  graph.Output("slope", graph.Gradients(ReduceSum(y), {x})[0]);
  const int64_t n = static_cast<int64_t>(in.size());
  Fetched got = RunStep(graph, {.batch = n, .inputs = {{"x", Floats({n}, in)}}});
  return {got.outputs["y"], got.outputs["slope"]};
}

double PlainSoftplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

struct Formula {
  const char* name;
  std::function<double(double)> value;
};
std::vector<Formula> Formulas() {
  return {
      {"linear", [](double x) { return x; }},
      {"relu", [](double x) { return std::max(x, 0.0); }},
      {"sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"tanh", [](double x) { return std::tanh(x); }},
      {"elu", [](double x) { return x > 0 ? x : std::expm1(x); }},
      {"selu",
       [](double x) {
         return x > 0 ? 1.0507009873554805 * x : 1.0507009873554805 * 1.6732632423543772 * std::expm1(x);
       }},
      {"softplus", PlainSoftplus},
      {"softsign", [](double x) { return x / (1 + std::abs(x)); }},
      {"swish", [](double x) { return x / (1 + std::exp(-x)); }},
      {"gelu", [](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }},
      {"hard_sigmoid", [](double x) { return std::min(std::max(0.2 * x + 0.5, 0.0), 1.0); }},
      {"mish", [](double x) { return x * std::tanh(PlainSoftplus(x)); }},
      {"exponential", [](double x) { return std::exp(x); }},
      {"silu", [](double x) { return x / (1 + std::exp(-x)); }},
      {"relu6", [](double x) { return std::min(std::max(x, 0.0), 6.0); }},
      {"leaky_relu", [](double x) { return x > 0 ? x : 0.2 * x; }},
      {"LeakyReLU", [](double x) { return x > 0 ? x : 0.3 * x; }},
  };
}

TEST(NamedActivations, AreTheFormulasOfKeras) {
  const Values in = {-7.5, -2.4, -1, -0.3, 0.3, 1, 2.4, 2.6, 5.5, 7.5};
  for (const Formula& formula : Formulas()) {
    const Curve got = CurveOf(formula.name, in);
    ASSERT_EQ(got.values.size(), in.size()) << formula.name;
    ASSERT_EQ(got.slopes.size(), in.size()) << formula.name;
    for (size_t i = 0; i < in.size(); ++i) {
      const double value = formula.value(in[i]), h = 1e-5;
      const double slope = (formula.value(in[i] + h) - formula.value(in[i] - h)) / (2 * h);
      EXPECT_NEAR(got.values[i], value, 1e-5 * std::max(1.0, std::abs(value))) << formula.name << " of " << in[i];
      EXPECT_NEAR(got.slopes[i], slope, 3e-5 * std::max(1.0, std::abs(slope))) << formula.name << " at " << in[i];
    }
  }
}

TEST(NamedActivations, HaveTheSlopesOfTensorFlowWhereBranchesMeet) {
  EXPECT_NEAR(CurveOf("selu", {0}).slopes[0], 1.0507009873554805, 1e-6);
  EXPECT_NEAR(CurveOf("softsign", {0}).slopes[0], 1, 1e-6);
}

TEST(NamedActivations, GiveNoNaNOfLargeNumbers) {
  for (const char* name : {"selu", "softsign", "mish", "hard_sigmoid"}) {
    const Curve got = CurveOf(name, {-1e30, 1e30});
    for (double value : got.values) EXPECT_TRUE(std::isfinite(value)) << name;
    for (double slope : got.slopes) EXPECT_TRUE(std::isfinite(slope)) << name;
  }
}

TEST(NamedActivations, OfRowsSumToOne) {
  GraphBuilder graph;
  Tensor x = graph.Input("x", DType::kFloat32, {kBatch, 2});
  graph.Output("softmax", Activation("softmax")(x));
  graph.Output("log", Activation("log_softmax")(x));
  Fetched got = RunStep(graph, {.batch = 1, .inputs = {{"x", Floats({1, 2}, {0, std::log(3.0)})}}});
  EXPECT_NEAR(got.outputs["softmax"][1], 0.75, 1e-6);
  EXPECT_NEAR(got.outputs["log"][0], std::log(0.25), 1e-6);
}

TEST(NamedActivations, KnowTheirNames) {
  EXPECT_EQ(Activation().name(), "linear");
  EXPECT_EQ(Activation("linear").name(), "linear");
  EXPECT_EQ(Activation(Relu).name(), "relu");
  EXPECT_EQ(Activation(&Relu).name(), "relu");
  EXPECT_EQ(Activation(Softmax).name(), "softmax");
  EXPECT_EQ(Activation(HardSigmoid).name(), "hard_sigmoid");
  EXPECT_EQ(Activation(Exp).name(), "exponential");
  EXPECT_EQ(Activation(std::string("silu")).name(), "swish");
  EXPECT_EQ(Activation("ReLU").name(), "relu");
  EXPECT_EQ(Activation("LeakyReLU").name(), "LeakyReLU");
  EXPECT_EQ(Activation(GeluTanh).name(), "");
  EXPECT_EQ(Activation([](const Tensor& x) { return x; }).name(), "");
  EXPECT_EQ(ActivationByName("mish").value().name(), "mish");
}

TEST(NamedActivations, AnUnknownNameIsAnErrorOfItsUse) {
  GraphBuilder graph;
  Tensor x = graph.Input("x", DType::kFloat32, {kBatch, 2});
  EXPECT_FALSE(layers::Dense(x, {.units = 1, .activation = "sotfmax"}).ok());
  EXPECT_EQ(ErrorMismatch(graph, "there is no activation \"sotfmax\"; did you mean \"softmax\"? The names are linear, ",
                          kPartsFile),
            "");
  EXPECT_FALSE(Activation("sotfmax").status().ok());
  EXPECT_EQ(Activation("sotfmax").name(), "");
  EXPECT_FALSE(Activation(static_cast<const char*>(nullptr)).status().ok());
  EXPECT_TRUE(Activation("softmax").status().ok());
  EXPECT_EQ(ActivationByName("sotfmax").status().code(), absl::StatusCode::kInvalidArgument);
}

// "RandomUniform minval=-0.05 maxval=0.05 seed=null".
std::string ConfigText(const PartConfig& config) {
  std::string text = config.class_name;
  for (const auto& [key, value] : config.values) {
    text += " " + key + "=";
    if (const auto* number = std::get_if<double>(&value)) {
      std::ostringstream digits;
      digits << *number;
      text += digits.str();
    } else if (const auto* word = std::get_if<std::string>(&value)) {
      text += *word;
    } else {
      text += std::holds_alternative<std::monostate>(value) ? "null" : "other";
    }
  }
  return text;
}

TEST(NamedInitializers, HaveKerasNamesAndDefaults) {
  const std::vector<std::pair<const char*, const char*>> names = {
      {"zeros", "Zeros"},
      {"one", "Ones"},
      {"constant", "Constant value=0"},
      {"random_uniform", "RandomUniform minval=-0.05 maxval=0.05 seed=null"},
      {"normal", "RandomNormal mean=0 stddev=0.05 seed=null"},
      {"truncated_normal", "TruncatedNormal mean=0 stddev=0.05 seed=null"},
      {"VarianceScaling", "VarianceScaling scale=1 mode=fan_in distribution=truncated_normal seed=null"},
      {"glorot_uniform", "GlorotUniform seed=null"},
      {"glorot_normal", "GlorotNormal seed=null"},
      {"he_uniform", "HeUniform seed=null"},
      {"HeNormal", "HeNormal seed=null"},
      {"lecun_uniform", "LecunUniform seed=null"},
      {"lecun_normal", "LecunNormal seed=null"},
      {"orthogonal", "Orthogonal gain=1 seed=null"},
      {"identity", "Identity gain=1"}};
  for (const auto& [name, config] : names) EXPECT_EQ(ConfigText(InitializerFn(name).config()), config);
  EXPECT_FALSE(InitializerFn([](absl::Span<const int64_t>) { return Initializer{}; }).config().named());
  EXPECT_EQ(layers::DenseOptions().kernel_initializer.config().class_name, "GlorotUniform");
}

TEST(NamedInitializers, AreTheRecipesOfKeras) {
  using Kind = Initializer::Kind;
  const Initializer normal = initializers::RandomNormal(1, 2)({3});
  EXPECT_EQ(normal.kind, Kind::kNormal);
  EXPECT_EQ(normal.a, 1);
  EXPECT_EQ(normal.b, 2);
  const Initializer lecun = InitializerFn("lecun_normal")({3, 3, 2, 8});
  EXPECT_EQ(lecun.kind, Kind::kTruncatedNormal);
  EXPECT_NEAR(lecun.b, std::sqrt(1.0 / 18) / 0.87962566103423978, 1e-15);
  EXPECT_NEAR(InitializerFn("lecun_uniform")({100, 5}).b, std::sqrt(0.03), 1e-15);
  using initializers::Distribution;
  using initializers::FanMode;
  const Initializer out = initializers::VarianceScaling(
      {.scale = 3, .mode = FanMode::kFanOut, .distribution = Distribution::kUntruncatedNormal})({10, 12});
  EXPECT_EQ(out.kind, Kind::kNormal);
  EXPECT_NEAR(out.b, 0.5, 1e-15);
}

// The value that a variable "w" of a shape starts from.
Values FirstValue(const InitializerFn& initializer, const Shape& shape, const char* name = "w", uint64_t seed = 7,
                  DType dtype = DType::kFloat64) {
  absl::StatusOr<HostTensor> value = initializer.first_value()(name, dtype, shape, seed);
  if (!value.ok()) {
    ADD_FAILURE() << value.status();
    return {};
  }
  EXPECT_EQ(value->shape(), shape);
  EXPECT_EQ(value->dtype(), dtype);
  if (dtype == DType::kFloat32) return Values(value->values<float>().begin(), value->values<float>().end());
  return Values(value->values<double>().begin(), value->values<double>().end());
}

TEST(NamedInitializers, OrthogonalHasOrthonormalRowsOrColumns) {
  for (const Shape& shape : {Shape{7, 4}, Shape{4, 7}, Shape{3, 2, 5}, Shape{6, 6}, Shape{1, 3}}) {
    const Values q = FirstValue(initializers::Orthogonal(2), shape);
    const int64_t columns = shape.back(), rows = NumElements(shape) / columns;
    ASSERT_EQ(q.size(), static_cast<size_t>(rows * columns));
    const bool tall = rows >= columns;
    const int64_t count = tall ? columns : rows, size = tall ? rows : columns;
    auto at = [&](int64_t vector, int64_t i) { return tall ? q[i * columns + vector] : q[vector * columns + i]; };
    for (int64_t a = 0; a < count; ++a) {
      for (int64_t b = 0; b < count; ++b) {
        double product = 0;
        for (int64_t i = 0; i < size; ++i) product += at(a, i) * at(b, i);
        EXPECT_NEAR(product, a == b ? 4 : 0, 1e-12) << ShapeString(shape);
      }
    }
  }
}

TEST(NamedInitializers, OrthogonalDependsOnNameAndSeedAlone) {
  const InitializerFn orthogonal = "orthogonal";
  const Values w = FirstValue(orthogonal, {5, 5});
  EXPECT_EQ(w, FirstValue(orthogonal, {5, 5}));
  EXPECT_NE(w, FirstValue(orthogonal, {5, 5}, "v"));
  EXPECT_NE(w, FirstValue(orthogonal, {5, 5}, "w", 8));
  const Values rounded = FirstValue(orthogonal, {5, 5}, "w", 7, DType::kFloat32);
  for (size_t i = 0; i < w.size(); ++i) EXPECT_EQ(rounded[i], static_cast<float>(w[i]));
  EXPECT_FALSE(orthogonal.first_value()("w", DType::kInt32, {5, 5}, 7).ok());
}

TEST(NamedInitializers, IdentityHasItsGainOnTheDiagonal) {
  EXPECT_EQ(FirstValue(initializers::Identity(3), {2, 3}), (Values{3, 0, 0, 0, 3, 0}));
  EXPECT_EQ(FirstValue("identity", {3, 2}), (Values{1, 0, 0, 1, 0, 0}));
  EXPECT_EQ(initializers::GlorotUniform().first_value(), nullptr);
}

TEST(NamedInitializers, LayersHandTheFirstValueOn) {
  GraphBuilder graph;
  Tensor x = graph.Input("x", DType::kFloat32, {kBatch, 2});
  graph.Output("y", layers::Dense(x, {.units = 2, .kernel_initializer = "identity"}));
  Fetched got = RunStep(graph, {.batch = 1, .inputs = {{"x", Floats({1, 2}, {3, 4})}}});
  EXPECT_EQ(got.outputs["y"], (Values{3, 4}));
}

TEST(NamedInitializers, ErrorsNameTheOptionAndTheLine) {
  const std::vector<std::pair<layers::DenseOptions, const char*>> cases = {
      {{.units = 2, .kernel_initializer = "he_norml"},
       "`kernel_initializer`: there is no initializer \"he_norml\"; did you mean \"he_normal\"? The names are zeros, "},
      {{.units = 2, .bias_initializer = "orthogonal"},
       "`bias_initializer`: Orthogonal is for variables of at least 2 dimensions, not of shape [2]"},
      {{.units = 2, .bias_initializer = "identity"},
       "`bias_initializer`: Identity is for variables of 2 dimensions, not of shape [2]"},
      {{.units = 2, .kernel_initializer = nullptr}, "`kernel_initializer` is empty"}};
  for (const auto& [options, text] : cases) {
    GraphBuilder graph;
    Tensor x = graph.Input("x", DType::kFloat32, {kBatch, 2});
    EXPECT_FALSE(layers::Dense(x, options).ok());
    EXPECT_EQ(ErrorMismatch(graph, text, kPartsFile), "");
  }
  // What a variable is declared with by hand has no name to show, but is no number either.
  EXPECT_TRUE(std::isnan(InitializerFn("he_norml")({2}).a));
}

TEST(PartsFromConfig, GiveWhatWasWritten) {
  const std::vector<InitializerFn> all = {
      initializers::Constant(3), initializers::RandomUniform(-1, 2), initializers::TruncatedNormal(1, 0.5),
      initializers::VarianceScaling({.scale = 3,
                                     .mode = initializers::FanMode::kFanOut,
                                     .distribution = initializers::Distribution::kUntruncatedNormal}),
      initializers::Orthogonal(0.5)};
  for (const InitializerFn& initializer : all) {
    absl::StatusOr<InitializerFn> read = InitializerFromConfig(initializer.config());
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->config().values, initializer.config().values) << initializer.config().class_name;
    const Initializer before = initializer({4, 6}), after = (*read)({4, 6});
    EXPECT_EQ(after.kind, before.kind);
    EXPECT_EQ(after.a, before.a);
    EXPECT_EQ(after.b, before.b);
  }
  // What Keras 2.0 writes of GlorotUniform, a whole number, and a key that is not known.
  absl::StatusOr<InitializerFn> old = InitializerFromConfig(
      {"VarianceScaling",
       {{"scale", int64_t{1}}, {"mode", "fan_avg"}, {"distribution", "uniform"}, {"seed", int64_t{5}}, {"new", true}}});
  ASSERT_TRUE(old.ok()) << old.status();
  EXPECT_EQ((*old)({4, 6}).b, initializers::GlorotUniform()({4, 6}).b);
}

TEST(PartsFromConfig, RefuseWhatTheyCannotRead) {
  auto error = [](const PartConfig& config) { return std::string(InitializerFromConfig(config).status().message()); };
  EXPECT_THAT(error({"GlorotUnifrom", {}}), StartsWith("there is no initializer \"GlorotUnifrom\""));
  EXPECT_EQ(error({"Constant", {{"value", "one"}}}),
            "the initializer Constant: \"value\" must be a finite number, got \"one\"");
  EXPECT_EQ(error({"RandomNormal", {{"stddev", std::nan("")}}}),
            "the initializer RandomNormal: \"stddev\" must be a finite number, got nan");
  EXPECT_EQ(error({"VarianceScaling", {{"mode", "fan_it"}}}),
            "the initializer VarianceScaling: \"mode\" must be fan_in, fan_out or fan_avg, got \"fan_it\"");
  EXPECT_EQ(error({"VarianceScaling", {{"mode", true}}}),
            "the initializer VarianceScaling: \"mode\" must be a text, got true");
  EXPECT_EQ(error({"VarianceScaling", {{"scale", 0.0}}}),
            "the initializer VarianceScaling: \"scale\" must be positive, got 0");
}

TEST(NamedRegularizers, HaveKerasNamesAndConfigs) {
  EXPECT_EQ(ConfigText(Regularizer("l2").config()), "L2 l2=0.01");
  EXPECT_EQ(ConfigText(Regularizer("l1").config()), "L1 l1=0.01");
  EXPECT_EQ(ConfigText(Regularizer("l1_l2").config()), "L1L2 l1=0.01 l2=0.01");
  EXPECT_EQ(ConfigText(L1L2(0.5, 0.25).config()), "L1L2 l1=0.5 l2=0.25");
  EXPECT_FALSE(Regularizer().config().named());
  EXPECT_TRUE(Regularizer("L1L2").empty());
  for (const Regularizer& regularizer : {L1(0.5), L2(0.25), L1L2(0.5, 0.25)}) {
    absl::StatusOr<Regularizer> read = RegularizerFromConfig(regularizer.config());
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->l1, regularizer.l1);
    EXPECT_EQ(read->l2, regularizer.l2);
  }
  EXPECT_EQ(RegularizerFromConfig({"L2", {}})->l2, 0.01);
}

TEST(NamedRegularizers, Errors) {
  GraphBuilder graph;
  Tensor x = graph.Input("x", DType::kFloat32, {kBatch, 2});
  layers::Dense(x, {.units = 2, .kernel_regularizer = "l3"});
  EXPECT_EQ(ErrorMismatch(graph, "there is no regularizer \"l3\"", kPartsFile), "");
  EXPECT_FALSE(RegularizerFromConfig({"OrthogonalRegularizer", {}}).ok());
  EXPECT_THAT(std::string(RegularizerFromConfig({"L2", {{"l2", -1.0}}}).status().message()),
              HasSubstr("\"l2\" must be a number >= 0, got -1"));
}

}  // namespace
}  // namespace tandem

// Layers and models of them: names, shapes, weights, summaries and configs, against what Keras 2.15 prints and writes.
#include "frontends/keras/layers.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "base/json_parse.h"
#include "base/json_string.h"
#include "frontends/keras/model_config.h"
#include "frontends/keras/network.h"
#include "frontends/keras/option_layer.h"
#include "frontends/keras/summary.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace tandem::keras {
namespace {

using layers::Activation;
using layers::BatchNormalization;
using layers::Concatenate;
using layers::Conv2D;
using layers::Dense;
using layers::Dropout;
using layers::Flatten;
using layers::MaxPooling2D;
using testing::ElementsAre;
using testing::HasSubstr;

std::string Golden(const std::string& name) {
  std::ifstream file("tests/keras/testdata/" + name);
  EXPECT_TRUE(file.good()) << name;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string Summary(const NetworkImpl& model, const SummaryOptions& options = {}) {
  absl::StatusOr<std::string> text = SummaryText(model, options);
  return text.ok() ? *text : std::string(text.status().message());
}

std::shared_ptr<NetworkImpl> Functional(const KerasTensors& inputs, const KerasTensors& outputs,
                                        const std::string& name = "") {
  auto model =
      std::make_shared<NetworkImpl>(LayerNaming{.class_name = "Functional", .name = name}, SourceLocation::Current());
  model->Connect(inputs, outputs);
  return model;
}

std::shared_ptr<NetworkImpl> Sequential(const std::vector<Layer>& layers, const std::string& name = "") {
  auto model =
      std::make_shared<NetworkImpl>(LayerNaming{.class_name = "Sequential", .name = name}, SourceLocation::Current());
  for (const Layer& layer : layers) model->Add(layer.impl(), SourceLocation::Current());
  return model;
}

class KerasLayersTest : public testing::Test {
 protected:
  void SetUp() override { ClearSession(); }
};

std::shared_ptr<NetworkImpl> S0() {
  auto inputs = Input({.shape = {28, 28, 1}});
  auto x = Conv2D({.filters = 32, .kernel_size = {3, 3}, .activation = Relu})(inputs);
  x = MaxPooling2D({.pool_size = {2, 2}, .strides = 2})(x);
  x = Conv2D({.filters = 64, .kernel_size = {3, 3}, .activation = Relu})(x);
  x = MaxPooling2D({.pool_size = {2, 2}, .strides = 2})(x);
  x = Conv2D({.filters = 64, .kernel_size = {3, 3}, .activation = Relu})(x);
  x = Flatten()(x);
  x = Dense(64, {.activation = Relu})(x);
  auto predictions = Dense(10, {.activation = "softmax"})(x);
  return Functional(inputs, predictions);
}

std::shared_ptr<NetworkImpl> S2(const Shape& shape, int a, int b, int c, int units) {
  return Sequential({Conv2D(a, {3, 3}, {.padding = "valid", .input_shape = shape}), Activation("relu"),
                     Conv2D(b, {3, 3}), Activation("relu"), BatchNormalization(), Conv2D(c, {3, 3}), Activation("relu"),
                     MaxPooling2D({.pool_size = {2, 2}}), Dropout(0.25), Flatten(), Dense(units), Activation("relu"),
                     Dropout(0.5), Dense(10), Activation("softmax")});
}

struct Pairs {
  Dense encoder{5, {.activation = "relu", .name = "encoder"}};
  Dense frozen{4, {.trainable = false, .name = "frozen"}};
  std::shared_ptr<NetworkImpl> tower =
      Sequential({Dense(4, {.activation = "tanh", .input_shape = {5}}), BatchNormalization()}, "tower");
  std::shared_ptr<NetworkImpl> model;
  Pairs() {
    auto left = Input({.shape = {6}, .name = "left"}), right = Input({.shape = {6}, .name = "right"});
    auto a = encoder(left), b = encoder(right);
    auto joined = Concatenate()({Layer(tower)(a), Layer(tower)(b), frozen(a)});
    auto total = layers::Add()({a, b});
    auto score = Dense(1, {.activation = "sigmoid", .name = "score"})(joined);
    auto kind = Dense(3, {.activation = "softmax", .name = "kind"})(total);
    model = Functional({left, right}, {score, kind}, "pairs");
  }
};

TEST_F(KerasLayersTest, SummariesAreThoseOfKeras) {
  EXPECT_EQ(Summary(*S0()), Golden("summary/s0.txt"));
  ClearSession();
  EXPECT_EQ(Summary(*S2({28, 28, 1}, 32, 256, 128, 128)), Golden("summary/s2.txt"));
  ClearSession();
  EXPECT_EQ(Summary(*S2({12, 12, 1}, 4, 8, 4, 16)), Golden("summary/s2_narrow.txt"));
  ClearSession();
  const Pairs pairs;
  EXPECT_EQ(Summary(*pairs.model), Golden("summary/pairs.txt"));
  EXPECT_EQ(Summary(*pairs.model, {.expand_nested = true}), Golden("summary/pairs_expand.txt"));
  EXPECT_EQ(Summary(*pairs.model, {.show_trainable = true}), Golden("summary/pairs_trainable.txt"));
}

// The layers that a config of layer_configs.json makes have that config again.
TEST_F(KerasLayersTest, ConfigsAreThoseOfKeras) {
  const Json all = Json::parse(Golden("layer_configs.json"));
  int known = 0;
  for (const auto& [class_name, layer] : all.items()) {
    if (!IsLayerClass(class_name)) continue;
    ++known;
    Json given = layer["config"];
    for (auto& [key, value] : given.items()) {
      double number = 0;  // NumPy's numbers went through str() in that file
      if (value.is_string() && absl::SimpleAtod(value.get<std::string>(), &number)) value = number;
    }
    const auto made = LayerFromConfig(class_name, given, SourceLocation::Current());
    ASSERT_TRUE(made.ok()) << made.status();
    const auto config = (*made)->Config();
    ASSERT_TRUE(config.ok()) << config.status();
    EXPECT_EQ((*made)->name(), given["name"]) << class_name;
    for (const auto& [key, expected] : given.items()) {
      if (key == "name" || key == "trainable" || key == "dtype" || key == "batch_input_shape") continue;
      if (class_name == "MultiHeadAttention" && absl::EndsWith(key, "_shape")) continue;  // Keras' own, of a built one
      ASSERT_TRUE(config->contains(key)) << class_name << " has no " << key;
      if (expected.is_number()) {
        EXPECT_NEAR((*config)[key].get<double>(), expected.get<double>(), 1e-6) << class_name << " " << key;
      } else {
        EXPECT_EQ((*config)[key], expected) << class_name << " " << key;
      }
    }
  }
  EXPECT_GE(known, 32);
}

TEST_F(KerasLayersTest, ModelsGoThroughTheirConfig) {
  const Pairs pairs;
  const absl::StatusOr<Json> config = ModelToConfig(*pairs.model);
  ASSERT_TRUE(config.ok()) << config.status();
  const auto again = ModelFromConfig(*config, SourceLocation::Current());
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(*ModelToConfig(**again), *config);
  // Numbers of calls are the process's, so only what does not show them is the same.
  EXPECT_EQ((*again)->cells().size(), pairs.model->cells().size());
  ClearSession();
  const auto sequential = S2({12, 12, 1}, 4, 8, 4, 16);
  const absl::StatusOr<Json> of_sequential = ModelToConfig(*sequential);
  ASSERT_TRUE(of_sequential.ok()) << of_sequential.status();
  const auto read = ModelFromConfig(*of_sequential, SourceLocation::Current());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(Summary(**read), Golden("summary/s2_narrow.txt"));
}

// As Keras 2 writes it: attention takes its inputs by name.
TEST_F(KerasLayersTest, AttentionHasItsInputsByName) {
  const KerasTensor x = Input({.shape = {3, 4}, .name = "x"});
  layers::MultiHeadAttention attention({.num_heads = 2, .key_dim = 5, .name = "attention"});
  const auto model = Functional({x}, {attention({x, x})}, "self");
  absl::StatusOr<Json> config = ModelToConfig(*model);
  ASSERT_TRUE(config.ok()) << config.status();
  Json& layer = (*config)["config"]["layers"][1];
  EXPECT_EQ(layer["inbound_nodes"], Json::parse(R"([[["x", 0, 0, {"value": ["x", 0, 0]}]]])"));
  EXPECT_EQ(layer["config"]["query_shape"], Json::parse("[null, 3, 4]"));
  EXPECT_EQ(layer["config"]["key_shape"], layer["config"]["query_shape"]);
  const auto again = ModelFromConfig(*config, SourceLocation::Current());
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ((*again)->cells().size(), 8u);
  layer["inbound_nodes"][0][0][3]["use_causal_mask"] = true;
  EXPECT_THAT(ModelFromConfig(*config, SourceLocation::Current()).status().message(),
              testing::HasSubstr("the argument \"use_causal_mask\" of a call"));
}

TEST_F(KerasLayersTest, ALayerInAGraphHasOneSetOfWeights) {
  Dense dense(3);
  layers::BatchNormalization norm;
  for (const bool training : {true, false}) {
    GraphBuilder g;
    g.SetTraining(training);
    const Tensor x = g.Input("x", DType::kFloat32, {kBatch, 3});
    g.Output("y", norm(norm(dense(dense(x)))));
    ASSERT_TRUE(g.status().ok()) << g.status();
    std::vector<std::string> names;
    for (const VariableSpec& variable : g.variables()) names.push_back(variable.name);
    EXPECT_THAT(names,
                ElementsAre("dense/kernel", "dense/bias", "batch_normalization/gamma", "batch_normalization/beta",
                            "batch_normalization/moving_mean", "batch_normalization/moving_variance"));
  }
  EXPECT_EQ(dense.weights().size(), 2u);
  EXPECT_EQ(dense.weights()[0].name(), "dense/kernel");
}

TEST_F(KerasLayersTest, ALambdaKeepsTheWeightsOfItsLayers) {
  const layers::Lambda twice(
      [](const Tensor& x) { return tandem::layers::Dense(tandem::layers::Dense(x, {.units = 4}), {.units = 2}); });
  const auto x = Input({.shape = {3}});
  EXPECT_EQ(twice(x).shape(), (Shape{kBatch, 2}));
  EXPECT_TRUE(twice(x).status().ok());
  std::vector<std::string> names;
  for (const Weight& weight : twice.weights()) names.push_back(weight.name());
  EXPECT_THAT(names,
              ElementsAre("lambda/dense/kernel", "lambda/dense/bias", "lambda/dense_1/kernel", "lambda/dense_1/bias"));
}

// Of a layer the trained ones first, of a model layer for layer: what get_weights of Keras 2.15 gives for this model.
TEST_F(KerasLayersTest, WeightsAreInTheOrderOfKeras) {
  const KerasTensor x = Input({.shape = {3}});
  layers::Dense frozen(2, {.name = "frozen"});
  frozen.set_trainable(false);
  layers::BatchNormalization last({.name = "last"});
  const auto model = Functional({x}, {layers::Dense(1, {.name = "end"})(last(frozen(x)))}, "ordered");
  std::vector<std::string> names;
  for (const auto& cell : model->ListedCells()) names.push_back(cell->FullName());
  EXPECT_THAT(names, testing::ElementsAre("frozen/kernel", "frozen/bias", "last/gamma", "last/beta", "last/moving_mean",
                                          "last/moving_variance", "end/kernel", "end/bias"));
  names.clear();
  for (const auto& cell : model->OrderedCells()) names.push_back(cell->FullName());
  EXPECT_THAT(names, testing::ElementsAre("last/gamma", "last/beta", "end/kernel", "end/bias", "frozen/kernel",
                                          "frozen/bias", "last/moving_mean", "last/moving_variance"));
}

TEST_F(KerasLayersTest, WeightsAreReadAndSet) {
  Dense dense(2, {.kernel_initializer = "ones"});
  ASSERT_TRUE(dense(Input({.shape = {3}})).status().ok());
  absl::StatusOr<HostTensors> values = dense.GetWeights();
  ASSERT_TRUE(values.ok()) << values.status();
  EXPECT_EQ((*values)[0].data<float>()[5], 1);
  const HostTensors other = {HostTensor::Zeros(DType::kFloat32, {3, 2}), HostTensor::Zeros(DType::kFloat32, {2})};
  ASSERT_TRUE(dense.SetWeights(other).ok());
  EXPECT_EQ(dense.weights()[0].Value()->data<float>()[5], 0);
  const absl::Status status = dense.SetWeights({other[1]});
  EXPECT_THAT(status.message(), HasSubstr("2 weights and gets 1"));
  EXPECT_THAT(status.message(), HasSubstr("[3,2]"));
}

TEST_F(KerasLayersTest, FirstValuesDependOnNameAndSeedAlone) {
  const auto kernel = [](uint64_t seed, const std::string& name) {
    ClearSession();
    utils::SetRandomSeed(seed);
    Dense dense(2, {.name = name});
    EXPECT_TRUE(dense(Input({.shape = {3}})).status().ok());
    return dense.weights()[0].Value()->Clone();
  };
  EXPECT_TRUE(kernel(0, "a").BitEqual(kernel(0, "a")));
  EXPECT_FALSE(kernel(0, "a").BitEqual(kernel(1, "a")));
  EXPECT_FALSE(kernel(0, "a").BitEqual(kernel(0, "b")));
  ClearSession();
  utils::SetRandomSeed(0);
  Dense first(2, {.name = "a"}), second(2, {.name = "a"});
  EXPECT_TRUE(first(Input({.shape = {3}})).status().ok() && second(Input({.shape = {3}})).status().ok());
  EXPECT_FALSE(first.weights()[0].Value()->BitEqual(*second.weights()[0].Value())) << "they would learn the same";
}

// What each mistake says.
TEST_F(KerasLayersTest, MistakesAreExplained) {
  const auto x = Input({.shape = {6}});
  const Dense encoder(5, {.name = "encoder"});
  ASSERT_TRUE(encoder(x).status().ok());
  const auto message = [](const KerasTensor& tensor) { return std::string(tensor.status().message()); };
  EXPECT_THAT(message(encoder(Input({.shape = {5}}))), HasSubstr("\"encoder\" was built for [b,6] at "));
  EXPECT_THAT(message(Dense(0)(x)), HasSubstr("`units` must be at least 1"));
  EXPECT_THAT(message(Dense(2, {.activation = "rellu"})(x)), HasSubstr("rellu"));
  EXPECT_THAT(message(Conv2D(2, 3)(x)), HasSubstr("[b, height, width, channels]"));
  EXPECT_THAT(message(Conv2D(2, 3, {.padding = "full"})(Input({.shape = {8, 8, 1}}))), HasSubstr("\"full\""));
  EXPECT_THAT(message(layers::Add()(x)), HasSubstr("takes 2 or more inputs, got 1"));
  EXPECT_THAT(message(layers::Reshape({4})(x)), HasSubstr("does not fit the 6 elements"));
  EXPECT_THAT(message(Input({.shape = {-1}})), HasSubstr("`shape`"));
  EXPECT_THAT(message(layers::Lambda([](const Tensor&) -> Tensor { throw std::runtime_error("oh"); })(x)),
              HasSubstr("oh"));
  EXPECT_THAT(message(Layer()(x)), HasSubstr("is empty"));
  EXPECT_THAT(message(Dense(2)(Dense(0)(x))), HasSubstr("`units`")) << "the first error stays";

  const auto status = [](const KerasTensors& inputs, const KerasTensors& outputs) {
    return std::string(Functional(inputs, outputs)->status().message());
  };
  const auto y = Dense(2)(x), other = Input({.shape = {2}, .name = "other"});
  EXPECT_THAT(status({x, other}, y), HasSubstr("no output depends on the input InputLayer \"other\""));
  EXPECT_THAT(status(other, y), HasSubstr("which is not among its inputs"));
  EXPECT_THAT(status(y, Dense(1)(y)), HasSubstr("inputs come from keras::Input"));
  EXPECT_THAT(status(x, Dense(2, {.name = "same"})(Dense(3, {.name = "same"})(x))), HasSubstr("two layers"));
  EXPECT_THAT(status(KerasTensors(), y), HasSubstr("no inputs"));
  EXPECT_THAT(std::string(Sequential({Dense(2)})->status().message()), HasSubstr("input_shape"));
  EXPECT_THAT(std::string(ModelFromConfig(Json::parse(R"({"class_name": "Sequential", "config": {"layers": [
                  {"class_name": "Blur", "config": {}}, {"class_name": "Zoom", "config": {}}]}})"),
                                          SourceLocation::Current())
                              .status()
                              .message()),
              HasSubstr("not known: Blur, Zoom"));
}

}  // namespace
}  // namespace tandem::keras

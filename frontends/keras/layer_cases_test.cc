// Every layer against Keras 2.15: what tests/keras/testdata/make_layer_cases.py recorded of random configurations.
#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/logging.h"
#include "estimator/checkpoint/safetensors.h"
#include "frontends/keras/layers.h"
#include "frontends/keras/option_layer.h"
#include "frontends/losses.h"
#include "frontends/testing.h"
#include "gmock/gmock.h"
#include "graph/ops.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace tandem::keras {
namespace {

using frontends::Fetched;
using frontends::Values;
using testing::HasSubstr;

constexpr char kCaseFolder[] = "tests/keras/testdata/";
constexpr int kConfigurations = 20;

const Json& RecordedCases() {
  static const Json& cases = *new Json([] {
    const absl::StatusOr<std::string> text = Env::Default()->ReadFile(std::string(kCaseFolder) + "layer_cases.json");
    EXPECT_TRUE(text.ok()) << text.status();
    return Json::parse(text.value_or("{}"));
  }());
  return cases;
}

// The numbers of a class's cases, taken from the front.
class RecordedNumbers {
 public:
  explicit RecordedNumbers(const std::string& class_name) {
    absl::StatusOr<TensorMap> all =
        ReadSafetensors(Env::Default(), std::string(kCaseFolder) + "layer_cases.safetensors");
    EXPECT_TRUE(all.ok()) << all.status();
    if (all.ok()) tensor_ = (*all)[class_name];
  }
  Values Take(int64_t count) {
    const auto numbers = tensor_.values<float>().subspan(taken_, count);
    EXPECT_EQ(static_cast<int64_t>(numbers.size()), count) << "the file ends early";
    taken_ += static_cast<int64_t>(numbers.size());
    return Values(numbers.begin(), numbers.end());
  }
  int64_t left() const { return tensor_.num_elements() - taken_; }

 private:
  HostTensor tensor_;
  int64_t taken_ = 0;
};

HostTensor TensorOf(DType dtype, const Shape& shape, const Values& values) {
  switch (dtype) {
    case DType::kFloat32:
      return HostTensor::FromVector(shape, std::vector<float>(values.begin(), values.end()));
    case DType::kInt32:
      return HostTensor::FromVector(shape, std::vector<int32_t>(values.begin(), values.end()));
    case DType::kInt64:
      return HostTensor::FromVector(shape, std::vector<int64_t>(values.begin(), values.end()));
    case DType::kUInt8:
      return HostTensor::FromVector(shape, std::vector<uint8_t>(values.begin(), values.end()));
    default:
      ADD_FAILURE() << "inputs of " << Name(dtype);
      return {};
  }
}

Shape WithBatch(Shape shape) {
  shape[0] = kBatch;
  return shape;
}

// What the gradients of a case are of: the sum of the output times these, which the script computes the same way.
Values Factors(int64_t count) {
  Values factors;
  for (int64_t i = 0; i < count; ++i) factors.push_back(static_cast<double>((37 * i + 5) % 23 - 11) / 8);
  return factors;
}

// One case of the file.
struct LayerCase {
  std::string class_name;
  Json config;
  bool training = false;
  std::vector<TensorSpec> inputs;  // with the number of rows
  std::vector<Values> input_values;
  std::vector<HostTensor> weights;  // in Keras' order
  Shape output;
};

LayerCase ReadLayerCase(const std::string& class_name, const Json& recorded, RecordedNumbers& numbers) {
  LayerCase c{.class_name = class_name, .config = RecordedCases()[class_name]["config"]};
  c.config.update(recorded["config"]);
  c.training = recorded["training"].get<bool>();
  for (const Json& input : recorded["inputs"]) {
    Shape shape;
    for (size_t i = 1; i < input.size(); ++i) shape.push_back(input[i].get<int64_t>());
    c.inputs.push_back({DTypeFromName(input[0].get<std::string>()), shape});
    c.input_values.push_back(numbers.Take(NumElements(shape)));
  }
  for (const Json& weight : recorded["weights"]) {
    const Shape shape = weight.get<Shape>();
    c.weights.push_back(TensorOf(DType::kFloat32, shape, numbers.Take(NumElements(shape))));
  }
  c.output = recorded["output"].get<Shape>();
  return c;
}

// A sequence that attends to itself is given twice, as query and value.
template <typename T>
std::vector<T> AsGiven(const LayerCase& c, std::vector<T> inputs) {
  if (c.class_name == "MultiHeadAttention") inputs.push_back(inputs[0]);
  return inputs;
}

// What a step of the layer gives.
struct LayerResult {
  std::vector<std::string> weights;  // their names in the graph, in Keras' order
  std::vector<std::string> trained;
  Fetched fetched;  // "y", "input_gradient_0", the gradients of `trained` by its names and "_gradient"
};

LayerResult RunLayer(const Layer& layer, const LayerCase& c, double seed = 0) {
  LayerResult result;
  // In a model that is put together: shapes are those of Keras, and weights get their values.
  KerasTensors inputs;
  for (const TensorSpec& input : c.inputs) {
    inputs.push_back(Input({.shape = Shape(input.shape.begin() + 1, input.shape.end()), .dtype = input.dtype}));
  }
  const KerasTensor made = layer(KerasTensors(AsGiven<KerasTensor>(c, inputs)));
  EXPECT_TRUE(made.status().ok()) << made.status();
  EXPECT_EQ(made.shape(), WithBatch(c.output));
  EXPECT_EQ(made.dtype(), DType::kFloat32);
  const absl::Status set = layer.SetWeights(c.weights);
  EXPECT_TRUE(set.ok()) << set;
  if (testing::Test::HasFailure()) return result;

  GraphBuilder g;
  g.SetTraining(c.training);
  frontends::Feed feed{.batch = c.output[0], .scalars = {{"seed", seed}}};
  std::vector<Tensor> xs, differentiated;
  std::vector<std::string> names;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const std::string name = "x" + std::to_string(i);
    xs.push_back(g.Input(name, c.inputs[i].dtype, WithBatch(c.inputs[i].shape)));
    feed.inputs[name] = TensorOf(c.inputs[i].dtype, c.inputs[i].shape, c.input_values[i]);
    if (c.inputs[i].dtype != DType::kFloat32) continue;
    differentiated.push_back(xs.back());
    names.push_back("input_gradient_" + std::to_string(i));
  }
  const Tensor y = layer(AsGiven(c, xs));
  const Tensor factor = g.Input("factor", DType::kFloat32, WithBatch(c.output));
  feed.inputs["factor"] = TensorOf(DType::kFloat32, c.output, Factors(NumElements(c.output)));
  for (const Weight& weight : layer.weights()) {
    const Tensor variable = g.VariableOf(weight.cell());
    result.weights.push_back(weight.name());
    if (!weight.trainable()) continue;
    result.trained.push_back(result.weights.back());
    differentiated.push_back(variable);
    names.push_back(result.trained.back() + "_gradient");
  }
  EXPECT_EQ(g.trainable_variables().size(), result.trained.size());
  const std::vector<Tensor> gradients =
      g.Gradients(ReduceSum(y * factor) + tandem::losses::RegularizationLoss(&g), differentiated);
  g.Output("y", y);
  EXPECT_TRUE(g.status().ok()) << g.status();
  if (testing::Test::HasFailure()) return result;
  for (size_t i = 0; i < names.size(); ++i) {
    // Without a gradient it is 0.
    g.Output(names[i], gradients[i].ok() ? gradients[i] : ZerosLike(differentiated[i]));
  }
  result.fetched = RunStep(g, feed);
  return result;
}

// Both as long, and no further apart than `tolerance` of the largest number that is expected.
void ExpectClose(const Values& values, const Values& expected, double tolerance, const std::string& what) {
  ASSERT_EQ(values.size(), expected.size()) << what;
  double largest = 0;
  for (double v : expected) largest = std::max(largest, std::abs(v));
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(values[i], expected[i], tolerance * std::max(largest, 0.1)) << what << ", element " << i;
  }
}

class EveryLayer : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { ClearSession(); }

  // Calls `check` with each case, its layer and the numbers that the case has left.
  void ForEachCase(const std::function<void(const LayerCase&, const Layer&, RecordedNumbers&)>& check) {
    const std::string& class_name = GetParam();
    ASSERT_TRUE(RecordedCases().contains(class_name)) << "add it to make_layer_cases.py";
    RecordedNumbers numbers(class_name);
    std::set<std::string> configurations;
    int cases = 0;
    for (const Json& recorded : RecordedCases()[class_name]["cases"]) {
      SCOPED_TRACE("case " + std::to_string(cases) + ": " + recorded.dump());
      const LayerCase c = ReadLayerCase(class_name, recorded, numbers);
      LogCapture log;
      const auto made = LayerFromConfig(class_name, c.config, SourceLocation::Current());
      ASSERT_TRUE(made.ok()) << made.status();
      EXPECT_FALSE(log.Contains("counts for nothing")) << log.Text();
      check(c, Layer(*made), numbers);
      if (HasFailure()) return;
      configurations.insert(recorded["config"].dump() + recorded["inputs"].dump());
      ++cases;
    }
    EXPECT_EQ(numbers.left(), 0);
    EXPECT_GE(configurations.size(), size_t{kConfigurations});
    std::cout << class_name << ": " << configurations.size() << " configurations, " << cases << " cases" << std::endl;
  }
};

TEST_P(EveryLayer, ComputesAndDifferentiatesAsKeras) {
  ForEachCase([](const LayerCase& c, const Layer& layer, RecordedNumbers& numbers) {
    const LayerResult result = RunLayer(layer, c);
    if (HasFailure()) return;
    const auto fetched = [&](const std::string& name) { return result.fetched.outputs.at(name); };
    ExpectClose(fetched("y"), numbers.Take(NumElements(c.output)), 1e-5, "output");
    for (size_t i = 0; i < c.inputs.size(); ++i) {
      if (c.inputs[i].dtype != DType::kFloat32) continue;
      ExpectClose(fetched("input_gradient_" + std::to_string(i)), numbers.Take(NumElements(c.inputs[i].shape)), 1e-4,
                  "gradient of input " + std::to_string(i));
    }
    // The trained ones come first.
    for (size_t i = 0; i < result.trained.size(); ++i) {
      ExpectClose(fetched(result.trained[i] + "_gradient"), numbers.Take(c.weights[i].num_elements()), 1e-4,
                  "gradient of " + result.trained[i]);
    }
    for (size_t i = result.trained.size(); c.training && i < result.weights.size(); ++i) {
      ExpectClose(result.fetched.variables.at(result.weights[i]), numbers.Take(c.weights[i].num_elements()), 1e-5,
                  "the new " + result.weights[i]);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(All, EveryLayer, testing::ValuesIn(LayerClassNames()),
                         [](const auto& info) { return info.param; });

TEST(EveryLayerFile, HasNoClassThatIsNotKnown) {
  for (const auto& [class_name, cases] : RecordedCases().items()) EXPECT_TRUE(IsLayerClass(class_name)) << class_name;
}

// What is dropped is random, so only what must hold of any choice is checked.
class DropLayer : public EveryLayer {};

TEST_P(DropLayer, DropsItsShareAndScalesTheRest) {
  const bool channels = GetParam() == "SpatialDropout2D";
  double kept = 0, expected = 0, variance = 0;
  int number = 0;
  ForEachCase([&](LayerCase c, const Layer& layer, RecordedNumbers& numbers) {
    numbers.Take(2 * NumElements(c.output));  // what the layer gives when it does not train
    c.training = true;
    const LayerResult result = RunLayer(layer, c, /*seed=*/++number);
    if (HasFailure()) return;
    const Values& x = c.input_values[0];
    const Values& y = result.fetched.outputs.at("y");
    const Values& gradient = result.fetched.outputs.at("input_gradient_0");
    const Values factors = Factors(static_cast<int64_t>(x.size()));
    const double rate = c.config["rate"].get<double>();
    std::map<int64_t, bool> choices;  // by channel of an example, or by element
    const int64_t last = c.output.back(), per_example = static_cast<int64_t>(x.size()) / c.output[0];
    for (int64_t i = 0; i < static_cast<int64_t>(x.size()); ++i) {
      const bool keeps = y[i] != 0;
      EXPECT_NEAR(y[i], keeps ? x[i] / (1 - rate) : 0, 1e-5 * std::abs(y[i]));
      EXPECT_NEAR(gradient[i], keeps ? factors[i] / (1 - rate) : 0, 1e-5 * std::abs(gradient[i]));
      const int64_t choice = channels ? i / per_example * last + i % last : i;
      EXPECT_EQ(choices.emplace(choice, keeps).first->second, keeps) << "element " << i;
    }
    for (const auto& [choice, keeps] : choices) {
      kept += keeps ? 1 : 0;
      expected += 1 - rate;
      variance += rate * (1 - rate);
    }
  });
  EXPECT_GT(variance, 10);
  EXPECT_NEAR(kept, expected, 4 * std::sqrt(variance));
}

INSTANTIATE_TEST_SUITE_P(All, DropLayer, testing::Values("Dropout", "SpatialDropout2D"),
                         [](const auto& info) { return info.param; });

// What Keras has and Tandem refuses: options of a class with valid others, and inputs.
struct Refusal {
  const char* class_name;
  const char* options;        // JSON; what is not in it is as in the class's first case
  std::vector<Shape> inputs;  // of one example
  const char* message;
  DType dtype = DType::kFloat32;
};

const std::vector<Refusal>& Refusals() {
  static const auto& refusals = *new std::vector<Refusal>{
      {"Dense", R"({"activity_regularizer": {"class_name": "L2", "config": {"l2": 0.1}}})", {{3}}, "activity_regul"},
      {"Dense", R"({"kernel_constraint": {"class_name": "NonNeg", "config": {}}})", {{3}}, "\"kernel_constraint\" is"},
      {"Embedding", R"({"mask_zero": true})", {{3}}, "\"mask_zero\" is true and must be false", DType::kInt32},
      {"Embedding", "{}", {{3}}, "int32 or int64"},
      {"MultiHeadAttention", R"({"attention_axes": [2]})", {{3, 4}}, "\"attention_axes\" is [2] and must be null"},
      {"MultiHeadAttention", R"({"output_shape": [7]})", {{3, 4}}, "\"output_shape\" is [7] and must be null"},
      {"MultiHeadAttention", "{}", {{3, 4}, {5, 4}}, "attends to the sequence itself only"},
      {"MultiHeadAttention", "{}", {{2, 3, 4}}, "[b, positions, features]"},
      {"Dropout", R"({"noise_shape": [1, 3]})", {{3}}, "\"noise_shape\" is [1,3] and must be null"},
      {"Conv2D", R"({"dilation_rate": [2, 2]})", {{6, 6, 2}}, "\"dilation_rate\" is [2,2] and must be [1,1]"},
      {"Conv2D", R"({"groups": 2})", {{6, 6, 2}}, "\"groups\" is 2 and must be 1"},
      {"Conv2D", R"({"data_format": "channels_first"})", {{2, 6, 6}}, "must be \"channels_last\""},
      {"Conv2D", "{}", {{2, 6, 6, 2}}, "[b, height, width, channels]"},
      {"DepthwiseConv2D", R"({"dilation_rate": [1, 2]})", {{6, 6, 2}}, "\"dilation_rate\" is [1,2]"},
      {"SeparableConv2D", R"({"dilation_rate": 2})", {{6, 6, 2}}, "\"dilation_rate\" is 2"},
      {"MaxPooling2D", R"({"data_format": "channels_first"})", {{2, 6, 6}}, "must be \"channels_last\""},
      {"UpSampling2D", R"({"interpolation": "bilinear"})", {{2, 2, 1}}, "\"interpolation\" is \"bilinear\""},
      {"BatchNormalization", R"({"axis": [1]})", {{3, 4}}, "`axis` is 1 and must be the last one, 2"},
      {"LayerNormalization", R"({"axis": [1, 2]})", {{3, 4}}, "\"axis\" is [1,2] and must be one axis"},
      {"LayerNormalization", R"({"axis": 1})", {{3, 4}}, "`axis` is 1 and must be the last one, 2"},
      {"Softmax", R"({"axis": 1})", {{3, 4}}, "`axis` is 1 and must be the last one"},
      {"Softmax", R"({"axis": [1, 2]})", {{3, 4}}, "\"axis\" is [1,2] and must be a whole number"},
      {"Concatenate", R"({"axis": 0})", {{3}, {3}}, "`axis` 0 is the batch's"},
      {"Dot", R"({"axes": [3, 3]})", {{2, 3, 4}, {2, 3, 4}}, "inputs of two or three dimensions"},
      {"Dot", R"({"axes": [0, 0]})", {{3}, {3}}, "an axis is the batch's"},
      {"Rescaling", R"({"scale": [0.5, 2]})", {{2}}, "\"scale\" is [0.5,2] and must be a number"},
  };
  return refusals;
}

TEST(RefusedLayers, SayWhatIsRefused) {
  ClearSession();
  for (const Refusal& refusal : Refusals()) {
    SCOPED_TRACE(std::string(refusal.class_name) + " " + refusal.options);
    Json config = RecordedCases()[refusal.class_name]["config"];
    config.update(Json::parse(refusal.options));
    const auto made = LayerFromConfig(refusal.class_name, config, SourceLocation::Current());
    if (!made.ok()) {
      EXPECT_THAT(std::string(made.status().message()), HasSubstr(refusal.message));
      EXPECT_THAT(std::string(made.status().message()), HasSubstr(refusal.class_name));
      continue;
    }
    KerasTensors inputs;
    for (const Shape& shape : refusal.inputs) inputs.push_back(Input({.shape = shape, .dtype = refusal.dtype}));
    const absl::Status status = Layer(*made)(inputs).status();
    EXPECT_THAT(std::string(status.message()), HasSubstr(refusal.message));
    EXPECT_THAT(std::string(status.message()), HasSubstr("layer_cases_test.cc"));
  }
}

}  // namespace
}  // namespace tandem::keras

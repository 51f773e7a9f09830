#include "frontends/layers.h"

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "frontends/clipping.h"
#include "frontends/losses.h"
#include "frontends/testing.h"
#include "graph/ops.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

using frontends::ErrorMismatch;
using frontends::Feed;
using frontends::Fetched;
using frontends::Floats;
using frontends::Pattern;
using frontends::RunStep;
using frontends::Values;

constexpr char kFile[] = "layers_test.cc";

void ExpectNear(const Values& actual, const Values& expected, double tolerance = 1e-5) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(actual[i], expected[i], tolerance) << "element " << i;
}

// A plain convolution; `same` pads as TensorFlow does.
Values ReferenceConv(const Values& x, Shape xs, const Values& k, Shape ks, int stride, bool same, Shape* out) {
  int64_t pad[2] = {0, 0}, size[2];
  for (int d = 0; d < 2; ++d) {
    size[d] = same ? (xs[d + 1] + stride - 1) / stride : (xs[d + 1] - ks[d]) / stride + 1;
    if (same) pad[d] = std::max<int64_t>(0, (size[d] - 1) * stride + ks[d] - xs[d + 1]) / 2;
  }
  *out = {xs[0], size[0], size[1], ks[3]};
  Values y;
  for (int64_t b = 0; b < xs[0]; ++b)
    for (int64_t i = 0; i < size[0]; ++i)
      for (int64_t j = 0; j < size[1]; ++j)
        for (int64_t o = 0; o < ks[3]; ++o) {
          double sum = 0;
          for (int64_t p = 0; p < ks[0]; ++p)
            for (int64_t q = 0; q < ks[1]; ++q)
              for (int64_t c = 0; c < ks[2]; ++c) {
                int64_t r = i * stride + p - pad[0], s = j * stride + q - pad[1];
                if (r < 0 || s < 0 || r >= xs[1] || s >= xs[2]) continue;
                sum += x[((b * xs[1] + r) * xs[2] + s) * xs[3] + c] * k[((p * ks[1] + q) * ks[2] + c) * ks[3] + o];
              }
          y.push_back(sum);
        }
  return y;
}

TEST(LayersTest, NamesVariablesAsTensorFlow) {
  GraphBuilder graph;
  Tensor x = graph.Input("image", DType::kFloat32, {kBatch, 8, 8, 3});
  x = layers::Conv2D(x, {.filters = 4, .kernel_size = {3, 2}, .activation = Relu});
  x = layers::BatchNormalization(x, {.training = true});
  x = layers::Conv2D(x, {.filters = 5, .kernel_size = 1, .use_bias = false});
  x = layers::Flatten(x);
  x = layers::Dense(x, {.units = 6});
  x = layers::Dense(x, {.units = 7, .name = "head"});
  x = layers::Dense(x, {.units = 2});
  ASSERT_TRUE(graph.status().ok()) << graph.status();
  EXPECT_EQ(x.shape(), (Shape{kBatch, 2}));
  std::vector<std::pair<std::string, Shape>> actual;
  std::vector<std::string> fixed;
  for (const VariableSpec& v : graph.variables()) {
    actual.emplace_back(v.name, v.shape);
    if (!v.trainable) fixed.push_back(v.name);
  }
  const std::vector<std::pair<std::string, Shape>> expected = {{"conv2d/kernel", {3, 2, 3, 4}},
                                                               {"conv2d/bias", {4}},
                                                               {"batch_normalization/gamma", {4}},
                                                               {"batch_normalization/beta", {4}},
                                                               {"batch_normalization/moving_mean", {4}},
                                                               {"batch_normalization/moving_variance", {4}},
                                                               {"conv2d_1/kernel", {1, 1, 4, 5}},
                                                               {"dense/kernel", {6 * 7 * 5, 6}},
                                                               {"dense/bias", {6}},
                                                               {"head/kernel", {6, 7}},
                                                               {"head/bias", {7}},
                                                               {"dense_1/kernel", {7, 2}},
                                                               {"dense_1/bias", {2}}};
  EXPECT_EQ(actual, expected);
  EXPECT_EQ(fixed,
            (std::vector<std::string>{"batch_normalization/moving_mean", "batch_normalization/moving_variance"}));
}

TEST(LayersTest, Conv2DComputesConvolutionBiasAndActivation) {
  for (bool same : {false, true}) {
    for (int stride : {1, 2}) {
      GraphBuilder graph;
      Tensor x = graph.Input("x", DType::kFloat32, {kBatch, 5, 6, 2});
      Tensor y = layers::Conv2D(x, {.filters = 3,
                                    .kernel_size = {3, 2},
                                    .strides = stride,
                                    .padding = same ? Padding::kSame : Padding::kValid,
                                    .activation = Relu});
      graph.Output("y", y);
      Values image = Pattern(2 * 5 * 6 * 2, 1), kernel = Pattern(3 * 2 * 2 * 3, 2), bias = {0.5, -0.25, 0.125};
      Fetched got = RunStep(graph, {.batch = 2,
                                    .inputs = {{"x", Floats({2, 5, 6, 2}, image)}},
                                    .variables = {{"conv2d/kernel", kernel}, {"conv2d/bias", bias}}});
      Shape out;
      Values expected = ReferenceConv(image, {2, 5, 6, 2}, kernel, {3, 2, 2, 3}, stride, same, &out);
      for (size_t i = 0; i < expected.size(); ++i) expected[i] = std::max(0.0, expected[i] + bias[i % 3]);
      EXPECT_EQ(y.shape(), (Shape{kBatch, out[1], out[2], 3}));
      ExpectNear(got.outputs["y"], expected);
    }
  }
}

TEST(LayersTest, Conv1DComputesConvolutionBiasAndActivation) {
  for (int64_t steps : {6, 7}) {
    for (bool same : {false, true}) {
      for (int stride : {1, 2}) {
        GraphBuilder graph;
        Tensor x = graph.Input("x", DType::kFloat32, {kBatch, steps, 2});
        Tensor y = layers::Conv1D(x, {.filters = 3,
                                      .kernel_size = 4,
                                      .strides = stride,
                                      .padding = same ? Padding::kSame : Padding::kValid,
                                      .activation = Relu});
        ASSERT_TRUE(graph.status().ok()) << graph.status();
        graph.Output("y", y);
        ASSERT_EQ(graph.variables().size(), 2u);
        EXPECT_EQ(graph.variables()[0].shape, (Shape{4, 2, 3}));
        EXPECT_EQ(graph.variables()[1].shape, (Shape{3}));
        Values in = Pattern(2 * steps * 2, 1), kernel = Pattern(4 * 2 * 3, 2), bias = {0.5, -0.25, 0.125};
        Fetched got = RunStep(graph, {.batch = 2,
                                      .inputs = {{"x", Floats({2, steps, 2}, in)}},
                                      .variables = {{"conv1d/kernel", kernel}, {"conv1d/bias", bias}}});
        Shape out;
        Values expected = ReferenceConv(in, {2, 1, steps, 2}, kernel, {1, 4, 2, 3}, stride, same, &out);
        for (size_t i = 0; i < expected.size(); ++i) expected[i] = std::max(0.0, expected[i] + bias[i % 3]);
        EXPECT_EQ(y.shape(), (Shape{kBatch, out[2], 3}));
        ExpectNear(got.outputs["y"], expected);
      }
    }
  }
}

// Each step's later neighbour less its earlier one, worked out by hand.
TEST(LayersTest, Conv1DPadsBothEnds) {
  GraphBuilder graph;
  Tensor x = graph.Input("x", DType::kFloat32, {kBatch, 5, 1});
  graph.Output("valid", layers::Conv1D(x, {.filters = 1, .kernel_size = 3}));
  graph.Output("same", layers::Conv1D(x, {.filters = 1, .kernel_size = 3, .padding = Padding::kSame}));
  graph.Output("strided", layers::Conv1D(x, {.filters = 1, .kernel_size = 3, .strides = 2, .padding = Padding::kSame}));
  const Values kernel = {-1, 0, 1};
  Fetched got = RunStep(
      graph, {.batch = 1,
              .inputs = {{"x", Floats({1, 5, 1}, {1, 2, 4, 8, 16})}},
              .variables = {{"conv1d/kernel", kernel}, {"conv1d_1/kernel", kernel}, {"conv1d_2/kernel", kernel}}});
  ExpectNear(got.outputs["valid"], {3, 6, 12});
  ExpectNear(got.outputs["same"], {2, 3, 6, 12, -8});
  ExpectNear(got.outputs["strided"], {2, 6, -8});
}

// A kernel for all channels that has zeros but where the output channel reads the input's.
Values Widened(const Values& kernel, Shape shape) {
  const int64_t taps = shape[0] * shape[1], in = shape[2], multiplier = shape[3];
  Values wide(taps * in * in * multiplier);
  for (int64_t t = 0; t < taps; ++t)
    for (int64_t c = 0; c < in; ++c)
      for (int64_t m = 0; m < multiplier; ++m)
        wide[(t * in + c) * in * multiplier + c * multiplier + m] = kernel[(t * in + c) * multiplier + m];
  return wide;
}

TEST(LayersTest, DepthwiseConv2DKeepsChannelsApart) {
  for (bool same : {false, true}) {
    for (int stride : {1, 2}) {
      for (int64_t multiplier : {1, 3}) {
        GraphBuilder graph;
        Tensor x = graph.Input("x", DType::kFloat32, {kBatch, 5, 6, 2});
        Tensor y = layers::DepthwiseConv2D(x, {.kernel_size = {3, 2},
                                               .strides = stride,
                                               .padding = same ? Padding::kSame : Padding::kValid,
                                               .depth_multiplier = multiplier,
                                               .activation = Relu});
        graph.Output("y", y);
        const int64_t channels = 2 * multiplier;
        Values image = Pattern(2 * 5 * 6 * 2, 1), kernel = Pattern(3 * 2 * channels, 2), bias = Pattern(channels, 3);
        Fetched got = RunStep(
            graph, {.batch = 2,
                    .inputs = {{"x", Floats({2, 5, 6, 2}, image)}},
                    .variables = {{"depthwise_conv2d/depthwise_kernel", kernel}, {"depthwise_conv2d/bias", bias}}});
        Shape out;
        Values expected = ReferenceConv(image, {2, 5, 6, 2}, Widened(kernel, {3, 2, 2, multiplier}),
                                        {3, 2, 2, channels}, stride, same, &out);
        for (size_t i = 0; i < expected.size(); ++i) expected[i] = std::max(0.0, expected[i] + bias[i % channels]);
        EXPECT_EQ(y.shape(), (Shape{kBatch, out[1], out[2], channels}));
        ExpectNear(got.outputs["y"], expected);
      }
    }
  }
}

TEST(LayersTest, SeparableConv2DMixesChannelsBehind) {
  GraphBuilder graph;
  Tensor x = graph.Input("x", DType::kFloat32, {kBatch, 5, 6, 2});
  Tensor y = layers::SeparableConv2D(x, {.filters = 3, .kernel_size = 3, .strides = 2, .depth_multiplier = 2});
  graph.Output("y", y);
  Values image = Pattern(2 * 5 * 6 * 2, 1), depthwise = Pattern(9 * 4, 2), pointwise = Pattern(4 * 3, 3);
  Values bias = {0.5, -0.25, 0.125};
  Fetched got = RunStep(graph, {.batch = 2,
                                .inputs = {{"x", Floats({2, 5, 6, 2}, image)}},
                                .variables = {{"separable_conv2d/depthwise_kernel", depthwise},
                                              {"separable_conv2d/pointwise_kernel", pointwise},
                                              {"separable_conv2d/bias", bias}}});
  Shape middle, out;
  Values channels =
      ReferenceConv(image, {2, 5, 6, 2}, Widened(depthwise, {3, 3, 2, 2}), {3, 3, 2, 4}, 2, false, &middle);
  Values expected = ReferenceConv(channels, middle, pointwise, {1, 1, 4, 3}, 1, false, &out);
  for (size_t i = 0; i < expected.size(); ++i) expected[i] += bias[i % 3];
  EXPECT_EQ(y.shape(), (Shape{kBatch, 2, 2, 3}));
  ExpectNear(got.outputs["y"], expected);
}

TEST(LayersTest, DenseAndFlatten) {
  GraphBuilder graph;
  Tensor x = graph.Input("x", DType::kFloat32, {kBatch, 2, 3});
  Tensor flat = layers::Flatten(x);
  EXPECT_EQ(flat.shape(), (Shape{kBatch, 6}));
  graph.Output("y", layers::Dense(flat, {.units = 4, .activation = Tanh}));
  Values in = Pattern(12, 1), kernel = Pattern(24, 2), bias = Pattern(4, 3);
  Fetched got = RunStep(graph, {.batch = 2,
                                .inputs = {{"x", Floats({2, 2, 3}, in)}},
                                .variables = {{"dense/kernel", kernel}, {"dense/bias", bias}}});
  Values expected;
  for (int b = 0; b < 2; ++b)
    for (int j = 0; j < 4; ++j) {
      double sum = bias[j];
      for (int i = 0; i < 6; ++i) sum += in[b * 6 + i] * kernel[i * 4 + j];
      expected.push_back(std::tanh(sum));
    }
  ExpectNear(got.outputs["y"], expected);
}

TEST(LayersTest, Pooling) {
  GraphBuilder graph;
  Tensor x = graph.Input("x", DType::kFloat32, {kBatch, 5, 4, 1});
  graph.Output("max", layers::MaxPooling2D(x));
  graph.Output("average", layers::AveragePooling2D(x));
  graph.Output("overlap", layers::MaxPooling2D(x, {.pool_size = {3, 2}, .strides = {1, 2}}));
  graph.Output("same", layers::AveragePooling2D(x, {.padding = Padding::kSame}));
  Values in(20);
  for (int i = 0; i < 20; ++i) in[i] = (i * 7) % 20;  // rows: 0 7 14 1 | 8 15 2 9 | 16 3 10 17 | 4 11 18 5 | 12 19 6 13
  Fetched got = RunStep(graph, {.batch = 1, .inputs = {{"x", Floats({1, 5, 4, 1}, in)}}});
  ExpectNear(got.outputs["max"], {15, 14, 16, 18});
  ExpectNear(got.outputs["average"], {7.5, 6.5, 8.5, 12.5});
  ExpectNear(got.outputs["overlap"], {16, 17, 16, 18, 19, 18});
  // The last row of windows covers one row of the input: what is padded does not count.
  ExpectNear(got.outputs["same"], {7.5, 6.5, 8.5, 12.5, 15.5, 9.5});
}

TEST(LayersTest, DropoutScalesWhatItKeeps) {
  GraphBuilder graph;
  Tensor x = graph.Input("x", DType::kFloat32, {kBatch, 100});
  graph.Output("train", layers::Dropout(x, {.rate = 0.2, .training = true}));
  Tensor eval = layers::Dropout(x, {.rate = 0.2, .training = false});
  EXPECT_TRUE(eval == x);
  EXPECT_TRUE(layers::Dropout(x, {.rate = 0, .training = true}) == x);
  Values in(2000);
  for (size_t i = 0; i < in.size(); ++i) in[i] = 1 + static_cast<double>(i % 3);
  Fetched got = RunStep(graph, {.batch = 20, .inputs = {{"x", Floats({20, 100}, in)}}, .scalars = {{"seed", 7}}});
  const Values& y = got.outputs["train"];
  ASSERT_EQ(y.size(), in.size());
  int dropped = 0;
  for (size_t i = 0; i < in.size(); ++i) {
    if (y[i] == 0)
      ++dropped;
    else
      EXPECT_NEAR(y[i], in[i] * 1.25, 1e-5);
  }
  // 400 expected with a standard deviation of 18.
  EXPECT_GT(dropped, 310);
  EXPECT_LT(dropped, 490);
}

// Mean and biased variance per channel of [rows, channels].
void ColumnMoments(const Values& x, int channels, Values* mean, Values* variance) {
  int64_t rows = x.size() / channels;
  mean->assign(channels, 0);
  variance->assign(channels, 0);
  for (size_t i = 0; i < x.size(); ++i) (*mean)[i % channels] += x[i] / rows;
  for (size_t i = 0; i < x.size(); ++i) (*variance)[i % channels] += std::pow(x[i] - (*mean)[i % channels], 2) / rows;
}

TEST(LayersTest, BatchNormalizationTrains) {
  for (const Shape& shape : {Shape{kBatch, 3, 2, 2}, Shape{kBatch, 2, 3, 1, 2}, Shape{kBatch, 2}}) {
    GraphBuilder graph;
    Tensor x = graph.Input("x", DType::kFloat32, shape);
    graph.Output("y", layers::BatchNormalization(x, {.momentum = 0.9, .epsilon = 0.01, .training = true}));
    Shape static_shape = shape;
    static_shape[0] = 4;
    Values in = Pattern(NumElements(static_shape), 3), gamma = {1.5, 0.5}, beta = {0.25, -1};
    Feed feed{.batch = 4,
              .inputs = {{"x", Floats(static_shape, in)}},
              .variables = {{"batch_normalization/gamma", gamma},
                            {"batch_normalization/beta", beta},
                            {"batch_normalization/moving_mean", {0.5, 1}},
                            {"batch_normalization/moving_variance", {2, 3}}}};
    Fetched got = RunStep(graph, feed);
    Values mean, variance, expected;
    ColumnMoments(in, 2, &mean, &variance);
    for (size_t i = 0; i < in.size(); ++i) {
      int c = i % 2;
      expected.push_back((in[i] - mean[c]) / std::sqrt(variance[c] + 0.01) * gamma[c] + beta[c]);
    }
    ExpectNear(got.outputs["y"], expected);
    double n = static_cast<double>(in.size()) / 2;
    double bessel = shape.size() == 4 || shape.size() == 5 ? n / (n - 1) : 1;
    ExpectNear(got.variables["batch_normalization/moving_mean"], {0.45 + 0.1 * mean[0], 0.9 + 0.1 * mean[1]});
    ExpectNear(got.variables["batch_normalization/moving_variance"],
               {1.8 + 0.1 * bessel * variance[0], 2.7 + 0.1 * bessel * variance[1]});
  }
}

// Without a batch the rows are those of the tensor, however many examples the batch has.
TEST(LayersTest, BatchNormalizationOfATensorWithoutABatch) {
  const Shape shape = {3, 2, 2, 2};
  const Values in = Pattern(NumElements(shape), 3);
  GraphBuilder graph;
  Tensor x = graph.Variable({.name = "x", .shape = shape});
  graph.Output("y", layers::BatchNormalization(x, {.momentum = 0.9, .training = true}));
  graph.Output("batch", graph.Input("rows", DType::kFloat32, {kBatch}));
  ASSERT_TRUE(graph.status().ok()) << graph.status();
  Fetched got = RunStep(graph, {.batch = 5,
                                .inputs = {{"rows", Floats({5}, Pattern(5, 3))}},
                                .variables = {{"x", in}, {"batch_normalization/moving_variance", {2, 3}}}});
  Values mean, variance;
  ColumnMoments(in, 2, &mean, &variance);
  ExpectNear(got.variables["batch_normalization/moving_variance"],
             {1.8 + 0.1 * 12.0 / 11 * variance[0], 2.7 + 0.1 * 12.0 / 11 * variance[1]});
}

TEST(LayersTest, BatchNormalizationInfersFromMovingAverages) {
  GraphBuilder graph;
  Tensor x = graph.Input("x", DType::kFloat32, {kBatch, 2});
  graph.Output("y", layers::BatchNormalization(x, {.epsilon = 0.5, .training = false}));
  graph.Output("frozen", layers::BatchNormalization(x, {.scale = false, .training = true, .trainable = false}));
  EXPECT_EQ(graph.trainable_variables().size(), 2u);
  Fetched got = RunStep(graph, {.batch = 1,
                                .inputs = {{"x", Floats({1, 2}, {3, 4})}},
                                .variables = {{"batch_normalization/moving_mean", {1, 2}},
                                              {"batch_normalization/moving_variance", {0.5, 3.5}},
                                              {"batch_normalization_1/moving_variance", {0.999, 3.999}}}});
  ExpectNear(got.outputs["y"], {2, 1});
  ExpectNear(got.outputs["frozen"], {3, 2});
}

TEST(LayersTest, Activations) {
  GraphBuilder graph;
  Tensor x = graph.Input("x", DType::kFloat32, {kBatch});
  graph.Output("leaky", LeakyRelu(x, 0.1));
  graph.Output("relu6", Relu6(x));
  graph.Output("elu", Elu(x));
  graph.Output("softplus", Softplus(x));
  graph.Output("swish", Swish(x));
  Values in = {-100, -1, 0, 2, 100};
  Fetched got = RunStep(graph, {.batch = 5, .inputs = {{"x", Floats({5}, in)}}});
  ExpectNear(got.outputs["leaky"], {-10, -0.1, 0, 2, 100});
  ExpectNear(got.outputs["relu6"], {0, 0, 0, 2, 6});
  ExpectNear(got.outputs["elu"], {-1, std::expm1(-1), 0, 2, 100});
  ExpectNear(got.outputs["softplus"], {0, std::log1p(std::exp(-1)), std::log(2), std::log1p(std::exp(2)), 100});
  ExpectNear(got.outputs["swish"], {0, -1 / (1 + std::exp(1)), 0, 2 / (1 + std::exp(-2)), 100});
}

// Where two branches meet TensorFlow has a rule, and so have we.
TEST(LayersTest, SlopesAtTies) {
  GraphBuilder graph;
  Tensor x = graph.Input("x", DType::kFloat32, {kBatch}), y = graph.Input("y", DType::kFloat32, {kBatch});
  auto slopes = [&](const std::string& name, const Tensor& value) {
    std::vector<Tensor> gradients = graph.Gradients(ReduceSum(value), {x, y});
    graph.Output(name + "_x", gradients[0]);
    if (gradients[1].ok()) graph.Output(name + "_y", gradients[1]);
  };
  slopes("leaky", LeakyRelu(x, 0.25));
  slopes("steep", LeakyRelu(x, 3));
  slopes("elu", Elu(x));
  slopes("relu6", Relu6(x));
  slopes("relu", Relu(x));
  slopes("max", Maximum(x, y));
  slopes("min", Minimum(x, y));
  slopes("clip", ClipByValue(x, -6, 6));
  ASSERT_TRUE(graph.status().ok()) << graph.status();
  Fetched got =
      RunStep(graph, {.batch = 4, .inputs = {{"x", Floats({4}, {0, 6, -6, 7})}, {"y", Floats({4}, {0, 5, -5, 7})}}});
  ExpectNear(got.outputs["leaky_x"], {0.25, 1, 0.25, 1});
  ExpectNear(got.outputs["steep_x"], {3, 1, 3, 1});
  ExpectNear(got.outputs["elu_x"], {1, 1, std::exp(-6), 1});
  ExpectNear(got.outputs["relu6_x"], {0, 0, 0, 0});
  ExpectNear(got.outputs["relu_x"], {0, 1, 0, 1});
  ExpectNear(got.outputs["max_x"], {1, 1, 0, 1});
  ExpectNear(got.outputs["max_y"], {0, 0, 1, 0});
  ExpectNear(got.outputs["min_x"], {1, 0, 1, 1});
  ExpectNear(got.outputs["min_y"], {0, 1, 0, 0});
  ExpectNear(got.outputs["clip_x"], {1, 1, 1, 0});
}

TEST(LayersTest, ActivationsOfInfinitiesAreNoNaN) {
  GraphBuilder graph;
  Tensor x = graph.Input("x", DType::kFloat32, {kBatch});
  graph.Output("leaky", LeakyRelu(x, 0.5));
  graph.Output("elu", Elu(x));
  const double inf = std::numeric_limits<double>::infinity();
  Fetched got = RunStep(graph, {.batch = 2, .inputs = {{"x", Floats({2}, {inf, -inf})}}});
  EXPECT_EQ(got.outputs["leaky"], (Values{inf, -inf}));
  EXPECT_EQ(got.outputs["elu"], (Values{inf, -1}));
}

TEST(LayersTest, ANullActivationIsAnError) {
  using Function = Tensor (*)(const Tensor&, SourceLocation);
  for (const Activation& null : {Activation(Function(nullptr)), Activation(std::function<Tensor(const Tensor&)>())}) {
    GraphBuilder graph;
    Tensor x = graph.Input("x", DType::kFloat32, {kBatch, 2});
    EXPECT_FALSE(layers::Dense(x, {.units = 1, .activation = null}).ok());
    EXPECT_EQ(ErrorMismatch(graph, "the function is null", kFile), "");
  }
}

TEST(LayersTest, ActivationTakesAnyFunction) {
  GraphBuilder graph;
  Tensor x = graph.Input("x", DType::kFloat32, {kBatch, 2});
  auto twice = [](const Tensor& t) { return Mul(t, 2.0); };
  graph.Output("lambda", layers::Dense(x, {.units = 1, .activation = twice}));
  graph.Output("softmax", layers::Dense(x, {.units = 1, .activation = Softmax}));
  Fetched got =
      RunStep(graph, {.batch = 1, .inputs = {{"x", Floats({1, 2}, {3, 4})}}, .variables = {{"dense/kernel", {1, 10}}}});
  ExpectNear(got.outputs["lambda"], {86});
  ExpectNear(got.outputs["softmax"], {1});
}

TEST(LayersTest, RegularizersAddUpOnce) {
  GraphBuilder graph;
  Tensor x = graph.Input("x", DType::kFloat32, {kBatch, 2});
  layers::Dense(x, {.units = 1, .kernel_regularizer = L2(0.5)});
  layers::Dense(x, {.units = 1, .kernel_regularizer = L1L2(2, 1), .bias_regularizer = L1(1)});
  graph.Output("loss", losses::RegularizationLoss(&graph));
  GraphBuilder plain;
  plain.Output("loss", losses::RegularizationLoss(&plain));
  Fetched got =
      RunStep(graph, {.batch = 3,
                      .inputs = {{"x", Floats({3, 2}, Values(6))}},
                      .variables = {{"dense/kernel", {3, -4}}, {"dense_1/kernel", {1, -2}}, {"dense_1/bias", {-7}}}});
  ExpectNear(got.outputs["loss"], {12.5 + 6 + 5 + 7});
  ExpectNear(RunStep(plain, {.batch = 3}).outputs["loss"], {0});
}

TEST(LayersTest, ErrorsSayWhatAndWhere) {
  struct Case {
    void (*build)(const Tensor& image, const Tensor& row, const Tensor& bytes);
    const char* text;
  };
  const Case cases[] = {
      {[](const Tensor&, const Tensor& r, const Tensor&) { layers::Dense(r, {}); },
       "`units` must be at least 1, got 0"},
      {[](const Tensor&, const Tensor& r, const Tensor&) { layers::Conv2D(r, {.filters = 1, .kernel_size = 1}); },
       "shape [b, height, width, channels], got [b,4]"},
      {[](const Tensor& i, const Tensor&, const Tensor&) { layers::Conv2D(i, {.filters = 1}); }, "`kernel_size`"},
      {[](const Tensor& i, const Tensor&, const Tensor&) { layers::Conv2D(i, {.kernel_size = 1}); }, "`filters`"},
      {[](const Tensor& i, const Tensor&, const Tensor&) { layers::Conv2D(i, {.filters = 1, .kernel_size = 9}); },
       "a window of 9x9 does not fit into the input [b,6,6,1]"},
      {[](const Tensor& i, const Tensor&, const Tensor&) { layers::Conv1D(i, {.filters = 1, .kernel_size = 1}); },
       "shape [b, steps, channels], got [b,6,6,1]; images are for layers::Conv2D"},
      {[](const Tensor&, const Tensor& r, const Tensor&) { layers::Conv1D(r, {.filters = 1, .kernel_size = 1}); },
       "shape [b, steps, channels], got [b,4]; make steps of one channel with ExpandDims(x, 2)"},
      {[](const Tensor& i, const Tensor&, const Tensor&) { layers::Conv1D(Squeeze(i, {3}), {.kernel_size = 1}); },
       "`filters` must be at least 1, got 0"},
      {[](const Tensor& i, const Tensor&, const Tensor&) { layers::Conv1D(Squeeze(i, {3}), {.filters = 1}); },
       "`kernel_size` must be at least 1, got 0"},
      {[](const Tensor& i, const Tensor&, const Tensor&) {
         layers::Conv1D(Squeeze(i, {3}), {.filters = 1, .kernel_size = 1, .strides = -1});
       },
       "`strides` must be at least 1, got -1"},
      {[](const Tensor& i, const Tensor&, const Tensor&) {
         layers::Conv1D(Squeeze(i, {3}), {.filters = 1, .kernel_size = 7});
       },
       "a window of 7 steps does not fit into the input [b,6,6]"},
      {[](const Tensor& i, const Tensor&, const Tensor&) {
         layers::DepthwiseConv2D(i, {.kernel_size = 3, .depth_multiplier = 0});
       },
       "`depth_multiplier` must be at least 1, got 0"},
      {[](const Tensor& i, const Tensor&, const Tensor&) { layers::SeparableConv2D(i, {.kernel_size = 3}); },
       "`filters` must be at least 1, got 0"},
      {[](const Tensor& i, const Tensor&, const Tensor&) {
         DepthwiseConv2DOp(i, i.graph()->Constant(HostTensor(DType::kFloat32, {3, 3, 2, 1})), {});
       },
       "kernel [3,3,2,1] [height, width, channels, multiplier] does not fit the input [b,6,6,1]"},
      {[](const Tensor& i, const Tensor&, const Tensor&) { layers::MaxPooling2D(i, {.pool_size = -2}); },
       "`pool_size`"},
      {[](const Tensor& i, const Tensor&, const Tensor&) { layers::MaxPooling2D(i, {.pool_size = 2, .strides = -1}); },
       "`strides`"},
      {[](const Tensor&, const Tensor&, const Tensor& b) { layers::Dense(b, {.units = 1}); },
       "got uint8 [b,4]; convert it with Cast"},
      {[](const Tensor&, const Tensor& r, const Tensor&) { layers::Dropout(r, {.rate = 1, .training = true}); },
       "`rate` must be in [0, 1), got 1"},
      {[](const Tensor&, const Tensor& r, const Tensor&) { layers::Dropout(r, {.rate = 0.5}); },
       "`training` is not set"},
      {[](const Tensor&, const Tensor& r, const Tensor&) { layers::BatchNormalization(r, {}); },
       "`training` is not set"},
      {[](const Tensor&, const Tensor& r, const Tensor&) {
         layers::BatchNormalization(r, {.momentum = 2, .training = true});
       },
       "`momentum`"},
      {[](const Tensor&, const Tensor& r, const Tensor&) {
         layers::BatchNormalization(r, {.epsilon = 0, .training = true});
       },
       "`epsilon`"},
      {[](const Tensor&, const Tensor& r, const Tensor&) {
         layers::Dense(r, {.units = 1, .name = "a"});
         layers::Dense(r, {.units = 1, .name = "a"});
       },
       "a layer named \"a\" already"},
      {[](const Tensor&, const Tensor& r, const Tensor&) {
         layers::Dense(r, {.units = 1, .kernel_initializer = initializers::RandomUniform(1, 0)});
       },
       "minval <= maxval"},
      {[](const Tensor&, const Tensor& r, const Tensor&) {
         layers::Dense(r, {.units = 1, .kernel_initializer = initializers::TruncatedNormal(0, -1)});
       },
       "standard deviation"},
      {[](const Tensor&, const Tensor& r, const Tensor&) {
         layers::Dense(r, {.units = 1, .kernel_regularizer = L2(-1)});
       },
       "must be a number >= 0, got -1"},
  };
  for (const Case& c : cases) {
    GraphBuilder graph;
    Tensor image = graph.Input("image", DType::kFloat32, {kBatch, 6, 6, 1});
    Tensor row = graph.Input("row", DType::kFloat32, {kBatch, 4});
    Tensor bytes = graph.Input("bytes", DType::kUInt8, {kBatch, 4});
    c.build(image, row, bytes);
    EXPECT_EQ(ErrorMismatch(graph, c.text, kFile), "");
  }
}

TEST(LayersTest, PoisonPassesThroughAndTheFirstErrorStays) {
  GraphBuilder graph;
  Tensor x = graph.Input("x", DType::kFloat32, {kBatch, 4});
  Tensor y = layers::Dense(x, {.units = -3});
  EXPECT_FALSE(y.ok());
  y = layers::Dropout(layers::Dense(y, {.units = 0}), {.rate = 7});
  EXPECT_FALSE(y.ok());
  EXPECT_FALSE(layers::Flatten(Tensor()).ok());
  EXPECT_EQ(ErrorMismatch(graph, "`units` must be at least 1, got -3", kFile), "");
}

TEST(InitializersTest, FansAndLimits) {
  using Kind = Initializer::Kind;
  initializers::Fans fans = initializers::ComputeFans({3, 3, 32, 64});
  EXPECT_EQ(fans.in, 288);
  EXPECT_EQ(fans.out, 576);
  EXPECT_EQ(initializers::ComputeFans({7}).out, 7);
  EXPECT_EQ(initializers::ComputeFans({}).in, 1);
  Initializer glorot = initializers::GlorotUniform()({576, 64});
  EXPECT_EQ(glorot.kind, Kind::kUniform);
  EXPECT_NEAR(glorot.b, std::sqrt(6.0 / 640), 1e-15);
  EXPECT_EQ(glorot.a, -glorot.b);
  EXPECT_NEAR(initializers::HeUniform()({100, 5}).b, std::sqrt(0.06), 1e-15);
  Initializer he = initializers::HeNormal()({3, 3, 2, 8});
  EXPECT_EQ(he.kind, Kind::kTruncatedNormal);
  EXPECT_NEAR(he.b, std::sqrt(2.0 / 18) / 0.87962566103423978, 1e-15);
  EXPECT_NEAR(initializers::GlorotNormal()({10, 30}).b, std::sqrt(1.0 / 20) / 0.87962566103423978, 1e-15);
  EXPECT_EQ(initializers::TruncatedNormal(1, 2)({4}).b, 2);
  EXPECT_EQ(initializers::Ones()({4}).a, 1);
  EXPECT_EQ(initializers::Zeros()({4}).kind, Kind::kZeros);
}

}  // namespace
}  // namespace tandem

#include "frontends/activations.h"
#include "frontends/layers.h"
#include "frontends/losses.h"
#include "graph/ops.h"
#include "tests/oracle/cover.h"
#include "tests/oracle/models.h"
#include "tests/oracle/reference_losses.h"

namespace tandem::oracle {
namespace {

using ref::Array;
using ref::Forward;
using ref::Real;

Tensor Vector(GraphBuilder& g) { return g.Input("x", DType::kFloat32, {kBatch, 5}); }

// An image with a convolution in front, so that the layer behind it has to give its input's gradient.
Tensor Image(GraphBuilder& g) {
  Tensor x = g.Input("image", DType::kFloat32, {kBatch, 6, 5, 2});
  return TD_COVER(layers::Conv2D, x, {.filters = 3, .kernel_size = 2, .padding = Padding::kValid, .name = "first"});
}
Array Image(const Forward& f) { return ref::Conv2D(f, f.Input("image"), "first"); }  // [b, 5, 4, 3]

// Layers of images: how Tandem computes one and how the reference does.
Model OfImage(std::string name, std::function<Tensor(const Tensor&)> layer,
              std::function<Array(const Forward&, const Array&)> reference) {
  return {std::move(name), [layer](GraphBuilder& g) { return Head(g, layer(Image(g))); },
          [reference](Forward& f) { return Head(f, reference(f, Image(f))); }};
}

// The same of steps in time.
Model OfSteps(std::string name, std::function<Tensor(const Tensor&)> layer,
              std::function<Array(const Forward&, const Array&)> reference) {
  return {std::move(name),
          [layer](GraphBuilder& g) {
            Tensor x = g.Input("series", DType::kFloat32, {kBatch, 8, 2});
            return Head(g, layer(TD_COVER(layers::Conv1D, x, {.filters = 3, .kernel_size = 2, .name = "first"})));
          },
          [reference](Forward& f) {
            return Head(f, reference(f, ref::Conv1D(f, f.Input("series"), "first")));  // [b, 7, 3]
          }};
}

// An activation behind a dense layer, over numbers in which every part of its formula is used.
Model OfActivation(std::string name, std::function<Tensor(const Tensor&)> activation,
                   std::function<Array(const Array&)> reference) {
  return {
      std::move(name),
      [activation](GraphBuilder& g) { return Head(g, activation(TD_COVER(layers::Dense, Vector(g), {.units = 6}))); },
      [reference](Forward& f) { return Head(f, reference(ref::Dense(f, f.Input("x"), "dense"))); },
      {{"x", {-9, 9}}}};
}

std::function<Array(const Array&)> Each(Real (*function)(Real)) {
  return [function](const Array& x) { return ref::Map(x, function); };
}

void AddDense(std::vector<Model>& models) {
  models.push_back(
      {"dense",
       [](GraphBuilder& g) { return Head(g, TD_COVER(layers::Dense, Vector(g), {.units = 4, .activation = Tanh})); },
       [](Forward& f) { return Head(f, ref::Map(ref::Dense(f, f.Input("x"), "dense"), ref::Tanh)); }});
  models.push_back(
      {"dense_of_positions",
       [](GraphBuilder& g) {
         Tensor x = g.Input("x", DType::kFloat32, {kBatch, 3, 4});
         x = TD_COVER(layers::Dense, x, {.units = 2, .activation = Sigmoid, .use_bias = false});
         return Head(g, x);
       },
       [](Forward& f) { return Head(f, ref::Map(ref::Dense(f, f.Input("x"), "dense", false), ref::Sigmoid)); }});
  models.push_back({"dense_frozen",
                    [](GraphBuilder& g) {
                      Tensor x = TD_COVER(layers::Dense, Vector(g), {.units = 4});
                      x = TD_COVER(layers::Dense, Tanh(x), {.units = 3, .trainable = false});
                      return Head(g, x);
                    },
                    [](Forward& f) {
                      Array x = ref::Map(ref::Dense(f, f.Input("x"), "dense"), ref::Tanh);
                      return Head(f, ref::Dense(f, x, "dense_1"));
                    }});
  models.push_back(
      {"flatten_of_a_vector",
       [](GraphBuilder& g) { return Head(g, TD_COVER(layers::Flatten, g.Input("x", DType::kFloat32, {kBatch}))); },
       [](Forward& f) { return Head(f, ref::Flatten(f.Input("x"))); }});
}

// Variables of one's own for what an element has in common with others: places of an image, columns, channels. Their
// gradients are sums of the same numbers over other dimensions.
void AddVariables(std::vector<Model>& models) {
  models.push_back(OfImage(
      "variables_of_places",
      [](const Tensor& x) {
        Tensor y = x;
        for (const auto& [name, shape] :
             {std::pair<const char*, Shape>("place", {5, 4, 3}), {"column", {4, 3}}, {"channel", {3}}}) {
          y = y + x.graph()->Variable({.name = name, .shape = shape});
        }
        return Tanh(y);
      },
      [](const Forward& f, const Array& x) {
        Array y = x;
        for (const char* name : {"place", "column", "channel"}) {
          const std::vector<Real>& values = f.Variable(name).values;
          for (size_t i = 0; i < y.values.size(); ++i) y.values[i] = y.values[i] + values[i % values.size()];
        }
        return ref::Map(y, ref::Tanh);
      }));
}

void AddConvolutions(std::vector<Model>& models) {
  models.push_back(OfImage(
      "conv_valid", [](const Tensor& x) { return TD_COVER(layers::Conv2D, x, {.filters = 4, .kernel_size = 3}); },
      [](const Forward& f, const Array& x) { return ref::Conv2D(f, x, "conv2d"); }));
  models.push_back(OfImage(
      "conv_same",
      [](const Tensor& x) {
        return TD_COVER(layers::Conv2D, x,
                        {.filters = 3, .kernel_size = 3, .padding = Padding::kSame, .activation = Relu});
      },
      [](const Forward& f, const Array& x) {
        return ref::Map(ref::Conv2D(f, x, "conv2d", {.same = true}), ref::Relu);
      }));
  models.push_back(OfImage(
      "conv_strided",
      [](const Tensor& x) { return TD_COVER(layers::Conv2D, x, {.filters = 3, .kernel_size = 2, .strides = 2}); },
      [](const Forward& f, const Array& x) { return ref::Conv2D(f, x, "conv2d", {.stride_y = 2, .stride_x = 2}); }));
  models.push_back(OfImage(
      "conv_strided_same",
      [](const Tensor& x) {
        return TD_COVER(
            layers::Conv2D, x,
            {.filters = 3, .kernel_size = {2, 4}, .strides = {2, 3}, .padding = Padding::kSame, .use_bias = false});
      },
      [](const Forward& f, const Array& x) {
        return ref::Conv2D(f, x, "conv2d", {.stride_y = 2, .stride_x = 3, .same = true}, false);
      }));
  models.push_back(OfImage(
      "conv_stride_beyond_kernel",
      [](const Tensor& x) {
        return TD_COVER(layers::Conv2D, x, {.filters = 2, .kernel_size = 1, .strides = {3, 2}});
      },
      [](const Forward& f, const Array& x) { return ref::Conv2D(f, x, "conv2d", {.stride_y = 3, .stride_x = 2}); }));
  models.push_back(OfImage(
      "conv_frozen",
      [](const Tensor& x) { return TD_COVER(layers::Conv2D, x, {.filters = 2, .kernel_size = 2, .trainable = false}); },
      [](const Forward& f, const Array& x) { return ref::Conv2D(f, x, "conv2d"); }));
  // Images of one channel and kernels of few taps have kernels of their own.
  models.push_back(
      {"conv_of_one_channel",
       [](GraphBuilder& g) {
         Tensor x = g.Input("gray", DType::kFloat32, {kBatch, 7, 6, 1});
         x = TD_COVER(layers::Conv2D, x, {.filters = 8, .kernel_size = 3, .activation = Tanh});
         return Head(g, x);
       },
       [](Forward& f) { return Head(f, ref::Map(ref::Conv2D(f, f.Input("gray"), "conv2d"), ref::Tanh)); }});
}

void AddConvolutionsOverTime(std::vector<Model>& models) {
  models.push_back(OfSteps(
      "conv1d_valid",
      [](const Tensor& x) { return TD_COVER(layers::Conv1D, x, {.filters = 4, .kernel_size = 3, .activation = Relu}); },
      [](const Forward& f, const Array& x) { return ref::Map(ref::Conv1D(f, x, "conv1d"), ref::Relu); }));
  models.push_back(OfSteps(
      "conv1d_strided_same",
      [](const Tensor& x) {
        return TD_COVER(layers::Conv1D, x,
                        {.filters = 3, .kernel_size = 4, .strides = 2, .padding = Padding::kSame, .use_bias = false});
      },
      [](const Forward& f, const Array& x) {
        return ref::Conv1D(f, x, "conv1d", /*stride=*/2, /*same=*/true, /*bias=*/false);
      }));
  models.push_back(OfSteps(
      "conv1d_stride_beyond_kernel_frozen",
      [](const Tensor& x) {
        return TD_COVER(layers::Conv1D, x, {.filters = 2, .kernel_size = 2, .strides = 3, .trainable = false});
      },
      [](const Forward& f, const Array& x) { return ref::Conv1D(f, x, "conv1d", /*stride=*/3); }));
  models.push_back({"conv1d_regularized",
                    [](GraphBuilder& g) {
                      Tensor x = g.Input("series", DType::kFloat32, {kBatch, 5, 2});
                      x = TD_COVER(layers::Conv1D, x,
                                   {.filters = 2,
                                    .kernel_size = 2,
                                    .kernel_regularizer = TD_COVER(L2, 0.2),
                                    .bias_regularizer = TD_COVER(L2, 0.3)});
                      return Head(g, x) + TD_COVER(losses::RegularizationLoss, &g);
                    },
                    [](Forward& f) {
                      return Head(f, ref::Conv1D(f, f.Input("series"), "conv1d")) +
                             ref::Penalty(f.Variable("conv1d/kernel"), 0, 0.2) +
                             ref::Penalty(f.Variable("conv1d/bias"), 0, 0.3);
                    }});
}

void AddDepthwise(std::vector<Model>& models) {
  models.push_back(OfImage(
      "depthwise_same",
      [](const Tensor& x) {
        return TD_COVER(layers::DepthwiseConv2D, x, {.kernel_size = 3, .padding = Padding::kSame, .activation = Tanh});
      },
      [](const Forward& f, const Array& x) {
        return ref::Map(ref::DepthwiseConv2D(f, x, "depthwise_conv2d", {.same = true}), ref::Tanh);
      }));
  models.push_back(OfImage(
      "depthwise_strided_multiplier",
      [](const Tensor& x) {
        return TD_COVER(layers::DepthwiseConv2D, x,
                        {.kernel_size = {3, 2}, .strides = 2, .depth_multiplier = 3, .use_bias = false});
      },
      [](const Forward& f, const Array& x) {
        return ref::DepthwiseConv2D(f, x, "depthwise_conv2d", {.stride_y = 2, .stride_x = 2}, false);
      }));
  models.push_back(OfImage(
      "depthwise_stride_beyond_kernel_same",
      [](const Tensor& x) {
        return TD_COVER(layers::DepthwiseConv2D, x,
                        {.kernel_size = {1, 2}, .strides = {3, 2}, .padding = Padding::kSame});
      },
      [](const Forward& f, const Array& x) {
        return ref::DepthwiseConv2D(f, x, "depthwise_conv2d", {.stride_y = 3, .stride_x = 2, .same = true});
      }));
  models.push_back(OfImage(
      "depthwise_frozen",
      [](const Tensor& x) {
        return TD_COVER(layers::DepthwiseConv2D, x, {.kernel_size = 2, .trainable = false, .name = "fixed"});
      },
      [](const Forward& f, const Array& x) { return ref::DepthwiseConv2D(f, x, "fixed"); }));
  models.push_back(OfImage(
      "separable",
      [](const Tensor& x) {
        return TD_COVER(layers::SeparableConv2D, x,
                        {.filters = 5, .kernel_size = 2, .depth_multiplier = 2, .activation = Relu});
      },
      [](const Forward& f, const Array& x) {
        return ref::Map(ref::SeparableConv2D(f, x, "separable_conv2d"), ref::Relu);
      }));
  models.push_back(OfImage(
      "separable_strided_same",
      [](const Tensor& x) {
        return TD_COVER(
            layers::SeparableConv2D, x,
            {.filters = 3, .kernel_size = 3, .strides = {2, 1}, .padding = Padding::kSame, .use_bias = false});
      },
      [](const Forward& f, const Array& x) {
        return ref::SeparableConv2D(f, x, "separable_conv2d", {.stride_y = 2, .same = true}, false);
      }));
  models.push_back(OfImage(
      "separable_frozen",
      [](const Tensor& x) {
        return TD_COVER(layers::SeparableConv2D, x,
                        {.filters = 2, .kernel_size = 2, .trainable = false, .name = "fixed"});
      },
      [](const Forward& f, const Array& x) { return ref::SeparableConv2D(f, x, "fixed"); }));
  // Channels that fill vectors, between a 1x1 convolution and a batch norm, as in MobileNet.
  models.push_back({"depthwise_block",
                    [](GraphBuilder& g) {
                      Tensor x = g.Input("image", DType::kFloat32, {kBatch, 6, 5, 8});
                      x = TD_COVER(layers::Conv2D, x, {.filters = 16, .kernel_size = 1, .activation = Tanh});
                      x = TD_COVER(layers::DepthwiseConv2D, x, {.kernel_size = 3, .padding = Padding::kSame});
                      return Head(g, Tanh(TD_COVER(layers::Conv2D, x, {.filters = 8, .kernel_size = 1})));
                    },
                    [](Forward& f) {
                      Array x = ref::Map(ref::Conv2D(f, f.Input("image"), "conv2d"), ref::Tanh);
                      x = ref::DepthwiseConv2D(f, x, "depthwise_conv2d", {.same = true});
                      return Head(f, ref::Map(ref::Conv2D(f, x, "conv2d_1"), ref::Tanh));
                    }});
}

// Large enough for the algorithms that small layers do not get: Winograd's, but for strict_float32, and weight
// gradients that are computed block by block.
void AddLarge(std::vector<Model>& models) {
  models.push_back({.name = "conv_winograd",
                    .loss =
                        [](GraphBuilder& g) {
                          Tensor x = g.Input("image", DType::kFloat32, {kBatch, 8, 8, 16});
                          x = TD_COVER(
                              layers::Conv2D, x,
                              {.filters = 16, .kernel_size = 3, .padding = Padding::kSame, .activation = Tanh});
                          x = TD_COVER(layers::Conv2D, x, {.filters = 16, .kernel_size = 3});
                          return Head(g, x);
                        },
                    .reference =
                        [](Forward& f) {
                          Array x = ref::Conv2D(f, f.Input("image"), "conv2d", {.same = true});
                          return Head(f, ref::Conv2D(f, ref::Map(x, ref::Tanh), "conv2d_1"));
                        },
                    .rounding = 10});
  models.push_back({"dense_wide",
                    [](GraphBuilder& g) {
                      Tensor x = g.Input("x", DType::kFloat32, {kBatch, 40});
                      x = TD_COVER(layers::Dense, x, {.units = 300, .activation = Tanh});
                      return Head(g, TD_COVER(layers::Dense, x, {.units = 310}));
                    },
                    [](Forward& f) {
                      Array x = ref::Map(ref::Dense(f, f.Input("x"), "dense"), ref::Tanh);
                      return Head(f, ref::Dense(f, x, "dense_1"));
                    }});
}

void AddPools(std::vector<Model>& models) {
  auto max = [](const ref::Window& w) { return [w](const Forward&, const Array& x) { return ref::MaxPool(x, w); }; };
  auto mean = [](const ref::Window& w) {
    return [w](const Forward&, const Array& x) { return ref::AveragePool(x, w); };
  };
  models.push_back(OfImage(
      "max_pool", [](const Tensor& x) { return TD_COVER(layers::MaxPooling2D, x); },
      max({.height = 2, .width = 2, .stride_y = 2, .stride_x = 2})));
  models.push_back(OfImage(
      "max_pool_overlapping_same",
      [](const Tensor& x) {
        return TD_COVER(layers::MaxPooling2D, x, {.pool_size = 3, .strides = 2, .padding = Padding::kSame});
      },
      max({.height = 3, .width = 3, .stride_y = 2, .stride_x = 2, .same = true})));
  models.push_back(OfImage(
      "max_pool_gaps",
      [](const Tensor& x) {
        return TD_COVER(layers::MaxPooling2D, x, {.pool_size = {2, 1}, .strides = {3, 2}});
      },
      max({.height = 2, .width = 1, .stride_y = 3, .stride_x = 2})));
  models.push_back(OfImage(
      "average_pool", [](const Tensor& x) { return TD_COVER(layers::AveragePooling2D, x); },
      mean({.height = 2, .width = 2, .stride_y = 2, .stride_x = 2})));
  models.push_back(OfImage(
      "average_pool_overlapping_same",
      [](const Tensor& x) {
        return TD_COVER(layers::AveragePooling2D, x,
                        {.pool_size = {3, 2}, .strides = {2, 1}, .padding = Padding::kSame});
      },
      mean({.height = 3, .width = 2, .stride_y = 2, .stride_x = 1, .same = true})));
  models.push_back(OfImage(
      "up_sampling",
      [](const Tensor& x) {
        return TD_COVER(layers::UpSampling2D, x, {.size = {3, 2}});
      },
      [](const Forward&, const Array& x) { return ref::UpSampled(x, 3, 2); }));
}

void AddDropout(std::vector<Model>& models) {
  models.push_back({"dropout",
                    [](GraphBuilder& g) {
                      Tensor x = TD_COVER(layers::Dense, Vector(g), {.units = 9});
                      return Head(g, TD_COVER(layers::Dropout, x, {.rate = 0.3, .training = true}));
                    },
                    [](Forward& f) {
                      Array x = ref::Dense(f, f.Input("x"), "dense");
                      return Head(f, ref::Dropout(f, x, "dropout/RandomUniform", 0.3));
                    },
                    {},
                    {"dropout/RandomUniform"}});
  models.push_back({"dropout_of_images_twice",
                    [](GraphBuilder& g) {
                      Tensor x = TD_COVER(layers::Dropout, Image(g), {.rate = 0.5, .training = true});
                      x = TD_COVER(layers::Dense, TD_COVER(layers::Flatten, x), {.units = 6});
                      return Head(g, TD_COVER(layers::Dropout, x, {.rate = 0.1, .training = true}));
                    },
                    [](Forward& f) {
                      Array x = ref::Dropout(f, Image(f), "dropout/RandomUniform", 0.5);
                      x = ref::Dense(f, ref::Flatten(x), "dense");
                      return Head(f, ref::Dropout(f, x, "dropout_1/RandomUniform", 0.1));
                    },
                    {},
                    {"dropout/RandomUniform", "dropout_1/RandomUniform"}});
  models.push_back({"dropout_not_training",
                    [](GraphBuilder& g) {
                      Tensor x = TD_COVER(layers::Dense, Vector(g), {.units = 3});
                      return Head(g, TD_COVER(layers::Dropout, x, {.rate = 0.3, .training = false}));
                    },
                    [](Forward& f) { return Head(f, ref::Dense(f, f.Input("x"), "dense")); }});
}

void AddActivations(std::vector<Model>& models) {
  models.push_back(OfActivation(
      "relu_layer", [](const Tensor& x) { return TD_COVER(layers::ReLU, x); }, Each(ref::Relu)));
  models.push_back(OfActivation(
      "leaky_relu_layer", [](const Tensor& x) { return TD_COVER(layers::LeakyReLU, x, 0.2); },
      Each([](Real x) { return ref::LeakyRelu(x, 0.2); })));
  models.push_back(OfActivation(
      "leaky_relu", [](const Tensor& x) { return TD_COVER(LeakyRelu, x, 1.5); },
      Each([](Real x) { return ref::LeakyRelu(x, 1.5); })));
  models.push_back(OfActivation(
      "softmax_layer", [](const Tensor& x) { return TD_COVER(layers::Softmax, x); }, ref::Softmax));
  models.push_back(OfActivation(
      "log_softmax", [](const Tensor& x) { return LogSoftmax(x); }, ref::LogSoftmax));
  models.push_back(OfActivation(
      "relu6", [](const Tensor& x) { return TD_COVER(Relu6, x); }, Each(ref::Relu6)));
  models.push_back(OfActivation(
      "elu", [](const Tensor& x) { return TD_COVER(Elu, x); }, Each(ref::Elu)));
  models.push_back(OfActivation(
      "softplus", [](const Tensor& x) { return TD_COVER(Softplus, x); }, Each(ref::Softplus)));
  models.push_back(OfActivation(
      "swish", [](const Tensor& x) { return TD_COVER(Swish, x); }, Each(ref::Swish)));
  models.push_back(OfActivation(
      "gelu", [](const Tensor& x) { return Gelu(x); }, Each(ref::Gelu)));
  models.push_back(OfActivation(
      "selu", [](const Tensor& x) { return TD_COVER(Selu, x); }, Each(ref::Selu)));
  models.push_back(OfActivation(
      "softsign", [](const Tensor& x) { return TD_COVER(Softsign, x); }, Each(ref::Softsign)));
  models.push_back(OfActivation(
      "mish", [](const Tensor& x) { return TD_COVER(Mish, x); }, Each(ref::Mish)));
  models.push_back(OfActivation(
      "hard_sigmoid", [](const Tensor& x) { return TD_COVER(HardSigmoid, x); }, Each(ref::HardSigmoid)));
}

}  // namespace

Tensor Head(GraphBuilder& g, const Tensor& x) {
  Tensor y = TD_COVER(layers::Dense, TD_COVER(layers::Flatten, x), {.units = 2, .name = "head"});
  return TD_COVER(losses::MeanSquaredError, g.Input("target", DType::kFloat32, {kBatch, 2}), y);
}

Real Head(const Forward& f, const Array& x) {
  Array y = ref::Dense(f, ref::Flatten(x), "head");
  return ref::Reduce(ref::SquaredErrors(f.Input("target"), y), {}, ref::Mean::kOverExamples);
}

std::vector<Model> LayerModels() {
  std::vector<Model> models;
  AddDense(models);
  AddConvolutions(models);
  AddConvolutionsOverTime(models);
  AddVariables(models);
  AddDepthwise(models);
  AddLarge(models);
  AddPools(models);
  AddDropout(models);
  AddActivations(models);
  return models;
}

}  // namespace tandem::oracle

// Every layer, forward and backward, compiled and in the reference interpreter.
#include "frontends/layers.h"

#include <vector>

#include "frontends/activations.h"
#include "frontends/clipping.h"
#include "frontends/losses.h"
#include "frontends/optimizers.h"
#include "graph/ops.h"
#include "gtest/gtest.h"
#include "tests/compiled/harness.h"

namespace tandem::compiled {
namespace {

Tensor Image(GraphBuilder& g, int64_t size = 9, int64_t channels = 3) {
  return g.Input("image", DType::kFloat32, {kBatch, size, size, channels});
}

// A loss that weighs every element of `x` differently, and one step of gradient descent.
void Train(GraphBuilder& g, const Tensor& x) {
  Tensor y = layers::Dense(layers::Flatten(x), {.units = 2, .name = "head"});
  Tensor loss = ReduceMean(Square(y));
  optimizers::GradientDescent({.learning_rate = 0.5}).Minimize(loss);
  g.Output("x", x);
  g.Output("loss", loss);
}

Case Conv(const char* name, layers::Conv2DOptions options, int64_t size = 9, int64_t channels = 3) {
  return {name, [=](GraphBuilder& g) {
            // The first one feeds the second: its kernel and its input get gradients.
            Tensor x = layers::Conv2D(Image(g, size, channels), {.filters = 4, .kernel_size = 1});
            Train(g, layers::Conv2D(x, options));
          }};
}

Case MaxPool(const char* name, layers::Pooling2DOptions options) {
  return {name, [=](GraphBuilder& g) {
            Train(g, layers::MaxPooling2D(layers::Conv2D(Image(g), {.filters = 3, .kernel_size = 2}), options));
          }};
}

Case AvgPool(const char* name, layers::Pooling2DOptions options) {
  return {name, [=](GraphBuilder& g) {
            Train(g, layers::AveragePooling2D(layers::Conv2D(Image(g), {.filters = 3, .kernel_size = 2}), options));
          }};
}

Case Activate(const char* name, Activation activation) {
  return {name,
          [=](GraphBuilder& g) {
            Tensor x = g.Input("x", DType::kFloat32, {kBatch, 6});
            Train(g, layers::Dense(x, {.units = 5, .activation = activation}));
          },
          {.ranges = {{"x", {-4, 4}}}}};
}

Case BatchNorm(const char* name, layers::BatchNormalizationOptions options, bool image, Options run = {}) {
  return {name,
          [=](GraphBuilder& g) {
            Tensor x = image ? layers::Conv2D(Image(g, 5), {.filters = 4, .kernel_size = 2})
                             : layers::Dense(g.Input("x", DType::kFloat32, {kBatch, 6}), {.units = 5});
            Train(g, Relu(layers::BatchNormalization(x, options)));
          },
          run};
}

std::vector<Case> Cases() {
  return {
      Conv("ConvValid", {.filters = 5, .kernel_size = 3}),
      Conv("ConvSame", {.filters = 5, .kernel_size = 3, .padding = Padding::kSame, .activation = Relu}),
      Conv("ConvStrided", {.filters = 5, .kernel_size = 3, .strides = 2}),
      Conv("ConvStridedSameEven", {.filters = 5, .kernel_size = {2, 4}, .strides = {2, 3}, .padding = Padding::kSame}),
      Conv("ConvStrideBeyondKernel", {.filters = 3, .kernel_size = 1, .strides = 2}),
      Conv("ConvNoBias", {.filters = 16, .kernel_size = 3, .activation = Relu, .use_bias = false}),
      {"ConvOneChannel",
       [](GraphBuilder& g) {
         Train(g, layers::Conv2D(Image(g, 12, 1), {.filters = 16, .kernel_size = 3, .activation = Relu}));
       }},
      {"ConvOneChannelSameStrided",
       [](GraphBuilder& g) {
         Train(g, layers::Conv2D(Image(g, 11, 1),
                                 {.filters = 8, .kernel_size = 5, .strides = 2, .padding = Padding::kSame}));
       }},
      {"ConvTwiceOnOneInput",
       [](GraphBuilder& g) {
         Tensor x = layers::Conv2D(Image(g), {.filters = 4, .kernel_size = 1});
         Tensor a = layers::Conv2D(x, {.filters = 4, .kernel_size = 3, .padding = Padding::kSame});
         Train(g, Relu(x + a));
       }},
      MaxPool("MaxPool", {}),
      MaxPool("MaxPoolOverlapping", {.pool_size = 3, .strides = 2}),
      MaxPool("MaxPoolSame", {.pool_size = 3, .strides = 3, .padding = Padding::kSame}),
      MaxPool("MaxPoolOverlappingSame", {.pool_size = 3, .strides = 2, .padding = Padding::kSame}),
      MaxPool("MaxPoolGaps", {.pool_size = 2, .strides = 3}),
      MaxPool("MaxPoolWholeImage", {.pool_size = 8}),
      AvgPool("AveragePool", {}),
      AvgPool("AveragePoolOverlapping", {.pool_size = {3, 2}, .strides = {2, 1}}),
      AvgPool("AveragePoolSame", {.pool_size = 3, .strides = 2, .padding = Padding::kSame}),
      AvgPool("AveragePoolGaps", {.pool_size = 2, .strides = 3}),
      {"DenseChain",
       [](GraphBuilder& g) {
         Tensor x = g.Input("x", DType::kFloat32, {kBatch, 17});
         x = layers::Dense(x, {.units = 33, .activation = Relu});
         Train(g, layers::Dense(x, {.units = 1, .use_bias = false}));
       }},
      {"DenseShared",
       [](GraphBuilder& g) {
         // One kernel at three places: its gradient is a sum of three products.
         Tensor x = g.Input("x", DType::kFloat32, {kBatch, 6});
         Tensor w = g.Variable({.name = "w", .shape = {6, 6}, .initializer = {Initializer::Kind::kUniform, -0.5, 0.5}});
         Train(g, MatMul(Tanh(MatMul(Tanh(MatMul(x, w)), w)), w, false, true));
       }},
      {"FlattenVector", [](GraphBuilder& g) { Train(g, layers::Flatten(g.Input("x", DType::kFloat32, {kBatch}))); }},
      Activate("Relu", Relu),
      Activate("LeakyRelu", [](const Tensor& x) { return LeakyRelu(x, 0.2); }),
      Activate("Relu6", Relu6),
      Activate("Elu", Elu),
      Activate("Softplus", Softplus),
      Activate("Swish", Swish),
      Activate("Sigmoid", Sigmoid),
      Activate("Tanh", Tanh),
      Activate("Softmax", Softmax),
      Activate("LogSoftmax", LogSoftmax),
      BatchNorm("BatchNormReplica", {.training = true}, true),
      BatchNorm("BatchNormReplicaVector", {.momentum = 0.9, .training = true}, false),
      BatchNorm("BatchNormNoScale", {.scale = false, .training = true}, true),
      BatchNorm("BatchNormNoCenter", {.center = false, .training = true}, false),
      BatchNorm("BatchNormShort", {.training = true}, true, {.rows = {5}}),
      BatchNorm("BatchNormSync", {.training = true, .sync = true}, true),
      BatchNorm("BatchNormSyncTwoDevices", {.training = true, .sync = true}, true, {.devices = 2}),
      BatchNorm("BatchNormSyncThreeDevices", {.training = true, .sync = true}, false, {.devices = 3, .batch = 7}),
      BatchNorm("BatchNormSyncUneven", {.training = true, .sync = true}, true, {.devices = 2, .rows = {16, 3}}),
      BatchNorm("BatchNormSyncEmptyReplica", {.training = true, .sync = true}, false, {.devices = 2, .rows = {6, 0}}),
      BatchNorm("BatchNormSyncAccumulated", {.training = true, .sync = true}, true,
                {.devices = 2, .lanes = 2, .microbatch_rows = 5}),
      BatchNorm("BatchNormInference", {.training = false}, true, {.devices = 2}),
      BatchNorm("BatchNormFrozen", {.training = true, .trainable = false}, false),
      {"BatchNormTwice",
       [](GraphBuilder& g) {
         Tensor x = layers::Dense(g.Input("x", DType::kFloat32, {kBatch, 6}), {.units = 5});
         x = Relu(layers::BatchNormalization(x, {.training = true, .sync = true}));
         x = layers::Dense(x, {.units = 5});
         Train(g, layers::BatchNormalization(x, {.training = true, .sync = true}));
       },
       {.devices = 2}},
      {"Ties",
       [](GraphBuilder& g) {
         // Whole numbers meet exactly: slopes at ties are a rule, and kernels have the reference's.
         Tensor v = g.Variable({.name = "v", .shape = {6}, .initializer = {Initializer::Kind::kConstant, 0}});
         Tensor x = Cast(g.Input("x", DType::kInt32, {kBatch, 6}), DType::kFloat32) - 1.0 + v;
         Tensor y = Cast(g.Input("y", DType::kInt32, {kBatch, 6}), DType::kFloat32) - 1.0;
         Train(g,
               Concat({LeakyRelu(x, 0.25), Elu(x), Relu6(x * 3.0), Maximum(x, y), Minimum(y, x), ClipByValue(x, -1, 1)},
                      1));
       },
       {.steps = 1}},
      {"Dropout",
       [](GraphBuilder& g) {
         Tensor x = layers::Dense(g.Input("x", DType::kFloat32, {kBatch, 6}), {.units = 50, .activation = Relu});
         Train(g, layers::Dropout(x, {.rate = 0.3, .training = true}));
       },
       {.devices = 2, .steps = 3}},
      {"DropoutOfImages",
       [](GraphBuilder& g) {
         Tensor x = layers::Conv2D(Image(g), {.filters = 3, .kernel_size = 3, .activation = Relu});
         x = layers::Dropout(layers::MaxPooling2D(x), {.rate = 0.5, .training = true});
         Train(g, layers::Dropout(layers::Dense(layers::Flatten(x), {.units = 9}), {.rate = 0.1, .training = true}));
       },
       {.devices = 4, .batch = 7}},
  };
}

class Layers : public testing::TestWithParam<Case> {};
TEST_P(Layers, AgreeWithTheReference) { ASSERT_NO_FATAL_FAILURE(CompareWithReference(GetParam())); }
INSTANTIATE_TEST_SUITE_P(All, Layers, testing::ValuesIn(Cases()), [](const auto& info) { return info.param.name; });

// Each replica normalises with its own statistics; the moving averages become the mean over the replicas.
TEST(BatchNormalization, AveragesTheReplicasMovingAverages) {
  BuildFn build = [](GraphBuilder& g) {
    Tensor x = g.Input("x", DType::kFloat32, {kBatch, 6});
    g.Output("y", layers::BatchNormalization(x, {.momentum = 0.5, .training = true}));
  };
  for (std::vector<int64_t> rows : {std::vector<int64_t>{8, 8}, {8, 3}, {8, 0}}) {
    SCOPED_TRACE(rows[1]);
    Options options{.devices = 2, .batch = 8};
    absl::StatusOr<Program> program = Prepare(build, options);
    ASSERT_TRUE(program.ok()) << program.status();
    TensorMap batch = RandomInputs(*program->executable, rows[0] + rows[1], options, 1);
    TensorMap before = program->Values();
    absl::StatusOr<StepResult> got = program->Run(Deal(*program, batch, rows, 0));
    ASSERT_TRUE(got.ok()) << got.status();
    TensorMap mean;
    int64_t begin = 0, replicas = 0;
    for (int64_t n : rows) {
      if (n == 0) continue;
      TensorMap part = {{"x", Rows(batch.at("x"), begin, begin + n)}};
      TensorMap want = Evaluate(*program->graph, part, before).value();
      EXPECT_LT(MaxDifference(Rows(got->outputs[0], begin, begin + n), want.at("y")), 1e-5);
      for (const char* name : {"batch_normalization/moving_mean", "batch_normalization/moving_variance"}) {
        HostTensor& sum = mean.try_emplace(name, HostTensor::Zeros(DType::kFloat64, {6})).first->second;
        for (int i = 0; i < 6; ++i) sum.data<double>()[i] += want.at(name).data<double>()[i];
      }
      begin += n;
      ++replicas;
    }
    for (auto& [name, sum] : mean) {
      for (int i = 0; i < 6; ++i) sum.data<double>()[i] /= static_cast<double>(replicas);
      EXPECT_LT(MaxDifference(program->Values().at(name), sum), 1e-6) << name;
    }
  }
}

}  // namespace
}  // namespace tandem::compiled

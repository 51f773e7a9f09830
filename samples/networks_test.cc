#include "samples/networks.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tandem/frontends/losses.h"
#include "tandem/frontends/optimizers.h"
#include "tandem/graph/graph_builder.h"
#include "tandem/graph/logits.h"
#include "tandem/graph/ops.h"

namespace tandem {
namespace {

int64_t Parameters(const GraphBuilder& graph, bool trainable) {
  int64_t count = 0;
  for (const VariableSpec& v : graph.variables()) {
    if (v.trainable == trainable) count += NumElements(v.shape);
  }
  return count;
}

std::vector<std::string> Names(const GraphBuilder& graph) {
  std::vector<std::string> names;
  for (const VariableSpec& v : graph.variables()) names.push_back(v.name);
  return names;
}

Tensor Image(GraphBuilder& graph) { return graph.Input("image", DType::kFloat32, {kBatch, 28, 28, 1}); }

TEST(NetworksTest, Zalando) {
  GraphBuilder graph;
  Tensor y = networks::ZalandoConvnet(Image(graph));
  ASSERT_TRUE(y.ok()) << graph.status();
  EXPECT_EQ(y.shape(), (Shape{kBatch, 10}));
  EXPECT_TRUE(SoftmaxLogits(y).ok());
  EXPECT_EQ(Parameters(graph, true), 93322);
  EXPECT_EQ(Parameters(graph, false), 0);
  EXPECT_EQ(Names(graph), (std::vector<std::string>{"conv2d/kernel", "conv2d/bias", "conv2d_1/kernel", "conv2d_1/bias",
                                                    "conv2d_2/kernel", "conv2d_2/bias", "dense/kernel", "dense/bias",
                                                    "dense_1/kernel", "dense_1/bias"}));
}

TEST(NetworksTest, Mnist) {
  GraphBuilder graph;
  Tensor y = networks::MnistConvnet(Image(graph));
  ASSERT_TRUE(y.ok()) << graph.status();
  EXPECT_EQ(y.shape(), (Shape{kBatch, 10}));
  EXPECT_FALSE(SoftmaxLogits(y).ok());
  EXPECT_EQ(Parameters(graph, true), 347146);
  EXPECT_EQ(Names(graph), (std::vector<std::string>{"conv2d/kernel", "conv2d/bias", "dense/kernel", "dense/bias",
                                                    "dense_1/kernel", "dense_1/bias"}));
}

TEST(NetworksTest, MultiGpu) {
  for (bool training : {false, true}) {
    GraphBuilder graph;
    Tensor y = networks::MultiGpuConvnet(Image(graph), {.training = training});
    ASSERT_TRUE(y.ok()) << graph.status();
    EXPECT_EQ(Parameters(graph, true), 2353738);
    EXPECT_EQ(Parameters(graph, false), 512);
  }
}

TEST(NetworksTest, SmallPictureConvnet) {
  GraphBuilder graph;
  Tensor image = graph.Input("image", DType::kFloat32, {kBatch, 32, 32, 3});
  Tensor y = networks::SmallPictureConvnet(image, {.classes = 4});
  ASSERT_TRUE(y.ok()) << graph.status();
  EXPECT_EQ(y.shape(), (Shape{kBatch, 4}));
  EXPECT_EQ(Parameters(graph, true), (75 * 16 + 16) + (144 * 32 + 32) + (288 * 64 + 64) + (64 * 4 + 4));
}

TEST(NetworksTest, Vgg16) {
  for (bool train_all : {false, true}) {
    GraphBuilder graph;
    Tensor image = graph.Input("image", DType::kFloat32, {kBatch, 224, 224, 3});
    Tensor y = networks::Vgg16(image, train_all, {.classes = 4});
    ASSERT_TRUE(y.ok()) << graph.status();
    EXPECT_EQ(y.shape(), (Shape{kBatch, 4}));
    constexpr int64_t kBase = 14714688, kLastBlock = 7079424, kTop = 7 * 7 * 512 * 4 + 4;  // Keras' summary()
    EXPECT_EQ(Parameters(graph, true), train_all ? kBase + kTop : kLastBlock + kTop);
    EXPECT_EQ(Parameters(graph, false), train_all ? 0 : kBase - kLastBlock);
    EXPECT_EQ(Names(graph)[0], "block1_conv1/kernel");
    EXPECT_EQ(Names(graph).back(), "predictions/bias");
  }
}

TEST(NetworksTest, LogitsOnRequestAndPenalties) {
  GraphBuilder graph;
  Tensor y = networks::ZalandoConvnet(Image(graph), {.classes = 4, .l2 = 1e-4, .logits = true});
  ASSERT_TRUE(y.ok()) << graph.status();
  EXPECT_EQ(y.shape(), (Shape{kBatch, 4}));
  EXPECT_FALSE(SoftmaxLogits(y).ok());
  EXPECT_EQ(graph.regularization_losses().size(), 5u);
}

TEST(NetworksTest, Linear) {
  GraphBuilder graph;
  Tensor x = graph.Input("x", DType::kFloat32, {kBatch, 3});
  Tensor y = graph.Input("y", DType::kFloat32, {kBatch});
  Tensor loss = losses::MeanSquaredError(y, networks::Linear(x));
  EXPECT_TRUE(optimizers::GradientDescent({.learning_rate = 0.2}).Minimize(loss).ok()) << graph.status();
  EXPECT_EQ(Parameters(graph, true), 4);
}

}  // namespace
}  // namespace tandem

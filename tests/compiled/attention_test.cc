// What a Transformer is made of, compiled and in the reference interpreter.
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "frontends/activations.h"
#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/optimizers.h"
#include "graph/ops.h"
#include "gtest/gtest.h"
#include "tests/compiled/encoder_model.h"
#include "tests/compiled/harness.h"

namespace tandem::compiled {
namespace {

constexpr int64_t kWords = 9;

// A loss that weighs every element of `x` differently, and one step of gradient descent.
void Train(GraphBuilder& g, const Tensor& x) {
  Tensor y = layers::Dense(layers::Flatten(x), {.units = 2, .name = "head"});
  Tensor loss = ReduceMean(Square(y));
  optimizers::GradientDescent({.learning_rate = 0.5}).Minimize(loss);
  g.Output("x", x);
  g.Output("loss", loss);
}

Tensor Sequence(GraphBuilder& g, int64_t positions = 5, int64_t width = 6) {
  Tensor x = g.Input("x", DType::kFloat32, {kBatch, positions, width});
  return layers::Dense(x, {.units = width, .name = "before"});  // so that what comes next has a gradient to its input
}

Case Activate(const char* name, Activation activation) {
  return {name,
          [=](GraphBuilder& g) {
            Tensor x = g.Input("x", DType::kFloat32, {kBatch, 6});
            Train(g, layers::Dense(x, {.units = 5, .activation = activation}));
          },
          {.ranges = {{"x", {-6, 6}}}}};
}

Case Attention(const char* name, layers::MultiHeadAttentionOptions options, int mask_rank = 0, Options run = {}) {
  return {name,
          [=](GraphBuilder& g) {
            Tensor x = Sequence(g);
            Tensor mask;
            if (mask_rank > 0) {
              Shape shape = {kBatch, 5};
              if (mask_rank == 3) shape.push_back(5);
              // Some rows are masked everywhere: they attend to all positions alike.
              mask = Greater(g.Input("mask", DType::kFloat32, shape), g.Constant(0.3f));
            }
            Train(g, layers::MultiHeadAttention(x, options, mask));
          },
          run};
}

Case Embed(const char* name, DType dtype, Options run) {
  run.ranges["ids"] = {0, kWords};
  return {name,
          [=](GraphBuilder& g) {
            Tensor ids = g.Input("ids", dtype, {kBatch, 4});
            Train(g, layers::Embedding(ids, {.input_dim = kWords, .output_dim = 3}));
          },
          run};
}

std::vector<Case> Cases() {
  return {
      Activate("Gelu", Gelu),
      Activate("GeluTanh", GeluTanh),
      Activate("Erf", Erf),
      {"DenseOverTheLastAxis",
       [](GraphBuilder& g) { Train(g, layers::Dense(Sequence(g), {.units = 3, .activation = Relu})); },
       {.devices = 2, .rows = {16, 5}}},
      {"LayerNorm", [](GraphBuilder& g) { Train(g, layers::LayerNormalization(Sequence(g))); }},
      {"LayerNormOfMatrix",
       [](GraphBuilder& g) {
         Tensor x = layers::Dense(g.Input("x", DType::kFloat32, {kBatch, 7}), {.units = 33});
         Train(g, layers::LayerNormalization(x, {.epsilon = 1e-2, .center = false}));
       }},
      {"ResidualAndNorm",
       [](GraphBuilder& g) {
         Tensor x = Sequence(g);
         Tensor y = layers::LayerNormalization(x + layers::Dense(x, {.units = 6, .activation = Gelu}));
         Train(g, layers::LayerNormalization(y + layers::Dense(y, {.units = 6})));
       },
       {.devices = 2, .rows = {16, 3}}},
      {"BatchMatMul",
       [](GraphBuilder& g) {
         Tensor x = Sequence(g);
         Train(g, BatchMatMul(BatchMatMul(x, x, {.transpose_b = true}), x));
       }},
      {"BatchMatMulOfVariables",
       [](GraphBuilder& g) {
         Tensor a = g.Variable({.name = "a", .shape = {2, 3, 4}, .initializer = {Initializer::Kind::kUniform, -1, 1}});
         Tensor b = g.Variable({.name = "b", .shape = {2, 3, 4}, .initializer = {Initializer::Kind::kUniform, -1, 1}});
         Tensor y = Reshape(BatchMatMul(a, b, {.transpose_b = true}), {2, 9});
         Train(g, MatMul(g.Input("x", DType::kFloat32, {kBatch, 2}), y));
       }},
      Attention("Attention", {.num_heads = 2, .key_dim = 3}),
      Attention("AttentionOfOtherSizes", {.num_heads = 3, .key_dim = 2, .value_dim = 5, .use_bias = false}),
      Attention("CausalAttention", {.num_heads = 2, .key_dim = 3, .use_causal_mask = true}),
      Attention("MaskedPositions", {.num_heads = 2, .key_dim = 3}, 2),
      Attention("MaskedPairs", {.num_heads = 2, .key_dim = 3}, 3, {.devices = 2, .rows = {16, 5}}),
      Attention("AttentionWithDropout", {.num_heads = 2, .key_dim = 3, .dropout = 0.3, .training = true}),
      Embed("Embedding", DType::kInt32, {}),
      Embed("EmbeddingInt64", DType::kInt64, {.devices = 2, .rows = {16, 3}}),
      Embed("EmbeddingInManyLanes", DType::kInt32, {.devices = 4, .batch = 10, .lanes = 16, .microbatch_rows = 2}),
      Embed("EmbeddingWithAnEmptyDevice", DType::kInt32, {.devices = 3, .batch = 7, .rows = {7, 0, 1}}),
      {"TwoLookupsInOneTable",
       [](GraphBuilder& g) {
         Tensor table =
             g.Variable({.name = "table", .shape = {kWords, 3}, .initializer = {Initializer::Kind::kUniform, -1, 1}});
         Tensor a = Gather(table, g.Input("a", DType::kInt32, {kBatch, 2}));
         Tensor b = Gather(table, g.Input("b", DType::kInt64, {kBatch}));
         // The mean over all examples goes back into every one: the second map needs what the first one keeps.
         Tensor x = a * Reshape(b, {kBatch, 1, 3});
         Train(g, x - ReduceMean(x, {0}));
       },
       {.devices = 2, .rows = {16, 5}, .ranges = {{"a", {0, kWords}}, {"b", {0, kWords}}}}},
      {"LookupOfConstants",
       [](GraphBuilder& g) {
         Tensor table =
             g.Variable({.name = "table", .shape = {kWords, 3}, .initializer = {Initializer::Kind::kUniform, -1, 1}});
         Tensor rows = Gather(table, g.Constant(HostTensor::FromVector<int32_t>({4}, {1, 7, 1, 0})));
         Train(g, MatMul(g.Input("x", DType::kFloat32, {kBatch, 4}), rows));
       }},
      {"MaskedClass",
       [](GraphBuilder& g) {
         Tensor scores = layers::Dense(g.Input("x", DType::kFloat32, {kBatch, 5}), {.units = 4});
         // Class 3 is masked; no label names it.
         Tensor keep = Less(Iota(&g, {kBatch, 4}, 1, DType::kInt32), g.Constant(HostTensor::Scalar(int32_t{3})));
         Tensor low = Broadcast(g.Constant(-std::numeric_limits<float>::infinity()), {kBatch, 4});
         Tensor label = g.Input("label", DType::kInt32, {kBatch});
         Tensor masked = Select(keep, scores, low);
         Tensor loss =
             losses::SparseSoftmaxCrossEntropy(label, masked) + losses::SoftmaxCrossEntropy(OneHot(label, 4), masked);
         g.Output("loss", loss);
         optimizers::GradientDescent({.learning_rate = 0.5}).Minimize(loss);
       },
       {.ranges = {{"label", {0, 3}}}}},
      {"MaskedClassOfTwoNetworks",
       [](GraphBuilder& g) {
         Tensor x = g.Input("x", DType::kFloat32, {kBatch, 5});
         Tensor keep = Less(Iota(&g, {kBatch, 4}, 1, DType::kInt32), g.Constant(HostTensor::Scalar(int32_t{3})));
         Tensor low = Broadcast(g.Constant(-std::numeric_limits<float>::infinity()), {kBatch, 4});
         Tensor teacher = Select(keep, layers::Dense(x, {.units = 4}), low);
         Tensor student = Select(keep, layers::Dense(x, {.units = 4}), low);
         Tensor loss = losses::CategoricalCrossEntropy(Softmax(teacher), Softmax(student));
         g.Output("loss", loss);
         optimizers::GradientDescent({.learning_rate = 0.5}).Minimize(loss);
       }},
  };
}

class Attentions : public testing::TestWithParam<Case> {};
TEST_P(Attentions, AgreeWithTheReference) { ASSERT_NO_FATAL_FAILURE(CompareWithReference(GetParam())); }
INSTANTIATE_TEST_SUITE_P(All, Attentions, testing::ValuesIn(Cases()),
                         [](const testing::TestParamInfo<Case>& info) { return info.param.name; });

struct Size {
  int devices;
  int64_t batch;
  int threads;
  std::vector<int64_t> rows;
  int lanes = 0, microbatch_rows = 0;
};

void PrintTo(const Size& size, std::ostream* os) { *os << size.devices << " x " << size.batch; }

class EncoderSizes : public testing::TestWithParam<Size> {};

TEST_P(EncoderSizes, AgreeWithTheReference) {
  const Size& size = GetParam();
  Options options{.devices = size.devices,
                  .batch = size.batch,
                  .rows = size.rows,
                  .threads = size.threads,
                  .lanes = size.lanes,
                  .microbatch_rows = size.microbatch_rows,
                  .ranges = {{"ids", {0, kEncoderVocabulary}}},
                  .tolerance = 1e-4};
  ASSERT_NO_FATAL_FAILURE(CompareWithReference(EncoderModel, options));
}

const Size kSizes[] = {{1, 1, 1, {}},      {1, 16, 2, {}},       {1, 16, 3, {7}},        {2, 8, 2, {8, 3}},
                       {2, 16, 3, {9, 0}}, {4, 4, 2, {}, 16, 0}, {1, 32, 2, {21}, 4, 3}, {3, 5, 2, {5, 5, 1}}};
INSTANTIATE_TEST_SUITE_P(All, EncoderSizes, testing::ValuesIn(kSizes));

}  // namespace
}  // namespace tandem::compiled

// Embedding, layer normalisation and attention against plain loops.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "frontends/layers.h"
#include "frontends/testing.h"
#include "graph/ops.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

using frontends::ErrorMismatch;
using frontends::Feed;
using frontends::Fetched;
using frontends::Floats;
using frontends::Ints;
using frontends::Pattern;
using frontends::RunStep;
using frontends::Values;

constexpr char kFile[] = "attention_layers_test.cc";
constexpr int64_t kB = 2, kS = 3, kD = 4, kHeads = 2, kKey = 3, kValue = 5;

void ExpectNear(const Values& actual, const Values& expected, double tolerance = 1e-6) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(actual[i], expected[i], tolerance) << "element " << i;
}

// x [b, s, in] times kernel [in, heads, size] plus bias [heads, size], as [b, s, heads, size].
Values Project(const Values& x, int64_t in, const Values& kernel, const Values& bias) {
  const int64_t out = static_cast<int64_t>(bias.size()), rows = static_cast<int64_t>(x.size()) / in;
  Values y;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t o = 0; o < out; ++o) {
      double sum = bias[o];
      for (int64_t i = 0; i < in; ++i) sum += x[r * in + i] * kernel[i * out + o];
      y.push_back(sum);
    }
  }
  return y;
}

// keep(b, query, key) says which positions are attended to.
template <typename Keep>
Values ReferenceAttention(const Feed& feed, const Values& x, Keep keep) {
  auto variable = [&](const std::string& name) { return feed.variables.at("multi_head_attention/" + name); };
  Values q = Project(x, kD, variable("query/kernel"), variable("query/bias"));
  Values k = Project(x, kD, variable("key/kernel"), variable("key/bias"));
  Values v = Project(x, kD, variable("value/kernel"), variable("value/bias"));
  Values context(kB * kS * kHeads * kValue);
  for (int64_t b = 0; b < kB; ++b) {
    for (int64_t h = 0; h < kHeads; ++h) {
      for (int64_t i = 0; i < kS; ++i) {
        Values weight(kS);
        double total = 0;
        for (int64_t j = 0; j < kS; ++j) {
          double score = 0;
          for (int64_t c = 0; c < kKey; ++c) {
            score += q[((b * kS + i) * kHeads + h) * kKey + c] * k[((b * kS + j) * kHeads + h) * kKey + c];
          }
          weight[j] = keep(b, i, j) ? std::exp(score / std::sqrt(kKey)) : 0;
          total += weight[j];
        }
        for (int64_t j = 0; j < kS; ++j) {
          for (int64_t c = 0; c < kValue; ++c) {
            context[((b * kS + i) * kHeads + h) * kValue + c] +=
                weight[j] / total * v[((b * kS + j) * kHeads + h) * kValue + c];
          }
        }
      }
    }
  }
  return Project(context, kHeads * kValue, variable("attention_output/kernel"), variable("attention_output/bias"));
}

// All variables of the layer, biases included, from Pattern.
Feed MakeFeed(const GraphBuilder& graph, const Values& x) {
  Feed feed;
  feed.batch = kB;
  feed.inputs["x"] = Floats({kB, kS, kD}, x);
  int seed = 10;
  for (const VariableSpec& v : graph.variables()) feed.variables[v.name] = Pattern(NumElements(v.shape), ++seed);
  return feed;
}

const layers::MultiHeadAttentionOptions kOptions = {.num_heads = kHeads, .key_dim = kKey, .value_dim = kValue};

TEST(MultiHeadAttention, NamesVariablesAsKeras) {
  GraphBuilder graph;
  Tensor y = layers::MultiHeadAttention(graph.Input("x", DType::kFloat32, {kBatch, kS, kD}), kOptions);
  ASSERT_TRUE(graph.status().ok()) << graph.status();
  EXPECT_EQ(y.shape(), (Shape{kBatch, kS, kD}));
  std::vector<std::pair<std::string, Shape>> actual;
  for (const VariableSpec& v : graph.variables()) actual.emplace_back(v.name, v.shape);
  const std::vector<std::pair<std::string, Shape>> expected = {
      {"multi_head_attention/query/kernel", {kD, kHeads, kKey}},
      {"multi_head_attention/query/bias", {kHeads, kKey}},
      {"multi_head_attention/key/kernel", {kD, kHeads, kKey}},
      {"multi_head_attention/key/bias", {kHeads, kKey}},
      {"multi_head_attention/value/kernel", {kD, kHeads, kValue}},
      {"multi_head_attention/value/bias", {kHeads, kValue}},
      {"multi_head_attention/attention_output/kernel", {kHeads, kValue, kD}},
      {"multi_head_attention/attention_output/bias", {kD}}};
  EXPECT_EQ(actual, expected);
}

TEST(MultiHeadAttention, EveryPositionAttendsToAll) {
  GraphBuilder graph;
  graph.Output("y", layers::MultiHeadAttention(graph.Input("x", DType::kFloat32, {kBatch, kS, kD}), kOptions));
  Values x = Pattern(kB * kS * kD, 1);
  Feed feed = MakeFeed(graph, x);
  ExpectNear(RunStep(graph, feed).outputs.at("y"),
             ReferenceAttention(feed, x, [](int64_t, int64_t, int64_t) { return true; }));
}

TEST(MultiHeadAttention, CausalMask) {
  GraphBuilder graph;
  layers::MultiHeadAttentionOptions options = kOptions;
  options.use_causal_mask = true;
  graph.Output("y", layers::MultiHeadAttention(graph.Input("x", DType::kFloat32, {kBatch, kS, kD}), options));
  Values x = Pattern(kB * kS * kD, 2);
  Feed feed = MakeFeed(graph, x);
  ExpectNear(RunStep(graph, feed).outputs.at("y"),
             ReferenceAttention(feed, x, [](int64_t, int64_t query, int64_t key) { return key <= query; }));
}

TEST(MultiHeadAttention, PaddingMask) {
  GraphBuilder graph;
  Tensor length = graph.Input("length", DType::kInt32, {kBatch, 1});
  Tensor position = Iota(&graph, {kBatch, kS}, 1, DType::kInt32);
  Tensor mask = Less(position, Broadcast(length, {kBatch, kS}));
  graph.Output("y", layers::MultiHeadAttention(graph.Input("x", DType::kFloat32, {kBatch, kS, kD}), kOptions, mask));
  ASSERT_TRUE(graph.status().ok()) << graph.status();
  Values x = Pattern(kB * kS * kD, 3);
  Feed feed = MakeFeed(graph, x);
  feed.inputs["length"] = Ints({kB, 1}, {2, 3});
  ExpectNear(RunStep(graph, feed).outputs.at("y"),
             ReferenceAttention(feed, x, [](int64_t b, int64_t, int64_t key) { return key < b + 2; }));
}

TEST(MultiHeadAttention, Errors) {
  {
    GraphBuilder graph;
    layers::MultiHeadAttention(graph.Input("x", DType::kFloat32, {kBatch, kS, kD}), {.num_heads = 2});
    EXPECT_EQ(ErrorMismatch(graph, "`key_dim` must be at least 1, got 0", kFile), "");
  }
  {
    GraphBuilder graph;
    layers::MultiHeadAttention(graph.Input("x", DType::kFloat32, {kBatch, kD}), kOptions);
    EXPECT_EQ(ErrorMismatch(graph, "[b, positions, features], got [b,4]", kFile), "");
  }
  {
    GraphBuilder graph;
    Tensor x = graph.Input("x", DType::kFloat32, {kBatch, kS, kD});
    layers::MultiHeadAttention(x, kOptions, x);
    EXPECT_EQ(ErrorMismatch(graph, "boolean mask of shape [b,3] or [b,3,3], got float32 [b,3,4]", kFile), "");
  }
}

TEST(Embedding, TakesRowsOfItsTable) {
  GraphBuilder graph;
  Tensor y = layers::Embedding(graph.Input("i", DType::kInt32, {kBatch, 2}), {.input_dim = 3, .output_dim = 2});
  graph.Output("y", y);
  ASSERT_TRUE(graph.status().ok()) << graph.status();
  EXPECT_EQ(y.shape(), (Shape{kBatch, 2, 2}));
  Feed feed;
  feed.batch = 2;
  feed.inputs["i"] = Ints({2, 2}, {2, 0, 1, 2});
  feed.variables["embedding/embeddings"] = {1, 2, 3, 4, 5, 6};
  ExpectNear(RunStep(graph, feed).outputs.at("y"), {5, 6, 1, 2, 3, 4, 5, 6});
}

TEST(Embedding, WantsIntegers) {
  GraphBuilder graph;
  layers::Embedding(graph.Input("x", DType::kFloat32, {kBatch, 2}), {.input_dim = 3, .output_dim = 2});
  EXPECT_EQ(ErrorMismatch(graph, "needs int32 or int64 indices, got float32 [b,2]", kFile), "");
}

TEST(LayerNormalization, NormalisesScalesAndShifts) {
  GraphBuilder graph;
  graph.Output("y", layers::LayerNormalization(graph.Input("x", DType::kFloat32, {kBatch, 1, 2}), {.epsilon = 5.0}));
  Feed feed;
  feed.batch = 2;
  feed.inputs["x"] = Floats({2, 1, 2}, {1, 5, -100, -100});
  feed.variables = {{"layer_normalization/gamma", {3, 6}}, {"layer_normalization/beta", {10, 20}}};
  // Mean 3, variance 4: (x - 3) / 3.
  ExpectNear(RunStep(graph, feed).outputs.at("y"), {8, 24, 10, 20});
}

TEST(Dense, WorksOverTheLastAxis) {
  GraphBuilder graph;
  graph.Output("y", layers::Dense(graph.Input("x", DType::kFloat32, {kBatch, 2, 2}), {.units = 1}));
  ASSERT_TRUE(graph.status().ok()) << graph.status();
  Feed feed;
  feed.batch = 1;
  feed.inputs["x"] = Floats({1, 2, 2}, {1, 2, 3, 4});
  feed.variables = {{"dense/kernel", {1, 10}}, {"dense/bias", {100}}};
  ExpectNear(RunStep(graph, feed).outputs.at("y"), {121, 143});
}

}  // namespace
}  // namespace tandem

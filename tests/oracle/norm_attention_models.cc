#include "frontends/layers.h"
#include "frontends/losses.h"
#include "graph/ops.h"
#include "tests/oracle/cover.h"
#include "tests/oracle/models.h"
#include "tests/oracle/reference_losses.h"

namespace tandem::oracle {
namespace {

using ref::Array;
using ref::BatchNormOptions;
using ref::Forward;
using ref::Real;

// Behind a dense layer or, for images, a convolution; with a tanh, so that gamma and the statistics matter to all.
Model OfVector(std::string name, std::function<Tensor(const Tensor&)> norm,
               std::function<Array(Forward&, const Array&)> reference) {
  return {std::move(name),
          [norm](GraphBuilder& g) {
            Tensor x = TD_COVER(layers::Dense, g.Input("x", DType::kFloat32, {kBatch, 3}), {.units = 4});
            return Head(g, Tanh(norm(x)));
          },
          [reference](Forward& f) {
            return Head(f, ref::Map(reference(f, ref::Dense(f, f.Input("x"), "dense")), ref::Tanh));
          }};
}

Model OfImage(std::string name, std::function<Tensor(const Tensor&)> norm,
              std::function<Array(Forward&, const Array&)> reference) {
  return {std::move(name),
          [norm](GraphBuilder& g) {
            Tensor x = g.Input("image", DType::kFloat32, {kBatch, 4, 3, 2});
            return Head(g, Relu(norm(TD_COVER(layers::Conv2D, x, {.filters = 3, .kernel_size = 2}))));
          },
          [reference](Forward& f) {
            return Head(f, ref::Map(reference(f, ref::Conv2D(f, f.Input("image"), "conv2d")), ref::Relu));
          }};
}

std::function<Array(Forward&, const Array&)> Norm(const BatchNormOptions& options) {
  return [options](Forward& f, const Array& x) { return ref::BatchNorm(f, x, "batch_normalization", options); };
}

void AddBatchNorm(std::vector<Model>& models) {
  models.push_back(OfVector(
      "batch_norm", [](const Tensor& x) { return TD_COVER(layers::BatchNormalization, x, {.training = true}); },
      Norm({})));
  models.push_back(OfVector(
      "batch_norm_options",
      [](const Tensor& x) {
        return TD_COVER(layers::BatchNormalization, x, {.momentum = 0.7, .epsilon = 0.1, .training = true});
      },
      Norm({.momentum = 0.7, .epsilon = 0.1})));
  models.push_back(OfImage(
      "batch_norm_of_images",
      [](const Tensor& x) { return TD_COVER(layers::BatchNormalization, x, {.momentum = 0.9, .training = true}); },
      Norm({.momentum = 0.9})));
  models.push_back(OfVector(
      "batch_norm_without_scale",
      [](const Tensor& x) { return TD_COVER(layers::BatchNormalization, x, {.scale = false, .training = true}); },
      Norm({.scale = false})));
  models.push_back(OfVector(
      "batch_norm_without_center",
      [](const Tensor& x) { return TD_COVER(layers::BatchNormalization, x, {.center = false, .training = true}); },
      Norm({.center = false})));
  models.push_back(OfVector(
      "batch_norm_sync",
      [](const Tensor& x) { return TD_COVER(layers::BatchNormalization, x, {.training = true, .sync = true}); },
      Norm({.sync = true})));
  models.push_back(OfImage(
      "batch_norm_sync_of_images",
      [](const Tensor& x) { return TD_COVER(layers::BatchNormalization, x, {.training = true, .sync = true}); },
      Norm({.sync = true})));
  models.push_back(OfVector(
      "batch_norm_not_training",
      [](const Tensor& x) { return TD_COVER(layers::BatchNormalization, x, {.training = false}); },
      Norm({.training = false})));
  models.push_back(OfImage(
      "batch_norm_frozen",
      [](const Tensor& x) { return TD_COVER(layers::BatchNormalization, x, {.training = true, .trainable = false}); },
      Norm({.training = false})));
  models.push_back({"batch_norm_twice",
                    [](GraphBuilder& g) {
                      Tensor x = TD_COVER(layers::Dense, g.Input("x", DType::kFloat32, {kBatch, 3}), {.units = 4});
                      x = Tanh(TD_COVER(layers::BatchNormalization, x, {.training = true, .name = "own"}));
                      x = TD_COVER(layers::Dense, x, {.units = 3});
                      x = TD_COVER(layers::BatchNormalization, x, {.training = true, .sync = true, .name = "all"});
                      return Head(g, TD_COVER(layers::BatchNormalization, Tanh(x), {.training = true}));
                    },
                    [](Forward& f) {
                      Array x = ref::BatchNorm(f, ref::Dense(f, f.Input("x"), "dense"), "own", {});
                      x = ref::Dense(f, ref::Map(x, ref::Tanh), "dense_1");
                      x = ref::BatchNorm(f, x, "all", {.sync = true});
                      return Head(f, ref::BatchNorm(f, ref::Map(x, ref::Tanh), "batch_normalization", {}));
                    },
                    {},
                    {},
                    // Three normalisations over a replica's two rows: rounding each variable by one unit moves a
                    // gradient by half of what it is off with four replicas.
                    10});
}

// The mean of what each replica that has rows makes of its own.
Real OverReplicas(const Forward& f, const std::function<Real(int64_t begin, int64_t end)>& of_rows) {
  std::vector<Real> values;
  int64_t begin = 0;
  for (int64_t rows : f.rows_per_replica()) {
    if (rows > 0) values.push_back(of_rows(begin, begin + rows));
    begin += rows;
  }
  return ref::Sum(values) / static_cast<double>(values.size());
}

Real SumOfSquares(const Array& x) { return ref::Dot(x.values, x.values); }

// Statistics in programs of one's own. A loss that differs between replicas counts as its mean over them.
void AddStatistics(std::vector<Model>& models) {
  auto scores = [](GraphBuilder& g) {
    return TD_COVER(layers::Dense, g.Input("x", DType::kFloat32, {kBatch, 3}), {.units = 4, .activation = Tanh});
  };
  auto reference = [](const Forward& f) { return ref::Map(ref::Dense(f, f.Input("x"), "dense"), ref::Tanh); };
  for (bool sync : {false, true}) {
    models.push_back({sync ? "statistics_of_all_rows_in_the_loss" : "statistics_in_the_loss",
                      [=](GraphBuilder& g) {
                        Tensor x = scores(g);
                        Moments m = BatchMoments(x, sync ? "global" : "replica");
                        return Head(g, x) + ReduceSum(Square(m.mean)) * 0.5 + ReduceSum(Square(m.variance)) * 2;
                      },
                      [=](Forward& f) {
                        Array x = reference(f);
                        auto term = [&](int64_t begin, int64_t end) {
                          ref::Moments m = ref::MomentsOf(x, begin, end);
                          return SumOfSquares(m.mean) * 0.5 + SumOfSquares(m.variance) * 2;
                        };
                        return Head(f, x) + (sync ? term(0, f.rows()) : OverReplicas(f, term));
                      }});
  }
  models.push_back({"statistics_times_a_variable",
                    [=](GraphBuilder& g) {
                      Tensor x = scores(g);
                      Tensor w = g.Variable({.name = "w", .shape = {4}});
                      return Head(g, x) + ReduceSum(BatchMoments(x, "replica").mean * w);
                    },
                    [=](Forward& f) {
                      Array x = reference(f);
                      return Head(f, x) + OverReplicas(f, [&](int64_t begin, int64_t end) {
                               return ref::Dot(ref::MomentsOf(x, begin, end).mean.values, f.Variable("w").values);
                             });
                    }});
  models.push_back({"statistics_scale_rows",
                    [=](GraphBuilder& g) {
                      Tensor x = scores(g);
                      return Head(g, x * (BatchMoments(x, "replica").variance + 0.3));
                    },
                    [=](Forward& f) {
                      const Array x = reference(f);
                      Array y = x;
                      int64_t begin = 0;
                      for (int64_t rows : f.rows_per_replica()) {
                        if (rows == 0) continue;
                        const ref::Moments m = ref::MomentsOf(x, begin, begin + rows);
                        for (int64_t i = 4 * begin; i < 4 * (begin + rows); ++i) {
                          y.values[i] = x.values[i] * (m.variance.values[i % 4] + 0.3);
                        }
                        begin += rows;
                      }
                      return Head(f, y);
                    }});
}

void AddLayerNorm(std::vector<Model>& models) {
  models.push_back(OfVector(
      "layer_norm", [](const Tensor& x) { return TD_COVER(layers::LayerNormalization, x); },
      [](Forward& f, const Array& x) { return ref::LayerNorm(f, x, "layer_normalization", 1e-3); }));
  models.push_back(OfImage(
      "layer_norm_options",
      [](const Tensor& x) {
        return TD_COVER(layers::LayerNormalization, x, {.epsilon = 0.1, .center = false, .scale = false});
      },
      [](Forward& f, const Array& x) { return ref::LayerNorm(f, x, "layer_normalization", 0.1, false, false); }));
  models.push_back(OfVector(
      "layer_norm_frozen",
      [](const Tensor& x) { return TD_COVER(layers::LayerNormalization, x, {.trainable = false}); },
      [](Forward& f, const Array& x) { return ref::LayerNorm(f, x, "layer_normalization", 1e-3); }));
}

void AddEmbeddings(std::vector<Model>& models) {
  models.push_back(
      {"embedding",
       [](GraphBuilder& g) {
         Tensor ids = g.Input("ids", DType::kInt32, {kBatch, 3});
         return Head(g, Tanh(TD_COVER(layers::Embedding, ids, {.input_dim = 4, .output_dim = 3})));
       },
       [](Forward& f) { return Head(f, ref::Map(ref::Embedding(f, "ids", {3}, "embedding"), ref::Tanh)); }});
  // A table most rows of which nothing asks for: a momentum moves those as well.
  models.push_back({"embedding_of_one_index",
                    [](GraphBuilder& g) {
                      Tensor ids = g.Input("ids", DType::kInt64, {kBatch});
                      return Head(g, TD_COVER(layers::Embedding, ids, {.input_dim = 40, .output_dim = 2}));
                    },
                    [](Forward& f) { return Head(f, ref::Embedding(f, "ids", {}, "embedding")); }});
  models.push_back({"embedding_frozen",
                    [](GraphBuilder& g) {
                      Tensor ids = g.Input("ids", DType::kInt32, {kBatch, 2});
                      return Head(
                          g, TD_COVER(layers::Embedding, ids, {.input_dim = 4, .output_dim = 3, .trainable = false}));
                    },
                    [](Forward& f) { return Head(f, ref::Embedding(f, "ids", {2}, "embedding")); }});
}

Tensor Positions(GraphBuilder& g) { return g.Input("x", DType::kFloat32, {kBatch, 3, 4}); }

Model OfPositions(std::string name, std::function<Tensor(GraphBuilder&, const Tensor&)> attention,
                  const ref::AttentionOptions& options) {
  Model model = {
      std::move(name), [attention](GraphBuilder& g) { return Head(g, attention(g, Positions(g))); },
      [options](Forward& f) { return Head(f, ref::Attention(f, f.Input("x"), "multi_head_attention", options)); }};
  model.ranges = {{"x", {-2, 2}}};
  if (!options.uniform_op.empty()) model.randoms = {options.uniform_op};
  return model;
}

void AddAttention(std::vector<Model>& models) {
  models.push_back(OfPositions("attention",
                               [](GraphBuilder&, const Tensor& x) {
                                 return TD_COVER(layers::MultiHeadAttention, x, {.num_heads = 2, .key_dim = 3});
                               },
                               {}));
  models.push_back(OfPositions(
      "attention_causal",
      [](GraphBuilder&, const Tensor& x) {
        return TD_COVER(layers::MultiHeadAttention, x,
                        {.num_heads = 2, .key_dim = 2, .value_dim = 3, .use_bias = false, .use_causal_mask = true});
      },
      {.bias = false, .causal = true}));
  models.push_back(OfPositions("attention_masked",
                               [](GraphBuilder& g, const Tensor& x) {
                                 Tensor mask = g.Input("mask", DType::kBool, {kBatch, 3});
                                 return TD_COVER(layers::MultiHeadAttention, x, {.num_heads = 1, .key_dim = 4}, mask);
                               },
                               {.mask = "mask"}));
  models.push_back(OfPositions("attention_masked_by_query",
                               [](GraphBuilder& g, const Tensor& x) {
                                 Tensor mask = g.Input("mask", DType::kBool, {kBatch, 3, 3});
                                 return TD_COVER(layers::MultiHeadAttention, x, {.num_heads = 2, .key_dim = 2}, mask);
                               },
                               {.mask = "mask"}));
  models.push_back(OfPositions("attention_dropout",
                               [](GraphBuilder&, const Tensor& x) {
                                 return TD_COVER(layers::MultiHeadAttention, x,
                                                 {.num_heads = 2, .key_dim = 2, .dropout = 0.4, .training = true});
                               },
                               {.dropout = 0.4, .uniform_op = "multi_head_attention/dropout/RandomUniform"}));
  models.push_back(OfPositions("attention_frozen",
                               [](GraphBuilder&, const Tensor& x) {
                                 return TD_COVER(layers::MultiHeadAttention, x,
                                                 {.num_heads = 2, .key_dim = 2, .trainable = false});
                               },
                               {}));
}

// Layers behind one another, as programs have them.
void AddNetworks(std::vector<Model>& models) {
  models.push_back(
      {"convnet",
       [](GraphBuilder& g) {
         Tensor x = g.Input("image", DType::kFloat32, {kBatch, 7, 7, 1});
         x = TD_COVER(layers::Conv2D, x, {.filters = 3, .kernel_size = 2});
         x = Relu(TD_COVER(layers::BatchNormalization, x, {.training = true}));
         x = TD_COVER(layers::Dropout, TD_COVER(layers::MaxPooling2D, x), {.rate = 0.25, .training = true});
         x = TD_COVER(layers::Dense, TD_COVER(layers::Flatten, x), {.units = 3});
         Tensor labels = g.Input("label", DType::kInt32, {kBatch});
         return TD_COVER(losses::SparseSoftmaxCrossEntropy, labels, x);
       },
       [](Forward& f) {
         Array x = ref::Conv2D(f, f.Input("image"), "conv2d");
         x = ref::Map(ref::BatchNorm(f, x, "batch_normalization", {}), ref::Relu);
         x = ref::MaxPool(x, {.height = 2, .width = 2, .stride_y = 2, .stride_x = 2});
         x = ref::Dropout(f, x, "dropout/RandomUniform", 0.25);
         x = ref::Dense(f, ref::Flatten(x), "dense");
         return ref::Reduce(ref::SparseSoftmaxCrossEntropy(f.Integers("label"), x), {}, ref::Mean::kOverExamples);
       },
       {{"label", {0, 3}}},
       {"dropout/RandomUniform"}});
  models.push_back(
      {"encoder",
       [](GraphBuilder& g) {
         Tensor ids = g.Input("ids", DType::kInt32, {kBatch, 3});
         Tensor x = TD_COVER(layers::Embedding, ids, {.input_dim = 5, .output_dim = 4});
         Tensor y = TD_COVER(layers::MultiHeadAttention, x, {.num_heads = 2, .key_dim = 2});
         x = TD_COVER(layers::LayerNormalization, x + y);
         y = TD_COVER(layers::Dense, x, {.units = 5, .activation = Gelu});
         return Head(g, x + TD_COVER(layers::Dense, y, {.units = 4}));
       },
       [](Forward& f) {
         auto sum = [](const Array& a, const Array& b) { return ref::Map(a, b, [](Real p, Real q) { return p + q; }); };
         Array x = ref::Embedding(f, "ids", {3}, "embedding");
         x = ref::LayerNorm(f, sum(x, ref::Attention(f, x, "multi_head_attention", {})), "layer_normalization", 1e-3);
         Array y = ref::Map(ref::Dense(f, x, "dense"), ref::Gelu);
         return Head(f, sum(x, ref::Dense(f, y, "dense_1")));
       },
       {{"ids", {0, 5}}}});
}

}  // namespace

std::vector<Model> NormAndAttentionModels() {
  std::vector<Model> models;
  AddBatchNorm(models);
  AddStatistics(models);
  AddLayerNorm(models);
  AddEmbeddings(models);
  AddAttention(models);
  AddNetworks(models);
  return models;
}

const std::vector<Model>& Models() {
  static const auto* models = [] {
    auto* all = new std::vector<Model>;
    for (auto part : {LayerModels, KerasLayerModels, NormAndAttentionModels, LossModels, LabelGradientModels}) {
      for (Model& model : part()) all->push_back(std::move(model));
    }
    return all;
  }();
  return *models;
}

}  // namespace tandem::oracle

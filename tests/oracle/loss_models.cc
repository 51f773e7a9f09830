#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/regularizers.h"
#include "graph/ops.h"
#include "tests/oracle/cover.h"
#include "tests/oracle/models.h"
#include "tests/oracle/reference_losses.h"

namespace tandem::oracle {
namespace {

using losses::Reduction;
using ref::Array;
using ref::Forward;
using ref::Mean;
using ref::Real;

// Scores [b, 3] of a dense layer.
Tensor Scores(GraphBuilder& g) {
  return TD_COVER(layers::Dense, g.Input("x", DType::kFloat32, {kBatch, 4}), {.units = 3});
}
Array Scores(const Forward& f) { return ref::Dense(f, f.Input("x"), "dense"); }

Tensor Labels(GraphBuilder& g) { return g.Input("label", DType::kInt32, {kBatch}); }
Tensor Weights(GraphBuilder& g) { return g.Input("weight", DType::kFloat32, {kBatch}); }

std::vector<double> Doubles(const Array& x) {
  std::vector<double> values;
  for (Real v : x.values) values.push_back(ref::Tape::Current().value(v));
  return values;
}

std::function<Real(Forward&)> Sparse(bool weighted, Mean mean) {
  return [=](Forward& f) {
    std::vector<double> weights;
    if (weighted) weights = Doubles(f.Input("weight"));
    return ref::Reduce(ref::SparseSoftmaxCrossEntropy(f.Integers("label"), Scores(f)), weights, mean);
  };
}

const std::map<std::string, Range> kSparse = {{"label", {0, 3}}, {"weight", {0.2, 2}}};
// A third of the examples does not count.
const std::map<std::string, Range> kSomeZero = {{"label", {0, 3}}, {"weight", {0, 3, true}}};
const std::map<std::string, Range> kAllZero = {{"label", {0, 3}}, {"weight", {0, 0}}};

void AddSparse(std::vector<Model>& models) {
  auto add = [&](std::string name, std::function<Tensor(GraphBuilder&)> loss, std::function<Real(Forward&)> reference,
                 const std::map<std::string, Range>& ranges) {
    models.push_back({std::move(name), std::move(loss), std::move(reference), ranges});
  };
  add(
      "sparse_cross_entropy",
      [](GraphBuilder& g) { return TD_COVER(losses::SparseSoftmaxCrossEntropy, Labels(g), Scores(g)); },
      Sparse(false, Mean::kOverExamples), kSparse);
  add(
      "sparse_cross_entropy_columns",
      [](GraphBuilder& g) {
        Tensor labels = g.Input("label", DType::kInt64, {kBatch, 1});
        Tensor weights = g.Input("weight", DType::kFloat32, {kBatch, 1});
        return TD_COVER(losses::SparseSoftmaxCrossEntropy, labels, Scores(g), {.weights = weights});
      },
      Sparse(true, Mean::kOverExamples), kSparse);
  add(
      "sparse_cross_entropy_sum",
      [](GraphBuilder& g) {
        return TD_COVER(losses::SparseSoftmaxCrossEntropy, Labels(g), Scores(g),
                        {.weights = Weights(g), .reduction = Reduction::kSum});
      },
      Sparse(true, Mean::kSum), kSparse);
  add(
      "sparse_cross_entropy_mean",
      [](GraphBuilder& g) {
        return TD_COVER(losses::SparseSoftmaxCrossEntropy, Labels(g), Scores(g),
                        {.weights = Weights(g), .reduction = Reduction::kMean});
      },
      Sparse(true, Mean::kOverWeights), kSparse);
  add(
      "sparse_cross_entropy_mean_of_nothing",
      [](GraphBuilder& g) {
        return TD_COVER(losses::SparseSoftmaxCrossEntropy, Labels(g), Scores(g),
                        {.weights = Weights(g), .reduction = Reduction::kMean});
      },
      Sparse(true, Mean::kOverWeights), kAllZero);
  add(
      "sparse_cross_entropy_nonzero",
      [](GraphBuilder& g) {
        Tensor weights = g.Input("weight", DType::kInt32, {kBatch});
        return TD_COVER(losses::SparseSoftmaxCrossEntropy, Labels(g), Scores(g),
                        {.weights = weights, .reduction = Reduction::kSumByNonzeroWeights});
      },
      Sparse(true, Mean::kOverNonzero), kSomeZero);
  add(
      "sparse_cross_entropy_none",
      [](GraphBuilder& g) {
        return ReduceSum(TD_COVER(losses::SparseSoftmaxCrossEntropy, Labels(g), Scores(g),
                                  {.weights = Weights(g), .reduction = Reduction::kNone}));
      },
      Sparse(true, Mean::kSum), kSparse);
  add(
      "sparse_cross_entropy_one_weight",
      [](GraphBuilder& g) {
        return TD_COVER(losses::SparseSoftmaxCrossEntropy, Labels(g), Scores(g),
                        {.weights = g.Constant(2.5f), .reduction = Reduction::kSumOverBatchSize});
      },
      [](Forward& f) { return Sparse(false, Mean::kOverExamples)(f) * 2.5; }, kSparse);
}

// Scores [b, 2, 3] of two positions of each example.
Tensor PositionScores(GraphBuilder& g) {
  return Reshape(TD_COVER(layers::Dense, g.Input("x", DType::kFloat32, {kBatch, 4}), {.units = 6}), {kBatch, 2, 3});
}
// Those of all positions, [2 b, 3].
Array PositionScores(const Forward& f) {
  Array scores = ref::Dense(f, f.Input("x"), "dense");
  return {{2 * scores.rows(), 3}, scores.values};
}

void AddPositions(std::vector<Model>& models) {
  models.push_back({"sparse_cross_entropy_of_positions",
                    [](GraphBuilder& g) {
                      Tensor labels = g.Input("label", DType::kInt32, {kBatch, 2});
                      Tensor weights = g.Input("weight", DType::kFloat32, {kBatch, 2});
                      return TD_COVER(losses::SparseSoftmaxCrossEntropy, labels, PositionScores(g),
                                      {.weights = weights, .reduction = Reduction::kMean});
                    },
                    [](Forward& f) {
                      return ref::Reduce(ref::SparseSoftmaxCrossEntropy(f.Integers("label"), PositionScores(f)),
                                         Doubles(f.Input("weight")), Mean::kOverWeights);
                    },
                    kSomeZero});
  models.push_back({"softmax_cross_entropy_of_positions",
                    [](GraphBuilder& g) {
                      Tensor labels = g.Input("labels", DType::kFloat32, {kBatch, 2, 3});
                      return TD_COVER(losses::SoftmaxCrossEntropy, labels, PositionScores(g), {.label_smoothing = 0.1});
                    },
                    [](Forward& f) {
                      Array labels = f.Input("labels");
                      labels.shape = {2 * labels.rows(), 3};
                      return ref::Reduce(ref::SoftmaxCrossEntropy(labels, PositionScores(f), 0.1), {},
                                         Mean::kOverExamples);
                    },
                    {{"labels", {0, 1}}}});
}

// Distributions over the classes need not be one-hot, nor add up to 1, for the formula to hold.
Tensor Dense(GraphBuilder& g) { return g.Input("labels", DType::kFloat32, {kBatch, 3}); }

void AddDense(std::vector<Model>& models) {
  const std::map<std::string, Range> ranges = {{"labels", {0, 1}}, {"weight", {0.2, 2}}};
  auto softmax = [](double smoothing, bool weighted, Mean mean) {
    return [=](Forward& f) {
      return ref::Reduce(ref::SoftmaxCrossEntropy(f.Input("labels"), Scores(f), smoothing),
                         weighted ? Doubles(f.Input("weight")) : std::vector<double>(), mean);
    };
  };
  models.push_back({"softmax_cross_entropy",
                    [](GraphBuilder& g) { return TD_COVER(losses::SoftmaxCrossEntropy, Dense(g), Scores(g)); },
                    softmax(0, false, Mean::kOverExamples), ranges});
  models.push_back({"softmax_cross_entropy_smoothed",
                    [](GraphBuilder& g) {
                      Tensor labels = g.Input("labels", DType::kInt32, {kBatch, 3});
                      return TD_COVER(losses::SoftmaxCrossEntropy, labels, Scores(g),
                                      {.weights = Weights(g), .reduction = Reduction::kMean, .label_smoothing = 0.2});
                    },
                    softmax(0.2, true, Mean::kOverWeights),
                    {{"labels", {0, 2}}, {"weight", {0.2, 2}}}});
  // Traced back to its logits.
  models.push_back({"categorical_cross_entropy_of_softmax",
                    [](GraphBuilder& g) {
                      return TD_COVER(losses::CategoricalCrossEntropy, Dense(g), Softmax(Scores(g)),
                                      {.label_smoothing = 0.1});
                    },
                    softmax(0.1, false, Mean::kOverExamples), ranges});
  models.push_back({"categorical_cross_entropy_of_shares",
                    [](GraphBuilder& g) {
                      return TD_COVER(losses::CategoricalCrossEntropy, Dense(g), Sigmoid(Scores(g)),
                                      {.weights = Weights(g), .label_smoothing = 0.1});
                    },
                    [](Forward& f) {
                      return ref::Reduce(
                          ref::CategoricalCrossEntropy(f.Input("labels"), ref::Map(Scores(f), ref::Sigmoid), 0.1),
                          Doubles(f.Input("weight")), Mean::kOverExamples);
                    },
                    ranges});
}

void AddSquares(std::vector<Model>& models) {
  models.push_back({"squared_error_of_rows",
                    [](GraphBuilder& g) {
                      return TD_COVER(losses::MeanSquaredError, Dense(g), Scores(g),
                                      {.weights = Weights(g), .reduction = Reduction::kSumByNonzeroWeights});
                    },
                    [](Forward& f) {
                      return ref::Reduce(ref::SquaredErrors(f.Input("labels"), Scores(f)), Doubles(f.Input("weight")),
                                         Mean::kOverNonzero);
                    },
                    {{"weight", {0, 3, true}}}});
  models.push_back({"squared_error_of_a_column",
                    [](GraphBuilder& g) {
                      Tensor y = TD_COVER(layers::Dense, g.Input("x", DType::kFloat32, {kBatch, 4}), {.units = 1});
                      return TD_COVER(losses::MeanSquaredError, g.Input("y", DType::kInt32, {kBatch}), y);
                    },
                    [](Forward& f) {
                      Array y = ref::Reshaped(Scores(f), {f.rows()});
                      return ref::Reduce(ref::SquaredErrors(f.Input("y"), y), {}, Mean::kOverExamples);
                    }});
  // Losses of one's own, per example and position.
  models.push_back({"weighted_loss_of_positions",
                    [](GraphBuilder& g) {
                      return TD_COVER(losses::ComputeWeightedLoss, Square(Scores(g)), {.weights = Weights(g)});
                    },
                    [](Forward& f) {
                      Array squares = ref::Map(Scores(f), [](Real x) { return x * x; });
                      std::vector<double> weights;
                      for (double w : Doubles(f.Input("weight"))) weights.insert(weights.end(), 3, w);
                      return ref::Reduce(squares.values, weights, Mean::kOverExamples);
                    },
                    {{"weight", {-1, 2}}}});
  models.push_back({"weighted_loss_by_position",
                    [](GraphBuilder& g) {
                      Tensor weights = g.Input("weight", DType::kFloat32, {kBatch, 3});
                      return TD_COVER(losses::ComputeWeightedLoss, Square(Scores(g)),
                                      {.weights = weights, .reduction = Reduction::kMean});
                    },
                    [](Forward& f) {
                      Array squares = ref::Map(Scores(f), [](Real x) { return x * x; });
                      return ref::Reduce(squares.values, Doubles(f.Input("weight")), Mean::kOverWeights);
                    },
                    {{"weight", {0.5, 2}}}});
}

// A penalty counts once, however many examples, replicas or rounds without examples there are.
void AddPenalties(std::vector<Model>& models) {
  models.push_back(
      {"regularized_dense",
       [](GraphBuilder& g) {
         Tensor x = g.Input("x", DType::kFloat32, {kBatch, 4});
         x = TD_COVER(layers::Dense, x,
                      {.units = 3, .kernel_regularizer = TD_COVER(L2, 0.05), .bias_regularizer = TD_COVER(L1, 0.04)});
         return Head(g, x) + TD_COVER(losses::RegularizationLoss, &g);
       },
       [](Forward& f) {
         return Head(f, Scores(f)) + ref::Penalty(f.Variable("dense/kernel"), 0, 0.05) +
                ref::Penalty(f.Variable("dense/bias"), 0.04, 0);
       }});
  models.push_back({"regularized_conv",
                    [](GraphBuilder& g) {
                      Tensor x = g.Input("image", DType::kFloat32, {kBatch, 3, 3, 2});
                      x = TD_COVER(layers::Conv2D, x,
                                   {.filters = 2,
                                    .kernel_size = 2,
                                    .kernel_regularizer = TD_COVER(L1L2, 0.01, 0.02),
                                    .bias_regularizer = TD_COVER(L2, 0.3)});
                      return Head(g, x) + TD_COVER(losses::RegularizationLoss, &g);
                    },
                    [](Forward& f) {
                      return Head(f, ref::Conv2D(f, f.Input("image"), "conv2d")) +
                             ref::Penalty(f.Variable("conv2d/kernel"), 0.01, 0.02) +
                             ref::Penalty(f.Variable("conv2d/bias"), 0, 0.3);
                    }});
  models.push_back(
      {"regularized_depthwise",
       [](GraphBuilder& g) {
         Tensor x = g.Input("image", DType::kFloat32, {kBatch, 3, 3, 2});
         x = TD_COVER(
             layers::DepthwiseConv2D, x,
             {.kernel_size = 2, .depthwise_regularizer = TD_COVER(L2, 0.2), .bias_regularizer = TD_COVER(L2, 0.3)});
         return Head(g, x) + TD_COVER(losses::RegularizationLoss, &g);
       },
       [](Forward& f) {
         return Head(f, ref::DepthwiseConv2D(f, f.Input("image"), "depthwise_conv2d")) +
                ref::Penalty(f.Variable("depthwise_conv2d/depthwise_kernel"), 0, 0.2) +
                ref::Penalty(f.Variable("depthwise_conv2d/bias"), 0, 0.3);
       }});
  models.push_back({"regularized_separable",
                    [](GraphBuilder& g) {
                      Tensor x = g.Input("image", DType::kFloat32, {kBatch, 3, 3, 2});
                      x = TD_COVER(layers::SeparableConv2D, x,
                                   {.filters = 2,
                                    .kernel_size = 2,
                                    .depthwise_regularizer = TD_COVER(L2, 0.2),
                                    .pointwise_regularizer = TD_COVER(L1, 0.1),
                                    .bias_regularizer = TD_COVER(L2, 0.3)});
                      return Head(g, x) + TD_COVER(losses::RegularizationLoss, &g);
                    },
                    [](Forward& f) {
                      return Head(f, ref::SeparableConv2D(f, f.Input("image"), "separable_conv2d")) +
                             ref::Penalty(f.Variable("separable_conv2d/depthwise_kernel"), 0, 0.2) +
                             ref::Penalty(f.Variable("separable_conv2d/pointwise_kernel"), 0.1, 0) +
                             ref::Penalty(f.Variable("separable_conv2d/bias"), 0, 0.3);
                    }});
  models.push_back({"regularized_embedding",
                    [](GraphBuilder& g) {
                      Tensor x =
                          TD_COVER(layers::Embedding, g.Input("ids", DType::kInt32, {kBatch, 2}),
                                   {.input_dim = 6, .output_dim = 3, .embeddings_regularizer = TD_COVER(L2, 0.1)});
                      return Head(g, x) + TD_COVER(losses::RegularizationLoss, &g);
                    },
                    [](Forward& f) {
                      return Head(f, ref::Embedding(f, "ids", {2}, "embedding")) +
                             ref::Penalty(f.Variable("embedding/embeddings"), 0, 0.1);
                    }});
  models.push_back({"regularized_attention",
                    [](GraphBuilder& g) {
                      Tensor x = g.Input("x", DType::kFloat32, {kBatch, 2, 3});
                      x = TD_COVER(layers::MultiHeadAttention, x,
                                   {.num_heads = 1, .key_dim = 2, .kernel_regularizer = TD_COVER(L2, 0.1)});
                      return Head(g, x) + TD_COVER(losses::RegularizationLoss, &g);
                    },
                    [](Forward& f) {
                      Real loss = Head(f, ref::Attention(f, f.Input("x"), "multi_head_attention", {}));
                      for (const char* part : {"query", "key", "value", "attention_output"}) {
                        loss = loss + ref::Penalty(f.Variable(std::string("multi_head_attention/") + part + "/kernel"),
                                                   0, 0.1);
                      }
                      return loss;
                    }});
  models.push_back({"regularized_variable",
                    [](GraphBuilder& g) {
                      Tensor w = g.Variable({.name = "w", .shape = {4}});
                      TD_COVER(AddRegularization, w, TD_COVER(L1, 0.2));
                      Tensor x = g.Input("x", DType::kFloat32, {kBatch, 4});
                      return ReduceMean(Square(ReduceSum(x * w, {1}) - 1.0)) + TD_COVER(losses::RegularizationLoss, &g);
                    },
                    [](Forward& f) {
                      std::vector<Real> squares;
                      const Array &x = f.Input("x"), &w = f.Variable("w");
                      for (int64_t r = 0; r < f.rows(); ++r) {
                        Real error = ref::Dot(absl::MakeConstSpan(x.values).subspan(4 * r, 4), w.values) - 1;
                        squares.push_back(error * error);
                      }
                      return ref::Reduce(squares, {}, Mean::kOverExamples) + ref::Penalty(w, 0.2, 0);
                    }});
}

// Losses of labels "labels" and a function of the scores.
struct Pair {
  std::string name;
  std::function<Tensor(GraphBuilder& g, const Tensor& labels, const Tensor& scores)> loss;
  std::function<std::vector<Real>(const Array& labels, const Array& scores)> reference;
  Range labels = {0, 1};
  bool weighted = false;
  Mean mean = Mean::kOverExamples;
};

void AddPairs(std::vector<Model>& models, const std::vector<Pair>& pairs) {
  for (const Pair& pair : pairs) {
    models.push_back({pair.name,
                      [=](GraphBuilder& g) { return pair.loss(g, Dense(g), Scores(g)); },
                      [=](Forward& f) {
                        std::vector<double> weights;
                        if (pair.weighted) weights = Doubles(f.Input("weight"));
                        return ref::Reduce(pair.reference(f.Input("labels"), Scores(f)), weights, pair.mean);
                      },
                      {{"labels", pair.labels}, {"weight", {0.2, 2}}}});
  }
}

// The mean over a row of `f` of a label and a prediction.
std::function<std::vector<Real>(const Array&, const Array&)> Rows(std::function<Real(Real, Real)> f) {
  return [=](const Array& labels, const Array& scores) { return ref::MeanOfRows(labels, scores, f); };
}

void AddBinary(std::vector<Model>& models) {
  const Range zero_or_one = {0, 2, true};
  AddPairs(models,
           {{"binary_crossentropy",
             [](GraphBuilder& g, const Tensor& y, const Tensor& x) {
               return TD_COVER(losses::BinaryCrossEntropy, y, Sigmoid(x),
                               {.weights = Weights(g), .label_smoothing = 0.1});
             },
             Rows([](Real y, Real x) { return ref::BinaryCrossEntropy(y, ref::Sigmoid(x), 0.1); }), zero_or_one, true},
            {"binary_crossentropy_of_any",
             [](GraphBuilder&, const Tensor& y, const Tensor& x) {
               return TD_COVER(losses::BinaryCrossEntropy, y, Sigmoid(x) * 0.9);
             },
             Rows([](Real y, Real x) { return ref::BinaryCrossEntropy(y, ref::Sigmoid(x) * 0.9); }), zero_or_one},
            {"binary_crossentropy_of_logits",
             [](GraphBuilder&, const Tensor& y, const Tensor& x) {
               return TD_COVER(losses::BinaryCrossEntropy, y, x, {.from_logits = true});
             },
             Rows([](Real y, Real x) { return ref::Softplus(x) - x * y; })},
            {"binary_focal",
             [](GraphBuilder& g, const Tensor& y, const Tensor& x) {
               return TD_COVER(losses::BinaryFocalCrossEntropy, y, Sigmoid(x),
                               {.weights = Weights(g), .gamma = 1.5, .alpha = 0.3, .apply_class_balancing = true});
             },
             Rows([](Real y, Real x) { return ref::BinaryFocal(y, ref::Sigmoid(x), 1.5, 0.3); }), zero_or_one, true},
            {"binary_focal_of_any",
             [](GraphBuilder&, const Tensor& y, const Tensor& x) {
               return TD_COVER(losses::BinaryFocalCrossEntropy, y, Sigmoid(x) * 0.9);
             },
             Rows([](Real y, Real x) { return ref::BinaryFocal(y, ref::Sigmoid(x) * 0.9, 2, -1); }), zero_or_one},
            {"binary_focal_of_logits",
             [](GraphBuilder&, const Tensor& y, const Tensor& x) {
               return TD_COVER(losses::BinaryFocalCrossEntropy, y, x, {.label_smoothing = 0.1, .from_logits = true});
             },
             Rows([](Real y, Real x) { return ref::BinaryFocal(y, ref::Sigmoid(x), 2, -1, 0.1); }), zero_or_one},
            {"hinge", [](GraphBuilder&, const Tensor& y, const Tensor& x) { return TD_COVER(losses::Hinge, y, x); },
             Rows(ref::Hinge), zero_or_one},
            {"squared_hinge",
             [](GraphBuilder& g, const Tensor& y, const Tensor& x) {
               return TD_COVER(losses::SquaredHinge, y, x, {.weights = Weights(g)});
             },
             Rows([](Real y, Real x) { return ref::Hinge(y, x) * ref::Hinge(y, x); }),
             {-1, 2, true},
             true}});
}

void AddCategorical(std::vector<Model>& models) {
  AddPairs(
      models,
      {{"categorical_focal",
        [](GraphBuilder& g, const Tensor& y, const Tensor& x) {
          return TD_COVER(losses::CategoricalFocalCrossEntropy, y, Sigmoid(x),
                          {.weights = Weights(g), .reduction = Reduction::kSumOverBatchSize, .gamma = 1.5});
        },
        [](const Array& y, const Array& x) { return ref::CategoricalFocal(y, ref::Map(x, ref::Sigmoid), 1.5, 0.25); },
        {0, 1},
        true},
       {"categorical_focal_of_logits",
        [](GraphBuilder&, const Tensor& y, const Tensor& x) {
          return TD_COVER(losses::CategoricalFocalCrossEntropy, y, x,
                          {.label_smoothing = 0.1, .from_logits = true, .alpha = 0.5});
        },
        [](const Array& y, const Array& x) { return ref::CategoricalFocal(y, ref::Softmax(x), 2, 0.5, 0.1); }},
       {"categorical_hinge",
        [](GraphBuilder&, const Tensor& y, const Tensor& x) { return TD_COVER(losses::CategoricalHinge, y, x); },
        ref::CategoricalHinge},
       {"kl_divergence",
        [](GraphBuilder&, const Tensor& y, const Tensor& x) { return TD_COVER(losses::KLDivergence, y, Softmax(x)); },
        [](const Array& y, const Array& x) { return ref::KLDivergence(y, ref::Softmax(x)); },
        {0.1, 0.9}},
       {"cosine_similarity",
        [](GraphBuilder& g, const Tensor& y, const Tensor& x) {
          return TD_COVER(losses::CosineSimilarity, y, x, {.weights = Weights(g)});
        },
        ref::CosineSimilarity,
        {0.1, 1},
        true}});
  models.push_back({"sparse_categorical_of_shares",
                    [](GraphBuilder& g) {
                      return TD_COVER(losses::SparseCategoricalCrossEntropy, Labels(g), Sigmoid(Scores(g)),
                                      {.weights = Weights(g)});
                    },
                    [](Forward& f) {
                      const Array logits = ref::Map(Scores(f), [](Real x) { return ref::Log(ref::Sigmoid(x)); });
                      return ref::Reduce(ref::SparseSoftmaxCrossEntropy(f.Integers("label"), logits),
                                         Doubles(f.Input("weight")), Mean::kOverExamples);
                    },
                    kSparse});
  models.push_back({"class_weights",
                    [](GraphBuilder& g) {
                      Tensor labels = Labels(g);
                      return TD_COVER(
                          losses::SparseCategoricalCrossEntropy, labels, Scores(g),
                          {.weights = TD_COVER(losses::ClassWeights, labels, {0.5, 1, 4}), .from_logits = true});
                    },
                    [](Forward& f) {
                      std::vector<double> weights;
                      for (int64_t label : f.Integers("label")) weights.push_back(std::vector{0.5, 1.0, 4.0}[label]);
                      return ref::Reduce(ref::SparseSoftmaxCrossEntropy(f.Integers("label"), Scores(f)), weights,
                                         Mean::kOverExamples);
                    },
                    kSparse});
}

void AddRegression(std::vector<Model>& models) {
  AddPairs(
      models,
      {{"absolute_error",
        [](GraphBuilder&, const Tensor& y, const Tensor& x) { return TD_COVER(losses::MeanAbsoluteError, y, x); },
        Rows(ref::AbsoluteError)},
       {"huber",
        [](GraphBuilder& g, const Tensor& y, const Tensor& x) {
          return TD_COVER(losses::Huber, y, x,
                          {.weights = Weights(g), .reduction = Reduction::kSumOverBatchSize, .delta = 0.5});
        },
        Rows([](Real y, Real x) { return ref::Huber(y, x, 0.5); }),
        {0, 1},
        true},
       {"log_cosh", [](GraphBuilder&, const Tensor& y, const Tensor& x) { return TD_COVER(losses::LogCosh, y, x); },
        Rows(ref::LogCosh)},
       {"poisson",
        [](GraphBuilder& g, const Tensor& y, const Tensor& x) {
          return TD_COVER(losses::Poisson, y, Exp(x), {.weights = Weights(g)});
        },
        Rows([](Real y, Real x) { return ref::Poisson(y, ref::Exp(x)); }),
        {0, 4, true},
        true},
       {"percentage_error",
        [](GraphBuilder& g, const Tensor& y, const Tensor& x) {
          return TD_COVER(losses::MeanAbsolutePercentageError, y, x,
                          {.weights = Weights(g), .reduction = Reduction::kSumOverBatchSize});
        },
        Rows(ref::PercentageError),
        {1, 2},
        true},
       {"squared_logarithmic_error",
        [](GraphBuilder& g, const Tensor& y, const Tensor& x) {
          return TD_COVER(losses::MeanSquaredLogarithmicError, y, x,
                          {.weights = Weights(g), .reduction = Reduction::kSumOverBatchSize});
        },
        Rows(ref::SquaredLogarithmicError),
        {0, 3},
        true}});
}

// The losses above once more, with weights and each with another reduction than the default.
void AddReductions(std::vector<Model>& models) {
  const Range zero_or_one = {0, 2, true};
  AddPairs(
      models,
      {{"absolute_error_mean",
        [](GraphBuilder& g, const Tensor& y, const Tensor& x) {
          return TD_COVER(losses::MeanAbsoluteError, y, x, {.weights = Weights(g), .reduction = Reduction::kMean});
        },
        Rows(ref::AbsoluteError),
        {0, 1},
        true,
        Mean::kOverWeights},
       {"log_cosh_sum",
        [](GraphBuilder& g, const Tensor& y, const Tensor& x) {
          return TD_COVER(losses::LogCosh, y, x, {.weights = Weights(g), .reduction = Reduction::kSum});
        },
        Rows(ref::LogCosh),
        {0, 1},
        true,
        Mean::kSum},
       {"poisson_mean",
        [](GraphBuilder& g, const Tensor& y, const Tensor& x) {
          return TD_COVER(losses::Poisson, y, Exp(x), {.weights = Weights(g), .reduction = Reduction::kMean});
        },
        Rows([](Real y, Real x) { return ref::Poisson(y, ref::Exp(x)); }),
        {0, 4, true},
        true,
        Mean::kOverWeights},
       {"hinge_nonzero",
        [](GraphBuilder& g, const Tensor& y, const Tensor& x) {
          return TD_COVER(losses::Hinge, y, x, {.weights = Weights(g), .reduction = Reduction::kSumByNonzeroWeights});
        },
        Rows(ref::Hinge), zero_or_one, true, Mean::kOverNonzero},
       {"squared_hinge_sum",
        [](GraphBuilder& g, const Tensor& y, const Tensor& x) {
          return TD_COVER(losses::SquaredHinge, y, x, {.weights = Weights(g), .reduction = Reduction::kSum});
        },
        Rows([](Real y, Real x) { return ref::Hinge(y, x) * ref::Hinge(y, x); }),
        {-1, 2, true},
        true,
        Mean::kSum},
       {"categorical_hinge_mean",
        [](GraphBuilder& g, const Tensor& y, const Tensor& x) {
          return TD_COVER(losses::CategoricalHinge, y, x, {.weights = Weights(g), .reduction = Reduction::kMean});
        },
        ref::CategoricalHinge,
        {0, 1},
        true,
        Mean::kOverWeights},
       {"kl_divergence_nonzero",
        [](GraphBuilder& g, const Tensor& y, const Tensor& x) {
          return TD_COVER(losses::KLDivergence, y, Softmax(x),
                          {.weights = Weights(g), .reduction = Reduction::kSumByNonzeroWeights});
        },
        [](const Array& y, const Array& x) { return ref::KLDivergence(y, ref::Softmax(x)); },
        {0.1, 0.9},
        true,
        Mean::kOverNonzero},
       {"cosine_similarity_sum",
        [](GraphBuilder& g, const Tensor& y, const Tensor& x) {
          return TD_COVER(losses::CosineSimilarity, y, x, {.weights = Weights(g), .reduction = Reduction::kSum});
        },
        ref::CosineSimilarity,
        {0.1, 1},
        true,
        Mean::kSum},
       {"binary_crossentropy_mean",
        [](GraphBuilder& g, const Tensor& y, const Tensor& x) {
          return TD_COVER(losses::BinaryCrossEntropy, y, Sigmoid(x),
                          {.weights = Weights(g), .reduction = Reduction::kMean});
        },
        Rows([](Real y, Real x) { return ref::BinaryCrossEntropy(y, ref::Sigmoid(x)); }), zero_or_one, true,
        Mean::kOverWeights},
       {"binary_focal_sum",
        [](GraphBuilder& g, const Tensor& y, const Tensor& x) {
          return TD_COVER(losses::BinaryFocalCrossEntropy, y, Sigmoid(x),
                          {.weights = Weights(g), .reduction = Reduction::kSum, .gamma = 1.5});
        },
        Rows([](Real y, Real x) { return ref::BinaryFocal(y, ref::Sigmoid(x), 1.5); }), zero_or_one, true, Mean::kSum},
       {"categorical_cross_entropy_of_logits",
        [](GraphBuilder& g, const Tensor& y, const Tensor& x) {
          return TD_COVER(losses::CategoricalCrossEntropy, y, x,
                          {.weights = Weights(g), .reduction = Reduction::kMean, .from_logits = true});
        },
        [](const Array& y, const Array& x) { return ref::SoftmaxCrossEntropy(y, x); },
        {0, 1},
        true,
        Mean::kOverWeights}});
  models.push_back({"sparse_categorical_sum",
                    [](GraphBuilder& g) {
                      return TD_COVER(losses::SparseCategoricalCrossEntropy, Labels(g), Sigmoid(Scores(g)),
                                      {.weights = Weights(g), .reduction = Reduction::kSum});
                    },
                    [](Forward& f) {
                      const Array logits = ref::Map(Scores(f), [](Real x) { return ref::Log(ref::Sigmoid(x)); });
                      return ref::Reduce(ref::SparseSoftmaxCrossEntropy(f.Integers("label"), logits),
                                         Doubles(f.Input("weight")), Mean::kSum);
                    },
                    kSparse});
}

}  // namespace

std::vector<Model> LossModels() {
  std::vector<Model> models;
  AddSparse(models);
  AddPositions(models);
  AddDense(models);
  AddSquares(models);
  AddBinary(models);
  AddCategorical(models);
  AddRegression(models);
  AddReductions(models);
  AddPenalties(models);
  return models;
}

}  // namespace tandem::oracle

#include "frontends/losses.h"

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "frontends/metrics.h"
#include "frontends/optimizers.h"
#include "frontends/testing.h"
#include "graph/logits.h"
#include "graph/ops.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

using frontends::ErrorMismatch;
using frontends::Feed;
using frontends::Fetched;
using frontends::Floats;
using frontends::Ints;
using frontends::RunStep;
using frontends::Values;
using losses::Reduction;

constexpr char kFile[] = "losses_test.cc";
const Values kLogits = {1, 2, 0.5, -1, 0, 3, 0.25, 0.5, 0.75};  // [3, 3]
const Values kLabels = {1, 0, 2};
const Values kOneHot = {0, 1, 0, 1, 0, 0, 0, 0, 1};
const Values kWeights = {2, 0, 0.5};

double LogSumExp(int row) {
  double sum = 0;
  for (int j = 0; j < 3; ++j) sum += std::exp(kLogits[row * 3 + j]);
  return std::log(sum);
}

// Cross-entropy of every row with its label.
Values RowLosses() {
  Values losses;
  for (int i = 0; i < 3; ++i) losses.push_back(LogSumExp(i) - kLogits[i * 3 + static_cast<int>(kLabels[i])]);
  return losses;
}

struct Inputs {
  GraphBuilder graph;
  Tensor labels = graph.Input("labels", DType::kInt32, {kBatch});
  Tensor one_hot = graph.Input("one_hot", DType::kFloat32, {kBatch, 3});
  Tensor logits = graph.Input("logits", DType::kFloat32, {kBatch, 3});
  Tensor weights = graph.Input("weights", DType::kFloat32, {kBatch});
  Feed feed{.batch = 3,
            .inputs = {{"labels", Ints({3}, kLabels)},
                       {"one_hot", Floats({3, 3}, kOneHot)},
                       {"logits", Floats({3, 3}, kLogits)},
                       {"weights", Floats({3}, kWeights)}}};
};

double Scalar(Fetched& fetched, const std::string& name) {
  const Values& values = fetched.outputs[name];
  EXPECT_EQ(values.size(), 1u) << name;
  return values.empty() ? NAN : values[0];
}

TEST(LossesTest, CrossEntropyWithEveryReduction) {
  Inputs in;
  struct Case {
    Reduction reduction;
    bool weighted;
    double expected;
  };
  const Values l = RowLosses();
  const double sum = l[0] + l[1] + l[2], weighted = 2 * l[0] + 0.5 * l[2];
  const Case cases[] = {{Reduction::kSumOverBatchSize, false, sum / 3},
                        {Reduction::kSumOverBatchSize, true, weighted / 3},
                        {Reduction::kSum, false, sum},
                        {Reduction::kSum, true, weighted},
                        {Reduction::kMean, false, sum / 3},
                        {Reduction::kMean, true, weighted / 2.5},
                        {Reduction::kSumByNonzeroWeights, false, sum / 3},
                        {Reduction::kSumByNonzeroWeights, true, weighted / 2}};
  int i = 0;
  for (const Case& c : cases) {
    losses::LossOptions options{.weights = c.weighted ? in.weights : Tensor(), .reduction = c.reduction};
    std::string n = std::to_string(i++);
    in.graph.Output("sparse" + n, losses::SparseSoftmaxCrossEntropy(in.labels, in.logits, options));
    in.graph.Output("dense" + n, losses::SoftmaxCrossEntropy(in.one_hot, in.logits, options));
  }
  in.graph.Output("none", losses::SparseSoftmaxCrossEntropy(in.labels, in.logits,
                                                            {.weights = in.weights, .reduction = Reduction::kNone}));
  Fetched got = RunStep(in.graph, in.feed);
  i = 0;
  for (const Case& c : cases) {
    std::string n = std::to_string(i++);
    EXPECT_NEAR(Scalar(got, "sparse" + n), c.expected, 1e-5) << n;
    EXPECT_NEAR(Scalar(got, "dense" + n), c.expected, 1e-5) << n;
  }
  ASSERT_EQ(got.outputs["none"].size(), 3u);
  for (int r = 0; r < 3; ++r) EXPECT_NEAR(got.outputs["none"][r], l[r] * kWeights[r], 1e-5);
}

TEST(LossesTest, WeightsThatAreAllZeroGiveZero) {
  Inputs in;
  in.graph.Output("mean", losses::SparseSoftmaxCrossEntropy(in.labels, in.logits,
                                                            {.weights = in.weights, .reduction = Reduction::kMean}));
  in.feed.inputs["weights"] = Floats({3}, {0, 0, 0});
  Fetched got = RunStep(in.graph, in.feed);
  EXPECT_EQ(Scalar(got, "mean"), 0);
}

// Three positions of two classes in each example.
TEST(LossesTest, CrossEntropyOfPositions) {
  Inputs in;
  Tensor numbers = Cast(in.one_hot, DType::kInt32);  // [b, 3]
  Tensor logits = Reshape(Concat({in.logits, 1.0 - in.logits}, 1), {kBatch, 3, 2});
  in.graph.Output("sparse", losses::SparseSoftmaxCrossEntropy(numbers, logits, {.reduction = Reduction::kNone}));
  in.graph.Output("column", losses::SparseCategoricalCrossEntropy(Reshape(numbers, {kBatch, 3, 1}), Softmax(logits)));
  in.graph.Output("dense", losses::SoftmaxCrossEntropy(OneHot(numbers, 2), logits, {.label_smoothing = 0}));
  in.graph.Output("masked", losses::SparseSoftmaxCrossEntropy(numbers, logits,
                                                              {.weights = in.one_hot, .reduction = Reduction::kMean}));
  Fetched got = RunStep(in.graph, in.feed);
  ASSERT_EQ(got.outputs["sparse"].size(), 9u);
  double sum = 0, masked = 0;
  for (int i = 0; i < 9; ++i) {
    auto logit = [&](int k) {  // of position i: its row of logits is followed by 1 minus it
      const int at = 2 * (i % 3) + k;
      return at < 3 ? kLogits[i / 3 * 3 + at] : 1 - kLogits[i / 3 * 3 + at - 3];
    };
    const int label = static_cast<int>(kOneHot[i]);
    const double loss = std::log(std::exp(logit(0)) + std::exp(logit(1))) - logit(label);
    EXPECT_NEAR(got.outputs["sparse"][i], loss, 1e-5) << i;
    sum += loss / 9;
    masked += label * loss / 3;
  }
  EXPECT_NEAR(Scalar(got, "column"), sum, 1e-5);
  EXPECT_NEAR(Scalar(got, "dense"), sum, 1e-5);
  EXPECT_NEAR(Scalar(got, "masked"), masked, 1e-5);
}

TEST(LossesTest, LabelsThatFollowFromVariablesGetAGradientWhereKerasGivesThemOne) {
  using Loss = Tensor (*)(const Tensor&, const Tensor&, const losses::LossOptions&, SourceLocation);
  const auto trained = [](Loss loss, const losses::LossOptions& options) {
    Inputs in;
    Tensor labels = Softmax(in.logits * in.graph.Variable({.name = "teacher", .shape = {3}}));
    Tensor logits = in.logits * in.graph.Variable({.name = "student", .shape = {3}});
    std::string names;
    for (const GradientAndVariable& g : optimizers::SGD({.learning_rate = 1})
                                            .ComputeGradients(loss(labels, logits, options, SourceLocation::Current())))
      if (!g.gradient.empty()) names += g.name + " ";
    return names;
  };
  EXPECT_EQ(trained(losses::CategoricalCrossEntropy, {.from_logits = true}), "teacher student ");
  EXPECT_EQ(trained(losses::SoftmaxCrossEntropy, {}), "student ");
}

TEST(LossesTest, LabelSmoothing) {
  Inputs in;
  in.graph.Output("loss", losses::SoftmaxCrossEntropy(in.one_hot, in.logits, {.label_smoothing = 0.3}));
  double expected = 0;
  for (int i = 0; i < 9; ++i) expected += (kOneHot[i] * 0.7 + 0.1) * (LogSumExp(i / 3) - kLogits[i]) / 3;
  Fetched got = RunStep(in.graph, in.feed);
  EXPECT_NEAR(Scalar(got, "loss"), expected, 1e-5);
}

TEST(LossesTest, CategoricalCrossEntropyUsesTheLogitsOfASoftmax) {
  Inputs in;
  Tensor probabilities = Softmax(in.logits);
  EXPECT_TRUE(SoftmaxLogits(probabilities) == in.logits);
  EXPECT_FALSE(SoftmaxLogits(in.logits).ok());
  in.graph.Output("loss", losses::CategoricalCrossEntropy(in.one_hot, probabilities));
  // Through the probabilities this loss would be log(1e-7).
  in.feed.inputs["logits"] = Floats({3, 3}, {100, 0, 0, 100, 0, 0, 0, 0, 100});
  Fetched got = RunStep(in.graph, in.feed);
  EXPECT_NEAR(Scalar(got, "loss"), 100.0 / 3, 1e-4);
}

TEST(LossesTest, CategoricalCrossEntropyOfGivenProbabilities) {
  Inputs in;
  in.graph.Output("loss", losses::CategoricalCrossEntropy(in.one_hot, in.logits, {.reduction = Reduction::kNone}));
  in.feed.inputs["logits"] = Floats({3, 3}, {1, 2, 1, 0, 0.5, 0.5, 0, 0, 3});
  Fetched got = RunStep(in.graph, in.feed);
  ASSERT_EQ(got.outputs["loss"].size(), 3u);
  EXPECT_NEAR(got.outputs["loss"][0], std::log(2), 1e-5);
  EXPECT_NEAR(got.outputs["loss"][1], -std::log(1e-7), 1e-3);
  EXPECT_NEAR(got.outputs["loss"][2], 0, 1e-6);
}

TEST(LossesTest, BinaryCrossEntropyUsesTheLogitsOfASigmoid) {
  Inputs in;
  Tensor probabilities = Sigmoid(in.logits);
  EXPECT_TRUE(SigmoidLogits(probabilities) == in.logits);
  EXPECT_FALSE(SigmoidLogits(Softmax(in.logits)).ok());
  Tensor loss = losses::BinaryCrossEntropy(in.one_hot, probabilities, {.reduction = Reduction::kSum});
  in.graph.Output("loss", loss);
  in.graph.Output("focal", losses::BinaryFocalCrossEntropy(in.one_hot, probabilities, {.reduction = Reduction::kSum}));
  in.graph.Output("gradient", in.graph.Gradients(loss, {in.logits})[0]);
  // The labels 0, 1, 0 with the certain and wrong answers 1, 0, 1; through the probabilities this loss would be
  // log(1e-7), and without a gradient.
  in.feed.inputs["logits"] = Floats({3, 3}, {100, -100, 100, 100, -100, -100, -100, -100, 100});
  Fetched got = RunStep(in.graph, in.feed);
  EXPECT_NEAR(Scalar(got, "loss"), 100, 1e-4);
  EXPECT_NEAR(Scalar(got, "focal"), 100, 1e-4);
  EXPECT_NEAR(got.outputs["gradient"][0], 1.0 / 3, 1e-6);
}

TEST(LossesTest, MeanSquaredError) {
  Inputs in;
  in.graph.Output("matrix", losses::MeanSquaredError(in.one_hot, in.logits));
  Tensor column = Reshape(in.weights, {kBatch, 1});
  in.graph.Output("column", losses::MeanSquaredError(in.labels, column, {.reduction = Reduction::kSum}));
  double expected = 0;
  for (int i = 0; i < 9; ++i) expected += std::pow(kLogits[i] - kOneHot[i], 2) / 9;
  Fetched got = RunStep(in.graph, in.feed);
  EXPECT_NEAR(Scalar(got, "matrix"), expected, 1e-5);
  EXPECT_NEAR(Scalar(got, "column"), 1 + 0 + 2.25, 1e-5);
}

// What the golden cases of tests/golden have none of: vectors and more than one axis behind the batch.
TEST(LossesTest, RowsOfEveryRank) {
  Inputs in;
  Tensor vector = in.weights, column = Reshape(in.weights, {kBatch, 1});
  in.graph.Output("vector", losses::MeanAbsoluteError(in.labels, vector, {.reduction = Reduction::kNone}));
  in.graph.Output("column", losses::MeanAbsoluteError(in.labels, column, {.reduction = Reduction::kNone}));
  Tensor image = Reshape(in.logits, {kBatch, 3, 1}), target = Reshape(in.one_hot, {kBatch, 3, 1});
  in.graph.Output("positions", losses::MeanAbsoluteError(target, image, {.reduction = Reduction::kNone}));
  in.graph.Output("weighted", losses::Huber(target, image, {.weights = in.weights, .delta = 100}));
  Fetched got = RunStep(in.graph, in.feed);
  EXPECT_EQ(got.outputs["vector"], (Values{1, 0, 1.5}));
  EXPECT_EQ(got.outputs["column"], (Values{1, 0, 1.5}));
  ASSERT_EQ(got.outputs["positions"].size(), 9u);
  double expected = 0;
  for (int i = 0; i < 9; ++i) {
    const double error = kLogits[i] - kOneHot[i];
    EXPECT_NEAR(got.outputs["positions"][i], std::abs(error), 1e-6);
    expected += kWeights[i / 3] * error * error / 2 / 9;
  }
  EXPECT_NEAR(Scalar(got, "weighted"), expected, 1e-5);
}

TEST(LossesTest, ClassWeights) {
  Inputs in;
  in.graph.Output("sparse", losses::ClassWeights(in.labels, {0.5, 1, 20}));
  in.graph.Output("column", losses::ClassWeights(Reshape(in.labels, {kBatch, 1}), {0.5, 1, 20}));
  in.graph.Output("one_hot", losses::ClassWeights(in.one_hot, {0.5, 1, 20}));
  in.graph.Output("bytes", losses::ClassWeights(Cast(in.labels, DType::kUInt8), {0.5, 1, 20}));
  Fetched got = RunStep(in.graph, in.feed);
  for (const char* name : {"sparse", "column", "one_hot", "bytes"}) {
    EXPECT_EQ(got.outputs[name], (Values{1, 0.5, 20})) << name;
  }
}

TEST(LossesTest, ErrorsSayWhatAndWhere) {
  struct Case {
    void (*build)(Inputs&);
    const char* text;
  };
  const Case cases[] = {
      {[](Inputs& in) { losses::SparseSoftmaxCrossEntropy(in.one_hot, in.logits); }, "use losses::SoftmaxCrossEntropy"},
      {[](Inputs& in) { losses::SparseSoftmaxCrossEntropy(in.weights, in.logits); }, "Cast(labels, DType::kInt32)"},
      {[](Inputs& in) { losses::SparseSoftmaxCrossEntropy(in.labels, in.weights); }, "`logits` must be"},
      {[](Inputs& in) { losses::SparseSoftmaxCrossEntropy(Tensor(), in.logits); }, "`labels` is an empty Tensor"},
      {[](Inputs& in) { losses::SoftmaxCrossEntropy(in.labels, in.logits); }, "use losses::SparseSoftmaxCrossEntropy"},
      {[](Inputs& in) { losses::SoftmaxCrossEntropy(in.one_hot, in.logits, {.label_smoothing = 2}); },
       "`label_smoothing`"},
      {[](Inputs& in) { losses::SoftmaxCrossEntropy(in.one_hot, in.logits, {.weights = in.one_hot}); },
       "one weight per example"},
      {[](Inputs& in) { losses::MeanSquaredError(in.one_hot, in.weights); }, "must have the same shape"},
      {[](Inputs& in) { losses::MeanSquaredError(in.labels, in.labels); }, "must be floating point"},
      {[](Inputs& in) { losses::KLDivergence(in.one_hot, in.logits, {.from_logits = true}); },
       "`from_logits` is not for this loss; pass what it takes, such as Softmax(x)"},
      {[](Inputs& in) { losses::Hinge(in.one_hot, in.logits, {.label_smoothing = 0.1}); },
       "`label_smoothing` is not for this loss; it is for cross entropies"},
      {[](Inputs& in) { metrics::Accuracy(in.labels, Sigmoid(in.weights)); },
       "`predictions` float32 [b] are no class numbers; for probabilities of two classes use metrics::BinaryAccuracy"},
      {[](Inputs& in) {
         metrics::Accuracy(in.labels, Reshape(in.logits, {kBatch, 3, 1}));
       },
       "labels are class numbers [b, ...] or one-hot [b, ..., classes]"},
      {[](Inputs& in) { metrics::Mean(ReduceMean(in.weights), {.weights = in.weights}); }, "a scalar takes no weights"},
  };
  for (const Case& c : cases) {
    Inputs in;
    c.build(in);
    EXPECT_EQ(ErrorMismatch(in.graph, c.text, kFile), "");
  }
  GraphBuilder other;
  Inputs in;
  losses::SparseSoftmaxCrossEntropy(other.Input("labels", DType::kInt32, {kBatch}), in.logits);
  EXPECT_EQ(ErrorMismatch(other, "`logits` belongs to another graph", kFile), "");
}

TEST(MetricsTest, AccuracyOfEveryKindOfLabel) {
  Inputs in;
  auto output = [&](const std::string& name, const Metric& metric) {
    in.graph.Output(name + "/total", metric.total);
    in.graph.Output(name + "/count", metric.count);
  };
  // The rows' largest logits are 1, 2, 2; the labels 1, 0, 2.
  output("sparse", metrics::Accuracy(in.labels, ArgMax(in.logits, -1)));
  output("scores", metrics::Accuracy(Reshape(in.labels, {kBatch, 1}), in.logits));
  output("one_hot", metrics::Accuracy(in.one_hot, in.logits));
  output("weighted", metrics::Accuracy(in.labels, in.logits, {.weights = in.weights}));
  // Three positions of each example: the class numbers 0, 1, 0; 1, 0, 0; 0, 0, 1 against 1, 2, 0; -1, 0, 3; 0, 0, 0.
  Tensor positions = Cast(in.one_hot, DType::kInt32), numbers = Cast(in.logits, DType::kInt32);
  output("scores of positions", metrics::Accuracy(positions, OneHot(positions, 3)));
  output("one-hot positions", metrics::Accuracy(OneHot(positions, 3), positions));
  output("numbers of positions", metrics::Accuracy(positions, numbers));
  output("weighted positions", metrics::Accuracy(positions, numbers, {.weights = in.weights}));
  output("masked positions", metrics::Accuracy(positions, numbers, {.weights = 1.0 - in.one_hot}));
  Fetched got = RunStep(in.graph, in.feed);
  for (const std::string name : {"sparse", "scores", "one_hot"}) {
    EXPECT_EQ(Scalar(got, name + "/total"), 2) << name;
    EXPECT_EQ(Scalar(got, name + "/count"), 3) << name;
  }
  EXPECT_EQ(Scalar(got, "weighted/total"), 2.5);
  EXPECT_EQ(Scalar(got, "weighted/count"), 2.5);
  const std::map<std::string, std::pair<double, double>> of_positions = {{"scores of positions", {9, 9}},
                                                                         {"one-hot positions", {9, 9}},
                                                                         {"numbers of positions", {4, 9}},
                                                                         {"weighted positions", {3, 7.5}},
                                                                         {"masked positions", {4, 6}}};
  for (const auto& [name, expected] : of_positions) {
    EXPECT_EQ(Scalar(got, name + "/total"), expected.first) << name;
    EXPECT_EQ(Scalar(got, name + "/count"), expected.second) << name;
  }
}

// A class that is masked has the score -inf; what is no number is never right.
TEST(MetricsTest, TopKAccuracyOfScoresThatAreNotFinite) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const std::pair<Values, int> cases[] = {
      // The labels are 1, 0, 2; the number of hits.
      {{-inf, 1, 2, 2, -inf, 1, 2, 1, -inf}, 1},  // of a row whose label is not among the best, one that is, one masked
      {{1, nan, 0, nan, nan, nan, 0, 0, 1}, 1},
      {{nan, 5, nan, 3, nan, 0, 0, 1, 2}, 1},  // NaN counts as better than the label
      {{inf, 1, 0, 1, inf, 0, 0, 0, inf}, 0},
  };
  for (const auto& [scores, hits] : cases) {
    Inputs in;
    in.graph.Output("total", metrics::TopKAccuracy(in.labels, in.logits, {.k = 1}).total);
    in.feed.inputs["logits"] = Floats({3, 3}, scores);
    Fetched got = RunStep(in.graph, in.feed);
    EXPECT_EQ(Scalar(got, "total"), hits);
  }
}

TEST(MetricsTest, PercentilesOfWhatIsNoNumber) {
  for (const double value : {0.25, std::numeric_limits<double>::quiet_NaN()}) {
    Inputs in;
    const Metric metric = metrics::Percentiles(in.weights, {.percentiles = {100}, .bins = 4});
    in.graph.Output("histogram", metric.sums.at("histogram"));
    in.feed.inputs["weights"] = Floats({3}, {0.25, value, 0.5});
    Fetched got = RunStep(in.graph, in.feed);
    const auto result = metric.result({{"histogram", got.outputs["histogram"]}});
    ASSERT_TRUE(result.ok()) << result.status();
    const double percentile = result->tensor.data<double>()[0];
    EXPECT_EQ(std::isnan(percentile), std::isnan(value));
    if (!std::isnan(value)) {
      EXPECT_EQ(percentile, 0.75);
    }
  }
}

TEST(MetricsTest, MeanCountsExamples) {
  Inputs in;
  Metric vector = metrics::Mean(in.weights), matrix = metrics::Mean(in.logits, {.weights = in.weights});
  Metric scalar = metrics::Mean(ReduceMean(in.weights)), plain = metrics::Mean(in.logits);
  in.graph.Output("vector", vector.total);
  in.graph.Output("vector_count", vector.count);
  in.graph.Output("matrix", matrix.total);
  in.graph.Output("matrix_count", matrix.count);
  in.graph.Output("scalar", scalar.total);
  in.graph.Output("scalar_count", scalar.count);
  in.graph.Output("plain_count", plain.count);
  Fetched got = RunStep(in.graph, in.feed);
  EXPECT_NEAR(Scalar(got, "vector"), 2.5, 1e-6);
  EXPECT_EQ(Scalar(got, "vector_count"), 3);
  EXPECT_NEAR(Scalar(got, "matrix"), 2 * 3.5 + 0.5 * 1.5, 1e-6);
  EXPECT_NEAR(Scalar(got, "matrix_count"), 7.5, 1e-6);
  EXPECT_NEAR(Scalar(got, "scalar"), 2.5, 1e-6);
  EXPECT_EQ(Scalar(got, "scalar_count"), 3);
  EXPECT_EQ(Scalar(got, "plain_count"), 9);
}

}  // namespace
}  // namespace tandem

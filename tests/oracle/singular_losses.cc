// Singular points of losses. What is right is computed in double precision from the probability of the wrong answer,
// which loses no digits where a prediction is sure.
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "frontends/losses.h"
#include "graph/ops.h"
#include "tests/oracle/singular_points.h"

namespace tandem::oracle {
namespace {

using losses::FocalOptions;
using losses::LossOptions;
using losses::Reduction;
using Operands = std::vector<Tensor>;

constexpr char kCalculus[] = "calculus";
constexpr char kIeee[] = "IEEE 754";
constexpr char kKeras[] = "Keras";
constexpr char kCut[] = "Keras: probabilities are cut to [1e-7, 1 - 1e-7], and what is cut has no slope";
const double kCutLoss = -std::log(1e-7);

// Of labels and predictions.
template <typename Options>
std::function<Tensor(const Operands&)> Each(Tensor (*loss)(const Tensor&, const Tensor&, const Options&,
                                                           SourceLocation),
                                            Options options = {}) {
  options.reduction = Reduction::kNone;
  return [=](const Operands& in) { return loss(in[0], in[1], options, SourceLocation::Current()); };
}
template <typename Options>
std::function<Tensor(const Operands&)> OfSigmoid(Tensor (*loss)(const Tensor&, const Tensor&, const Options&,
                                                                SourceLocation),
                                                 Options options = {}) {
  options.reduction = Reduction::kNone;
  return [=](const Operands& in) { return loss(in[0], Sigmoid(in[1]), options, SourceLocation::Current()); };
}

double Probability(double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }
double LogOnePlusExp(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

const double kLogits[] = {0, 5, -5, 17, -17, 40, -40, 100, -100, 1e4, -1e4, 1e20, -1e20, 1e38, -1e38};

std::vector<SingularPoint> BinaryPoints(double smoothing) {
  std::vector<SingularPoint> points;
  for (double label : {0.0, 1.0}) {
    const double y = label * (1 - smoothing) + smoothing / 2;
    for (double x : kLogits) {
      // y softplus(-x) + (1 - y) softplus(x), where a share of nothing of an infinite loss is 0.
      const double value = (y > 0 ? y * LogOnePlusExp(-x) : 0) + (y < 1 ? (1 - y) * LogOnePlusExp(x) : 0);
      points.push_back(LossAt({label}, {x}, value, {Probability(x) - y}, kCalculus));
    }
  }
  return points;
}

// s^gamma softplus(x') with s = sigmoid(x') the probability of the other label, x' the logit for it.
std::vector<SingularPoint> FocalPoints(double gamma) {
  std::vector<SingularPoint> points;
  for (double label : {0.0, 1.0}) {
    const double sign = label == 0 ? 1 : -1;
    for (double logit : kLogits) {
      const double x = sign * logit, s = Probability(x), loss = LogOnePlusExp(x);
      // Where s underflows, loss is s as well: both terms are powers of s above 0.
      const double slope = s == 0 ? 0 : gamma * std::pow(s, gamma) * Probability(-x) * loss + std::pow(s, gamma) * s;
      points.push_back(LossAt({label}, {logit}, s == 0 ? 0 : std::pow(s, gamma) * loss, {sign * slope}, kCalculus));
    }
  }
  return points;
}

// With labels moved to 1/2 by a tenth: (1 - q)^gamma of q = y p + (1 - y) (1 - p).
std::vector<SingularPoint> SmoothedFocalPoints(double gamma) {
  std::vector<SingularPoint> points;
  for (double label : {0.0, 1.0}) {
    const double y = label * 0.9 + 0.05;
    for (double x : kLogits) {
      const double p = Probability(x), rest = Probability(-x), wrong = y * rest + (1 - y) * p;
      const double loss = y * LogOnePlusExp(-x) + (1 - y) * LogOnePlusExp(x);
      const double slope = gamma * std::pow(wrong, gamma - 1) * (1 - 2 * y) * p * rest * loss;
      points.push_back(
          LossAt({label}, {x}, std::pow(wrong, gamma) * loss, {slope + std::pow(wrong, gamma) * (p - y)}, kCalculus));
    }
  }
  return points;
}

std::vector<SingularRow> BinaryRows() {
  using losses::BinaryCrossEntropy;
  using losses::BinaryFocalCrossEntropy;
  std::vector<SingularRow> rows;
  for (double smoothing : {0.0, 0.1}) {
    const std::string suffix = smoothing > 0 ? "Smoothed" : "";
    rows.push_back({"BinaryOfLogits" + suffix,
                    Each<LossOptions>(BinaryCrossEntropy, {.label_smoothing = smoothing, .from_logits = true}),
                    BinaryPoints(smoothing), 1e-6});
    rows.push_back({"BinaryOfSigmoid" + suffix,
                    OfSigmoid<LossOptions>(BinaryCrossEntropy, {.label_smoothing = smoothing}), BinaryPoints(smoothing),
                    1e-6});
  }
  const std::string infinite = "IEEE 754: max(x, 0) - x y is inf - inf, as tf.nn.sigmoid_cross_entropy_with_logits";
  rows.push_back({"BinaryOfInfiniteLogits",
                  Each<LossOptions>(BinaryCrossEntropy, {.from_logits = true}),
                  {LossAt({1}, {kInf}, kNaN, {0}, infinite), LossAt({0}, {-kInf}, kNaN, {0}, infinite),
                   LossAt({1}, {-kInf}, kInf, {-1}, kCalculus)}});
  // 1 - 1e-7 has one digit in float32.
  rows.push_back({"Binary",
                  Each<LossOptions>(BinaryCrossEntropy),
                  {LossAt({1}, {1}, 0, {0}, kCut), LossAt({0}, {0}, 0, {0}, kCut),
                   LossAt({1}, {0}, -std::log(2e-7), {0}, kCut), LossAt({0}, {1}, -std::log(2e-7), {0}, kCut)},
                  0.2});
  for (double gamma : {0.0, 0.01, 0.5, 1.0, 2.0}) {
    const std::string suffix = absl::StrCat("WithGamma", gamma);
    rows.push_back({"FocalOfLogits" + suffix,
                    Each<FocalOptions>(BinaryFocalCrossEntropy, {.from_logits = true, .gamma = gamma}),
                    FocalPoints(gamma), 2e-6});
    rows.push_back({"FocalOfSigmoid" + suffix, OfSigmoid<FocalOptions>(BinaryFocalCrossEntropy, {.gamma = gamma}),
                    FocalPoints(gamma), 2e-6});
    rows.push_back(
        {"FocalSmoothed" + suffix,
         Each<FocalOptions>(BinaryFocalCrossEntropy, {.label_smoothing = 0.1, .from_logits = true, .gamma = gamma}),
         SmoothedFocalPoints(gamma), 2e-6});
    // Sure and right: (1 - p)^gamma (-log p) is (1 - p)^(1 + gamma) there.
    rows.push_back({"FocalOfProbabilities" + suffix,
                    Each<FocalOptions>(BinaryFocalCrossEntropy, {.gamma = gamma}),
                    {LossAt({1}, {1}, 0, {0}, kCalculus), LossAt({0}, {0}, 0, {0}, kCalculus)},
                    1e-6});
    // And wrong: the factor has a slope, the loss, which is cut, has none.
    const double worst = -std::log(2e-7);
    rows.push_back({"FocalOfWrong" + suffix,
                    Each<FocalOptions>(BinaryFocalCrossEntropy, {.gamma = gamma}),
                    {LossAt({1}, {0}, worst, {-gamma * worst}, kCut), LossAt({0}, {1}, worst, {gamma * worst}, kCut)},
                    0.4});
  }
  rows.push_back({"FocalWithAlpha",
                  Each<FocalOptions>(BinaryFocalCrossEntropy,
                                     {.from_logits = true, .gamma = 0.5, .alpha = 0.25, .apply_class_balancing = true}),
                  {LossAt({1}, {1e4}, 0, {0}, kCalculus), LossAt({1}, {-1e4}, 2500, {-0.25}, kCalculus),
                   LossAt({0}, {1e4}, 7500, {0.75}, kCalculus), LossAt({0}, {-1e4}, 0, {0}, kCalculus)},
                  1e-6});
  return rows;
}

std::vector<SingularRow> CategoricalRows() {
  using losses::CategoricalCrossEntropy;
  using losses::CategoricalFocalCrossEntropy;
  using losses::SparseCategoricalCrossEntropy;
  const std::string zero_row = "Keras: probabilities are divided by their sum, here 0 / 0";
  // Of the two classes' logits x and 0.
  std::vector<SingularPoint> points, sparse_points;
  for (int label : {0, 1}) {
    for (double x : kLogits) {
      const double value = label == 0 ? LogOnePlusExp(-x) : LogOnePlusExp(x), slope = Probability(x) - (label == 0);
      points.push_back(
          LossAt({label == 0 ? 1.0 : 0.0, label == 0 ? 0.0 : 1.0}, {x, 0}, value, {slope, -slope}, kCalculus));
      sparse_points.push_back(LossAt({static_cast<double>(label)}, {x, 0}, value, {slope, -slope}, kCalculus));
    }
  }
  const std::vector<SingularPoint> sure = {
      LossAt({1, 0}, {1, 0}, 0, {0, 0}, kCut), LossAt({0, 1}, {0, 1}, 0, {0, 0}, kCut),
      LossAt({1, 0}, {0, 1}, kCutLoss, {0, 0}, kCut), LossAt({0, 0}, {0, 1}, 0, {0, 0}, kCut),
      LossAt({1, 0}, {0, 0}, kNaN, {kNaN, kNaN}, zero_row)};
  auto sparse = [](LossOptions options, bool softmax) {
    options.reduction = Reduction::kNone;
    return [=](const Operands& in) {
      return SparseCategoricalCrossEntropy(Cast(in[0], DType::kInt32), softmax ? Softmax(in[1]) : in[1], options);
    };
  };
  std::vector<SingularRow> rows = {
      {"CategoricalOfLogits", Each<LossOptions>(CategoricalCrossEntropy, {.from_logits = true}), points, 1e-6},
      {"SparseOfLogits", sparse({.from_logits = true}, false), sparse_points, 1e-6},
      {"SparseOfSoftmax", sparse({}, true), sparse_points, 1e-6},
      {"Categorical", Each<LossOptions>(CategoricalCrossEntropy), sure, 1e-5},
      {"Sparse",
       sparse({}, false),
       {LossAt({0}, {1, 0}, 0, {0, 0}, kCut), LossAt({1}, {1, 0}, kCutLoss, {0, 0}, kCut),
        LossAt({0}, {0, 0}, std::log(2), {0, 0}, kCut)},
       1e-5},
      {"SoftmaxSmoothed",
       Each<LossOptions>(losses::SoftmaxCrossEntropy, {.label_smoothing = 0.1}),
       {LossAt({1, 0}, {1e4, 0}, 500, {0.05, -0.05}, kCalculus),
        LossAt({0, 1}, {1e4, 0}, 9500, {0.95, -0.95}, kCalculus)},
       1e-6}};
  for (double gamma : {0.0, 0.5, 1.0, 2.0}) {
    const std::string suffix = absl::StrCat("WithGamma", gamma);
    std::vector<SingularPoint> focal = sure;
    for (SingularPoint& point : focal) point.value *= 0.25;
    rows.push_back(
        {"CategoricalFocal" + suffix, Each<FocalOptions>(CategoricalFocalCrossEntropy, {.gamma = gamma}), focal, 1e-5});
    std::vector<SingularPoint> of_logits;
    for (double x : {17.0, 40.0, 100.0, 1e4, kLargest}) {
      of_logits.push_back(LossAt({1, 0}, {x, -x}, 0, {0, 0}, kCut));
      of_logits.push_back(LossAt({1, 0}, {-x, x}, 0.25 * kCutLoss, {0, 0}, kCut));
    }
    rows.push_back({"CategoricalFocalOfLogits" + suffix,
                    Each<FocalOptions>(CategoricalFocalCrossEntropy, {.from_logits = true, .gamma = gamma}), of_logits,
                    1e-5});
  }
  return rows;
}

std::vector<SingularRow> DistanceRows() {
  const std::string kink = "TensorFlow: a maximum's slope is its first operand's where both are equal";
  const std::string length = "Keras: the square of a length is at least 1e-12";
  return {
      {"SquaredError",
       Each<LossOptions>(losses::MeanSquaredError),
       {LossAt({0}, {0}, 0, {0}, kCalculus), LossAt({0}, {1e20}, kInf, {2e20}, kIeee)}},
      {"AbsoluteError",
       Each<LossOptions>(losses::MeanAbsoluteError),
       {LossAt({1}, {1}, 0, {0}, "TensorFlow, PyTorch and JAX"), LossAt({0}, {-kLargest}, kLargest, {-1}, kCalculus),
        LossAt({0}, {kInf}, kInf, {1}, kCalculus)}},
      {"MeanAbsolutePercentageError",
       Each<LossOptions>(losses::MeanAbsolutePercentageError),
       {LossAt({2}, {2}, 0, {0}, "TensorFlow, PyTorch and JAX"),
        LossAt({0}, {1}, 1e9, {1e9}, "Keras: |y| at least 1e-7"), LossAt({-4}, {-3}, 25, {25}, kCalculus),
        LossAt({1}, {kInf}, kInf, {100}, kCalculus)}},
      {"MeanSquaredLogarithmicError",
       Each<LossOptions>(losses::MeanSquaredLogarithmicError),
       {LossAt({1}, {1}, 0, {0}, kCalculus), LossAt({0}, {-3}, 0, {0}, "Keras: p at least 1e-7"),
        LossAt({1}, {-kInf}, std::pow(std::log(2.0), 2), {0}, "Keras: p at least 1e-7"),
        LossAt({0}, {1}, std::pow(std::log(2.0), 2), {std::log(2.0)}, kCalculus)},
       1e-5},
      {"Huber",
       Each<losses::HuberOptions>(losses::Huber),
       {LossAt({0}, {0}, 0, {0}, kCalculus), LossAt({0}, {1}, 0.5, {1}, kCalculus),
        LossAt({0}, {-1e20}, 1e20, {-1}, kCalculus), LossAt({0}, {kLargest}, kLargest, {1}, kCalculus)}},
      {"LogCosh",
       Each<LossOptions>(losses::LogCosh),
       {LossAt({0}, {0}, 0, {0}, kCalculus), LossAt({0}, {100}, 100 - std::log(2), {1}, kCalculus),
        LossAt({0}, {-100}, 100 - std::log(2), {-1}, kCalculus), LossAt({0}, {1e20}, 1e20, {1}, kCalculus),
        LossAt({0}, {-1e20}, 1e20, {-1}, kCalculus), LossAt({0}, {1e38}, 1e38, {1}, kCalculus),
        LossAt({0}, {-1e38}, 1e38, {-1}, kCalculus),
        LossAt({0}, {-kLargest}, kInf, {-1}, "IEEE 754: log(1 + e^-2x) overflows, as in Keras")},
       1e-6},
      {"Poisson",
       Each<LossOptions>(losses::Poisson),
       {LossAt({0}, {0}, 0, {1}, kCalculus), LossAt({1}, {0}, kCutLoss, {1 - 1e7}, "Keras: log(p + 1e-7)"),
        LossAt({0}, {1e20}, 1e20, {1}, kCalculus), LossAt({1}, {1e20}, 1e20, {1}, kCalculus)}},
      {"Hinge",
       Each<LossOptions>(losses::Hinge),
       {LossAt({1}, {1}, 0, {-1}, kink), LossAt({-1}, {-1}, 0, {1}, kink), LossAt({0}, {-1}, 0, {1}, kink),
        LossAt({1}, {kLargest}, 0, {0}, kCalculus), LossAt({1}, {-kLargest}, kLargest, {-1}, kCalculus),
        LossAt({1}, {kInf}, 0, {0}, kCalculus), LossAt({1}, {-kInf}, kInf, {-1}, kCalculus)}},
      {"SquaredHinge",
       Each<LossOptions>(losses::SquaredHinge),
       {LossAt({1}, {1}, 0, {0}, kCalculus), LossAt({1}, {-1e20}, kInf, {-2e20}, kIeee),
        LossAt({1}, {kInf}, 0, {0}, kCalculus)}},
      {"CategoricalHinge",
       Each<LossOptions>(losses::CategoricalHinge),
       {LossAt({1, 0}, {1e20, -1e20}, 0, {0, 0}, kCalculus), LossAt({1, 0}, {-1e20, 1e20}, 2e20, {-1, 1}, kCalculus)}},
      {"KLDivergence",
       Each<LossOptions>(losses::KLDivergence),
       {LossAt({0, 1}, {0, 1}, 0, {0, -1}, kCut), LossAt({1, 0}, {0, 1}, kCutLoss, {0, -1e-7}, kCut),
        LossAt({0, 0}, {0, 0}, 0, {0, 0}, kCut), LossAt({1, 0}, {0, 0}, kCutLoss, {0, 0}, kCut)},
       1e-5},
      {"CosineSimilarity",
       Each<LossOptions>(losses::CosineSimilarity),
       {LossAt({1, 0}, {0, 0}, 0, {-1e6, 0}, length), LossAt({0, 0}, {1, 0}, 0, {0, 0}, length),
        LossAt({0, 0}, {0, 0}, 0, {0, 0}, length), LossAt({1, 0}, {5, 0}, -1, {0, 0}, kCalculus),
        LossAt({1, 0}, {1e-20, 0}, -1e-14, {-1e6, 0}, length),
        LossAt({1, 0}, {1e20, 0}, 0, {0, 0}, "IEEE 754: the squares overflow, as in Keras")},
       1e-6},
      {"AnInfiniteLossOfWeight0",
       [](const Operands& in) {
         return losses::ComputeWeightedLoss(in[1], {.weights = in[0], .reduction = Reduction::kNone});
       },
       {LossAt({0}, {kInf}, kNaN, {0}, "Keras: a loss is multiplied by its weight"),
        LossAt({0}, {kLargest}, 0, {0}, kKeras), LossAt({1}, {kInf}, kInf, {1}, kKeras)}},
  };
}

}  // namespace

std::vector<SingularRow> SingularLosses() {
  std::vector<SingularRow> rows;
  for (auto family : {BinaryRows, CategoricalRows, DistanceRows}) {
    for (SingularRow& row : family()) rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace tandem::oracle

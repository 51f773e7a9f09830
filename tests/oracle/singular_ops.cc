// Singular points of ops and activations.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "frontends/activations.h"
#include "graph/ops.h"
#include "tests/oracle/singular_points.h"

namespace tandem::oracle {
namespace {

using Operands = std::vector<Tensor>;

constexpr char kCalculus[] = "calculus";
constexpr char kIeee[] = "IEEE 754";
constexpr char kNormal[] =
    "graph/ir/unary.td: what is below the smallest normal number counts as that, as in Eigen 3.3";
constexpr char kAll[] = "TensorFlow, PyTorch and JAX";
constexpr char kTensorFlow[] = "TensorFlow";

std::function<Tensor(const Operands&)> Of(Tensor (*function)(const Tensor&, SourceLocation)) {
  return [function](const Operands& in) { return function(in[0], SourceLocation::Current()); };
}
std::function<Tensor(const Operands&)> Of(Tensor (*function)(const Tensor&, const Tensor&, SourceLocation)) {
  return [function](const Operands& in) { return function(in[0], in[1], SourceLocation::Current()); };
}

// The first number of every example of [b, n].
Tensor First(const Tensor& x) { return Reshape(Slice(x, {0, 0}, {-1, 1}), {kBatch}); }

double NormalDistribution(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }
double NormalDensity(double x) { return std::exp(-x * x / 2) * std::numbers::inv_sqrtpi / std::numbers::sqrt2; }

std::vector<SingularRow> Kinks() {
  return {
      {"Abs",
       Of(Abs),
       {At(0, 0, 0, kAll), At(-0.0, 0, 0, kAll), At(kSubnormal, kSubnormal, 1, kCalculus),
        At(-kLargest, kLargest, -1, kCalculus), At(kInf, kInf, 1, kCalculus), At(-kInf, kInf, -1, kCalculus),
        At(kNaN, kNaN, kNaN, kIeee)}},
      {"Sign",
       Of(Sign),
       {At(0, 0, 0, "NumPy and TensorFlow"), At(-0.0, 0, 0, "NumPy and TensorFlow"), At(-kSubnormal, -1, 0, kCalculus),
        At(kInf, 1, 0, kCalculus), At(kNaN, kNaN, 0, "NumPy; the slope is none, as in TensorFlow")}},
      {"Floor", Of(Floor), {At(0, 0, 0, kTensorFlow), At(-kSmallest, -1, 0, kCalculus), At(kInf, kInf, 0, kIeee)}},
      {"Relu",
       Of(Relu),
       {At(0, 0, 0, kAll), At(-0.0, 0, 0, kAll), At(kSmallest, kSmallest, 1, kCalculus), At(kInf, kInf, 1, kCalculus),
        At(-kInf, 0, 0, kCalculus), At(kNaN, kNaN, 0, "TensorFlow: the slope is whether the result is above 0")}},
      {"Relu6",
       Of(Relu6),
       {At(0, 0, 0, kTensorFlow), At(6, 6, 0, kTensorFlow), At(kInf, 6, 0, kCalculus), At(-kInf, 0, 0, kCalculus)}},
      {"LeakyRelu",
       [](const Operands& in) { return LeakyRelu(in[0], 0.25); },
       {At(0, 0, 0.25, kTensorFlow), At(kInf, kInf, 1, kCalculus), At(-kInf, -kInf, 0.25, kCalculus)}},
      {"Maximum",
       Of(Maximum),
       {At(1, 1, 1, 1, 0, kTensorFlow), At(0, -0.0, 0, 1, 0, kTensorFlow), At(kInf, kInf, kInf, 1, 0, kTensorFlow),
        At(-kInf, -kInf, -kInf, 1, 0, kTensorFlow), At(kNaN, 1, kNaN, 0, 1, "TensorFlow: the slope is whether x >= y"),
        At(1, kNaN, kNaN, 0, 1, "TensorFlow: the slope is whether x >= y")}},
      {"Minimum",
       Of(Minimum),
       {At(1, 1, 1, 1, 0, kTensorFlow), At(0, -0.0, 0, 1, 0, kTensorFlow), At(kInf, kInf, kInf, 1, 0, kTensorFlow),
        At(kNaN, 1, kNaN, 0, 1, "TensorFlow: the slope is whether x <= y")}},
      {"ReduceMax",
       [](const Operands& in) { return ReduceMax(in[0], {-1}); },
       {{{{1, 1}}, 1, {{0.5, 0.5}}, "TensorFlow and JAX: equal shares"},
        {{{-kInf, -kInf}}, -kInf, {{0.5, 0.5}}, "TensorFlow and JAX: equal shares"},
        {{{kInf, 0}}, kInf, {{1, 0}}, kCalculus}}},
  };
}

std::vector<SingularRow> PowersAndLogarithms() {
  return {
      {"Exp",
       Of(Exp),
       {At(-kInf, 0, 0, kCalculus), At(0, 1, 1, kCalculus), At(88, std::exp(88), std::exp(88), kCalculus),
        At(89, kInf, kInf, kIeee), At(kInf, kInf, kInf, kCalculus), At(-104, 0, 0, kIeee),
        At(kLargest, kInf, kInf, kIeee), At(-kLargest, 0, 0, kIeee), At(kNaN, kNaN, kNaN, kIeee)}},
      {"Log",
       Of(Log),
       {At(0, -kInf, kInf, kAll), At(-0.0, -kInf, -kInf, "IEEE 754: 1 / -0"), At(kInf, kInf, 0, kCalculus),
        At(-1, kNaN, -1, "TensorFlow, PyTorch and JAX: the slope is 1 / x"),
        At(kSmallest, std::log(kSmallest), 1 / kSmallest, kCalculus),
        At(kSubnormal, std::log(kSmallest), kInf, kNormal), At(kLargest, std::log(kLargest), 1 / kLargest, kCalculus)}},
      {"Sqrt",
       Of(Sqrt),
       {At(0, 0, kInf, kAll), At(-0.0, 0, -kInf, "IEEE 754: the root is -0"), At(kInf, kInf, 0, kCalculus),
        At(-1, kNaN, kNaN, kIeee), At(kSmallest, std::sqrt(kSmallest), 0.5 / std::sqrt(kSmallest), kCalculus),
        At(kSubnormal, std::sqrt(kSubnormal), 0.5 / std::sqrt(kSubnormal), kCalculus),
        At(kLargest, std::sqrt(kLargest), 0.5 / std::sqrt(kLargest), kCalculus)}},
      {"Rsqrt",
       Of(Rsqrt),
       {At(0, kInf, -kInf, kAll), At(-0.0, -kInf, kInf, "IEEE 754: the root is -0"), At(kInf, 0, 0, kCalculus),
        At(-1, kNaN, kNaN, kIeee), At(1e-20, 1e10, -0.5e30, kCalculus), At(1e-30, 1e15, -kInf, kIeee),
        At(1e30, 1e-15, 0, kIeee)}},
      {"Square",
       Of(Square),
       {At(0, 0, 0, kCalculus), At(1e-30, 0, 2e-30, kIeee), At(1e20, kInf, 2e20, kIeee),
        At(-kLargest, kInf, -kInf, kIeee), At(-kInf, kInf, -kInf, kCalculus)}},
      {"Pow",
       Of(Pow),
       {At(0, 0, 1, 0, 0, "calculus: x^0 is 1; by y 0 where x <= 0, as in TensorFlow"),
        At(-0.0, 0, 1, 0, 0, "PyTorch: the slope by x is 0 where y is 0"), At(0, 1, 0, 1, 0, kCalculus),
        At(0, 2, 0, 0, 0, kCalculus), At(0, 3, 0, 0, 0, kCalculus), At(0, 0.5, 0, kInf, 0, kAll),
        At(0, -1, kInf, -kInf, 0, "calculus; by y 0 where x <= 0, as in TensorFlow"),
        At(-2, 0, 1, 0, 0, "calculus; by y 0 where x <= 0, as in TensorFlow"),
        At(-2, 2, 4, -4, 0, "calculus; by y 0 where x <= 0, as in TensorFlow"),
        At(-2, 3, -8, 12, 0, "calculus; by y 0 where x <= 0, as in TensorFlow"),
        At(-2, -1, -0.5, -0.25, 0, "calculus; by y 0 where x <= 0, as in TensorFlow"),
        At(-2, 0.5, kNaN, kNaN, 0, "IEEE 754; by y 0 where x <= 0, as in TensorFlow"),
        At(2, 0, 1, 0, std::numbers::ln2, kCalculus), At(kInf, 0, 1, 0, kInf, "PyTorch; calculus by y"),
        At(kNaN, 0, 1, 0, 0, "IEEE 754: x^0 is 1 for every x; PyTorch; by y 0 unless x > 0, as in TensorFlow"),
        At(1e-30, 2, 0, 2e-30, 0, kIeee), At(1e30, 2, kInf, 2e30, kInf, kIeee),
        At(kSubnormal, 1, kSubnormal, 1, 0, kCalculus), At(kLargest, 0, 1, 0, std::log(kLargest), kCalculus)}},
      {"PowOfNoughtToThree",
       [](const Operands& in) {
         Tensor exponents = in[0].graph()->Constant(HostTensor::FromVector<float>({4}, {0, 1, 2, 3}));
         return ReduceSum(Pow(in[0], exponents), {-1});
       },
       {{{{0, 0, 0, 0}}, 1, {{0, 1, 0, 0}}, kCalculus},
        {{{-2, -2, -2, -2}}, -5, {{0, 1, -4, 12}}, kCalculus},
        {{{-0.0, -0.0, -0.0, -0.0}}, 1, {{0, 1, 0, 0}}, kCalculus}}},
      {"PowOfNought",
       [](const Operands& in) { return Pow(in[0], 0.0); },
       {At(0, 1, 0, kCalculus), At(-0.0, 1, 0, kCalculus), At(-2, 1, 0, kCalculus), At(kInf, 1, 0, "PyTorch"),
        At(kNaN, 1, 0, "IEEE 754: x^0 is 1 for every x; PyTorch")}},
      {"PowOfOne",
       [](const Operands& in) { return Pow(in[0], 1.0); },
       {At(0, 0, 1, kCalculus), At(-2, -2, 1, kCalculus), At(kInf, kInf, 1, kCalculus)}},
      {"PowOfTwo",
       [](const Operands& in) { return Pow(in[0], 2.0); },
       {At(0, 0, 0, kCalculus), At(-2, 4, -4, kCalculus), At(-kInf, kInf, -kInf, kCalculus)}},
      {"PowOfThree",
       [](const Operands& in) { return Pow(in[0], 3.0); },
       {At(0, 0, 0, kCalculus), At(-2, -8, 12, kCalculus), At(-kInf, -kInf, kInf, kCalculus)}},
      {"PowOfAHalf",
       [](const Operands& in) { return Pow(in[0], 0.5); },
       {At(0, 0, kInf, kAll), At(-2, kNaN, kNaN, kIeee), At(kInf, kInf, 0, kCalculus)}},
      {"PowOfMinusOne",
       [](const Operands& in) { return Pow(in[0], -1.0); },
       {At(0, kInf, -kInf, kIeee), At(-0.0, -kInf, -kInf, kIeee), At(-2, -0.5, -0.25, kCalculus),
        At(kInf, 0, 0, kCalculus)}},
      {"PowersOfNought",
       [](const Operands& in) { return Pow(0.0, in[0]); },
       {At(0, 1, 0, kTensorFlow), At(1, 0, 0, kCalculus), At(-1, kInf, 0, kTensorFlow)}},
      {"PowersOfTwo",
       [](const Operands& in) { return Pow(2.0, in[0]); },
       {At(0, 1, std::numbers::ln2, kCalculus), At(-kInf, 0, 0, kCalculus), At(200, kInf, kInf, kIeee)}},
      {"XLogX",
       [](const Operands& in) { return in[0] * Log(in[0]); },
       {At(0, kNaN, kNaN, "IEEE 754: 0 times -inf, as in NumPy and all frameworks"), At(1, 0, 1, kCalculus)}},
      {"XLogXOfWhatIsCut",
       [](const Operands& in) { return in[0] * Log(Maximum(in[0], 1e-30)); },
       {At(0, 0, std::log(1e-30), kCalculus), At(1, 0, 1, kCalculus)}},
  };
}

std::vector<SingularRow> QuotientsAndNorms() {
  const std::string root =
      "the slope of the root is infinite and that of the sum 0: NaN in TensorFlow, PyTorch and JAX";
  return {
      {"Div",
       Of(Div),
       {At(0, 0, kNaN, kInf, kNaN, kIeee), At(1, 0, kInf, kInf, -kInf, kIeee), At(1, -0.0, -kInf, -kInf, -kInf, kIeee),
        At(0, 1, 0, 1, 0, kCalculus), At(1, kInf, 0, 0, 0, kCalculus), At(kInf, 1, kInf, 1, -kInf, kIeee),
        At(kInf, kInf, kNaN, 0, kNaN, kIeee), At(kSmallest, kLargest, 0, 0, 0, kIeee),
        At(1, kSubnormal, kInf, kInf, -kInf, kIeee), At(kLargest, kLargest, 1, 0, 0, kIeee)}},
      {"RootOfSquares",
       [](const Operands& in) { return Sqrt(ReduceSum(Square(in[0]), {-1})); },
       {{{{0, 0}}, 0, {{kNaN, kNaN}}, root},
        {{{3, -4}}, 5, {{0.6, -0.8}}, kCalculus},
        {{{1e20, 0}}, kInf, {{0, 0}}, "IEEE 754: the squares overflow"}}},
      {"RootOfSquaresThatAreCut",
       [](const Operands& in) { return Sqrt(Maximum(ReduceSum(Square(in[0]), {-1}), 1e-12)); },
       {{{{0, 0}}, 1e-6, {{0, 0}}, "calculus: the bound has no slope"}, {{{3, -4}}, 5, {{0.6, -0.8}}, kCalculus}}},
      {"L2Normalize",
       [](const Operands& in) { return First(in[0] * Rsqrt(Maximum(ReduceSum(Square(in[0]), {-1}, true), 1e-12))); },
       {{{{0, 0}}, 0, {{1e6, 0}}, "tf.math.l2_normalize: the square of a length is at least 1e-12"},
        {{{1e20, 0}}, 0, {{0, 0}}, "IEEE 754, tf.math.l2_normalize: the squares overflow"},
        {{{3, 4}}, 0.6, {{0.128, -0.096}}, kCalculus}}},
      {"LayerNorm",
       [](const Operands& in) { return First(LayerNorm(in[0], 1e-3)); },
       {{{{0, 0}}, 0, {{0.5 / std::sqrt(1e-3), -0.5 / std::sqrt(1e-3)}}, kCalculus},
        {{{1e20, -1e20}}, 0, {{0, 0}}, "IEEE 754: the variance overflows, as in TensorFlow"}}},
  };
}

std::vector<SingularRow> SaturatedActivations() {
  std::vector<SingularRow> rows = {
      {"Tanh", Of(Tanh), {}, 1e-6},         {"Sigmoid", Of(Sigmoid), {}, 1e-6},   {"Erf", Of(Erf), {}, 1e-6},
      {"Softplus", Of(Softplus), {}, 1e-6}, {"Elu", Of(Elu), {}, 1e-6},           {"Swish", Of(Swish), {}, 1e-6},
      {"Gelu", Of(Gelu), {}, 1e-6},         {"GeluTanh", Of(GeluTanh), {}, 1e-6}, {"Selu", Of(Selu), {}, 1e-6},
      {"Softsign", Of(Softsign), {}, 1e-6}, {"Mish", Of(Mish), {}, 1e-6}};
  constexpr double kSeluScale = 1.0507009873554805, kSeluAlpha = 1.6732632423543772;
  for (double x : {0.0, -0.0, 17.0, -17.0, 100.0, -100.0, 1e4, -1e4, 1e15, -1e15, 1e20, -1e20, kLargest, -kLargest}) {
    const double small = std::exp(-std::abs(x));  // 0 from where it is
    const double sigmoid = x < 0 ? small / (1 + small) : 1 / (1 + small);
    const double cosh = std::cosh(std::min(std::abs(x), 300.0));
    rows[0].points.push_back(At(x, std::tanh(x), 1 / (cosh * cosh), kCalculus));
    rows[1].points.push_back(At(x, sigmoid, small / ((1 + small) * (1 + small)), kCalculus));
    rows[2].points.push_back(At(x, std::erf(x), 2 * std::numbers::inv_sqrtpi * std::exp(-x * x), kCalculus));
    rows[3].points.push_back(At(x, std::max(x, 0.0) + std::log1p(small), sigmoid, kCalculus));
    rows[4].points.push_back(At(x, x > 0 ? x : std::expm1(x), x > 0 ? 1 : std::exp(x), kCalculus));
    rows[5].points.push_back(At(x, x * sigmoid, sigmoid + x * small / ((1 + small) * (1 + small)), kCalculus));
    const double cdf = NormalDistribution(x), slope = cdf + x * NormalDensity(x);
    rows[6].points.push_back(At(x, x * cdf, slope, kCalculus));
    // The approximation is off by 0.0005 at most, and by nothing where both are saturated.
    rows[7].points.push_back(At(x, x * cdf, slope, kCalculus));
    const double selu = kSeluScale * (x >= 0 ? x : kSeluAlpha * std::expm1(x));
    rows[8].points.push_back(
        At(x, selu > kLargest ? kInf : selu, kSeluScale * (x >= 0 ? 1 : kSeluAlpha * std::exp(x)), kCalculus));
    rows[9].points.push_back(At(x, x / (1 + std::abs(x)), std::pow(1 + std::abs(x), -2), kCalculus));
    const double gate = std::tanh(std::max(x, 0.0) + std::log1p(small));
    rows[10].points.push_back(At(x, x * gate, gate + x * sigmoid * (1 - gate * gate), kCalculus));
  }
  for (double x : {kInf, -kInf}) {
    rows[0].points.push_back(At(x, std::tanh(x), 0, kCalculus));
    rows[1].points.push_back(At(x, x > 0, 0, kCalculus));
    rows[2].points.push_back(At(x, std::erf(x), 0, kCalculus));
    rows[3].points.push_back(At(x, std::max(x, 0.0), x > 0, kCalculus));
    rows[4].points.push_back(At(x, x > 0 ? kInf : -1, x > 0, kCalculus));
    rows[8].points.push_back(At(x, x > 0 ? kInf : -kSeluScale * kSeluAlpha, x > 0 ? kSeluScale : 0, kCalculus));
    rows[9].points.push_back(At(x, kNaN, kNaN, "IEEE 754: inf / inf, as in TensorFlow and PyTorch"));
    // x times a factor that is 0: both frameworks' formulas give NaN, and so do their slopes.
    for (int i : {5, 6, 7, 10}) {
      rows[i].points.push_back(At(x, x > 0 ? kInf : kNaN, kNaN, "IEEE 754: inf times 0, as in TensorFlow and PyTorch"));
    }
  }
  rows.push_back({"Sin", Of(Sin), {At(0, 0, 1, kCalculus), At(kInf, kNaN, kNaN, kIeee)}});
  rows.push_back({"Cos", Of(Cos), {At(0, 1, 0, kCalculus), At(-kInf, kNaN, kNaN, kIeee)}});
  return rows;
}

std::vector<SingularRow> SoftmaxRows() {
  const std::string masked = "IEEE 754: -inf minus -inf, as in TensorFlow and PyTorch";
  return {
      {"Softmax",
       [](const Operands& in) { return First(Softmax(in[0])); },
       {{{{0, -kInf}}, 1, {{0, 0}}, kCalculus},
        {{{-kInf, 0}}, 0, {{0, 0}}, kCalculus},
        {{{1e4, 0}}, 1, {{0, 0}}, kCalculus},
        {{{0, 1e4}}, 0, {{0, 0}}, kCalculus},
        {{{kLargest, -kLargest}}, 1, {{0, 0}}, kCalculus},
        {{{1e38, 1e38}}, 0.5, {{0.25, -0.25}}, kCalculus},
        {{{-kInf, -kInf}}, kNaN, {{kNaN, kNaN}}, masked}}},
      {"LogSoftmax",
       [](const Operands& in) { return First(LogSoftmax(in[0])); },
       {{{{0, 1e4}}, -1e4, {{1, -1}}, kCalculus},
        {{{1e4, 0}}, 0, {{0, 0}}, kCalculus},
        {{{-kInf, 0}}, -kInf, {{1, -1}}, kCalculus},
        {{{0, -kInf}}, 0, {{0, 0}}, kCalculus},
        {{{1e38, 1e38}}, -std::numbers::ln2, {{0.5, -0.5}}, kCalculus},
        {{{-kInf, -kInf}}, kNaN, {{kNaN, kNaN}}, masked}}},
      {"SoftmaxCrossEntropy",
       [](const Operands& in) { return SoftmaxCrossEntropyWithLogits(in[0], in[1]); },
       {{{{1, 0}, {1e4, 0}}, 0, {{0, 1e4}, {0, 0}}, kCalculus},
        {{{0, 1}, {1e4, 0}}, 1e4, {{0, 1e4}, {1, -1}}, kCalculus},
        {{{0.5, 0.5}, {1e4, -1e4}}, 1e4, {{0, 2e4}, {0.5, -0.5}}, kCalculus},
        {{{0, 0}, {1e4, -1e4}}, 0, {{0, 2e4}, {0, 0}}, kCalculus},
        {{{1, 0}, {0, -kInf}}, 0, {{0, 0}, {0, 0}}, "0 log 0 is 0: Cover and Thomas, Elements of Information Theory"},
        {{{0, 1}, {0, -kInf}}, kInf, {{0, 0}, {1, -1}}, kCalculus}}},
      {"SparseSoftmaxCrossEntropy",
       [](const Operands& in) { return SparseSoftmaxCrossEntropyWithLogits(Cast(in[0], DType::kInt32), in[1]); },
       {LossAt({0}, {1e4, 0}, 0, {0, 0}, kCalculus), LossAt({1}, {1e4, 0}, 1e4, {1, -1}, kCalculus),
        LossAt({0}, {0, -kInf}, 0, {0, 0}, kCalculus), LossAt({1}, {0, -kInf}, kInf, {1, -1}, kCalculus)}},
  };
}

// The element at `position` of every example of [b, n].
Tensor Element(const Tensor& x, int64_t position) { return Reshape(Slice(x, {0, position}, {-1, 1}), {kBatch}); }

std::vector<SingularRow> RoundedAndClipped() {
  constexpr char kNumPy[] = "NumPy and TensorFlow: halves go to the even number";
  constexpr double kTwo23 = 8388608;  // where float32 has whole numbers only
  return {
      {"Round",
       Of(Round),
       {At(0.5, 0, 0, kNumPy), At(1.5, 2, 0, kNumPy), At(2.5, 2, 0, kNumPy), At(-0.5, 0, 0, kNumPy),
        At(-1.5, -2, 0, kNumPy), At(-2.5, -2, 0, kNumPy), At(0.49999997, 0, 0, kCalculus),
        At(-0.49999997, 0, 0, kCalculus), At(0.50000006, 1, 0, kCalculus), At(-0.50000006, -1, 0, kCalculus),
        At(kTwo23 - 0.5, kTwo23, 0, kNumPy), At(kTwo23 - 1.5, kTwo23 - 2, 0, kNumPy),
        At(kTwo23 + 1, kTwo23 + 1, 0, kCalculus), At(-kTwo23 - 1, -kTwo23 - 1, 0, kCalculus),
        At(kLargest, kLargest, 0, kCalculus), At(-kSmallest, 0, 0, kCalculus), At(kInf, kInf, 0, kIeee),
        At(-kInf, -kInf, 0, kIeee), At(kNaN, kNaN, 0, kIeee)}},
      {"Ceil",
       Of(Ceil),
       {At(0, 0, 0, kTensorFlow), At(kSmallest, 1, 0, kCalculus), At(-0.5, 0, 0, kCalculus), At(-1, -1, 0, kCalculus),
        At(kTwo23 + 1, kTwo23 + 1, 0, kCalculus), At(-kInf, -kInf, 0, kIeee), At(kNaN, kNaN, 0, kIeee)}},
      {"ClipByValue",
       [](const Operands& in) { return ClipByValue(in[0], -1, 2); },
       {At(-1, -1, 1, "tf.clip_by_value: the bounds have the slope"), At(2, 2, 1, "tf.clip_by_value"),
        At(-1.5, -1, 0, kCalculus), At(kInf, 2, 0, kCalculus), At(-kInf, -1, 0, kCalculus)}},
      {"ClipByValueFromBelow",
       [](const Operands& in) { return ClipByValue(in[0], 0, kInf); },
       {At(0, 0, 1, "tf.clip_by_value"), At(-1, 0, 0, kCalculus), At(kInf, kInf, 1, kCalculus)}},
      {"ClipByNorm",
       [](const Operands& in) { return First(ClipByNorm(in[0], 5, {1})); },
       {{{{0, 0}}, 0, {{1, 0}}, "tf.clip_by_norm: what is not longer is not scaled"},
        {{{3, -4}}, 3, {{0.64, 0.48}}, "tf.clip_by_norm: at the bound the norm is the larger one"},
        {{{6, -8}}, 3, {{0.32, 0.24}}, kCalculus},
        {{{0.3, 0.4}}, 0.3, {{1, 0}}, kCalculus},
        {{{1e20, 0}}, 0, {{0, 0}}, "IEEE 754, tf.clip_by_norm: the squares overflow"}}},
      {"Norm",
       [](const Operands& in) { return Norm(in[0], {1}); },
       {{{{0, 0}}, 0, {{0, 0}}, "torch.linalg.vector_norm: a slope of 0"},
        {{{3, -4}}, 5, {{0.6, -0.8}}, kCalculus},
        {{{kInf, 0}}, kInf, {{kNaN, 0}}, kIeee},
        {{{kNaN, 0}}, kNaN, {{kNaN, kNaN}}, kIeee}}},
      {"NormOfMagnitudes",
       [](const Operands& in) { return Norm(in[0], {1}, 1); },
       {{{{0, -2}}, 2, {{0, -1}}, "torch.linalg.vector_norm: a slope of 0"}, {{{kInf, 1}}, kInf, {{1, 1}}, kCalculus}}},
      {"NormOfTheLargest",
       [](const Operands& in) { return Norm(in[0], {1}, kInf); },
       {{{{0, 0}}, 0, {{0, 0}}, "torch.linalg.vector_norm: a slope of 0"},
        {{{2, -2}}, 2, {{0.5, -0.5}}, "torch.linalg.vector_norm: equal shares"},
        {{{1, -3}}, 3, {{0, -1}}, kCalculus}}},
      {"LogSumExp",
       [](const Operands& in) { return LogSumExp(in[0], {1}); },
       {{{{0, 0}}, std::numbers::ln2, {{0.5, 0.5}}, kCalculus},
        {{{1e4, 0}}, 1e4, {{1, 0}}, kCalculus},
        {{{-1e4, -1e4}}, -1e4 + std::numbers::ln2, {{0.5, 0.5}}, kCalculus},
        {{{kLargest, -kLargest}}, kLargest, {{1, 0}}, kCalculus},
        {{{-kInf, 3}}, 3, {{0, 1}}, kCalculus},
        {{{-kInf, -kInf}}, -kInf, {{0, 0}}, "scipy.special.logsumexp; a slope of 0 by what is masked"},
        {{{kInf, 0}}, kInf, {{kNaN, 0}}, "scipy.special.logsumexp; inf / inf in all frameworks"},
        {{{kInf, -kInf}}, kInf, {{kNaN, 0}}, "scipy.special.logsumexp; inf / inf in all frameworks"},
        {{{kNaN, 0}}, kNaN, {{kNaN, kNaN}}, kIeee}}},
  };
}

std::vector<SingularRow> AlongAnAxis() {
  constexpr char kScan[] = "calculus, IEEE 754";
  constexpr char kSort[] = "numpy.sort: NaN comes last";
  constexpr char kStable[] = "numpy.argsort, kind=stable; tf.math.top_k: the lower index first";
  auto sorted = [](int64_t position, bool descending) {
    return [=](const Operands& in) { return Element(Sort(in[0], 1, descending), position); };
  };
  auto order = [](int64_t position, bool descending) {
    return [=](const Operands& in) { return Cast(Element(ArgSort(in[0], 1, descending), position), DType::kFloat32); };
  };
  auto own = [](const Operands& in) {
    return Reshape(GatherRows(in[0], Reshape(Cast(in[1], DType::kInt32), {kBatch, 1})), {kBatch});
  };
  auto of_integers = [](const Operands& in) {
    const Tensor indices = Reshape(Cast(in[1], DType::kInt64), {kBatch, 1});
    return Cast(Reshape(GatherRows(Cast(in[0], DType::kInt32), indices), {kBatch}), DType::kFloat32);
  };
  return {
      {"CumProdOfNoughts",
       [](const Operands& in) { return Element(CumProd(in[0], 1), 2); },
       {{{{2, 0, 3}}, 0, {{0, 6, 0}}, kCalculus},
        {{{0, 0, 3}}, 0, {{0, 0, 0}}, kCalculus},
        {{{2, 3, 0}}, 0, {{0, 0, 6}}, kCalculus},
        {{{kNaN, 3, 2}}, kNaN, {{6, kNaN, kNaN}}, kScan}}},
      {"CumSumBeforeWhatIsNotFinite",
       [](const Operands& in) { return Element(CumSum(in[0], 1), 1); },
       {{{{1, 2, kNaN}}, 3, {{1, 1, 0}}, kCalculus},
        {{{1, 2, kInf}}, 3, {{1, 1, 0}}, kCalculus},
        {{{kInf, 2, 1}}, kInf, {{1, 1, 0}}, kCalculus},
        {{{kInf, -kInf, 1}}, kNaN, {{1, 1, 0}}, kIeee}}},
      {"SortFirst",
       sorted(0, false),
       {{{{kNaN, 2, 1}}, 1, {{0, 0, 1}}, kSort},
        {{{kInf, kNaN, -kInf}}, -kInf, {{0, 0, 1}}, kSort},
        {{{1, 1, 2}}, 1, {{1, 0, 0}}, kStable}}},
      {"SortLast",
       sorted(2, false),
       {{{{kNaN, 2, 1}}, kNaN, {{1, 0, 0}}, kSort},
        {{{kInf, kNaN, -kInf}}, kNaN, {{0, 1, 0}}, kSort},
        {{{2, 1, 2}}, 2, {{0, 0, 1}}, kStable}}},
      {"SortDescendingLast", sorted(2, true), {{{{1, kNaN, 2}}, kNaN, {{0, 1, 0}}, "NaN last in either direction"}}},
      {"ArgSortFirst",
       order(0, false),
       {{{{kNaN, kNaN, 7}}, 2, {{0, 0, 0}}, kSort},
        {{{kNaN, kNaN, kNaN}}, 0, {{0, 0, 0}}, kStable},
        {{{0, -0.0, 0}}, 0, {{0, 0, 0}}, kStable},
        {{{3, 1, 1}}, 1, {{0, 0, 0}}, kStable}}},
      {"ArgSortSecond",
       order(1, false),
       {{{{kNaN, kNaN, 7}}, 0, {{0, 0, 0}}, kStable}, {{{kInf, -kInf, kNaN}}, 0, {{0, 0, 0}}, kSort}}},
      {"ArgSortDescendingFirst",
       order(0, true),
       {{{{3, 1, 3}}, 0, {{0, 0, 0}}, kStable}, {{{kNaN, 1, 3}}, 2, {{0, 0, 0}}, "NaN last in either direction"}}},
      {"TopKSecond",
       [](const Operands& in) { return Element(TopK(in[0], 2).values, 1); },
       {{{{5, 7, 7}}, 7, {{0, 0, 1}}, kStable}, {{{kNaN, 7, -kInf}}, -kInf, {{0, 0, 1}}, kSort}}},
      {"GatherRowsBesideNaN",
       own,
       {{{{kNaN, 2, kInf}, {1}}, 2, {{0, 1, 0}, {}}, "tf.gather: other rows have no part"},
        {{{-kInf, kNaN, 3}, {0}}, -kInf, {{1, 0, 0}, {}}, "tf.gather"},
        {{{1, kNaN, 3}, {1}}, kNaN, {{0, 1, 0}, {}}, "tf.gather"},
        {{{1, 2, 3}, {3}}, kNaN, {{0, 0, 0}, {}}, "graph/ops.h: NaN out of range, as Gather"},
        {{{1, 2, 3}, {-1}}, kNaN, {{0, 0, 0}, {}}, "graph/ops.h: NaN out of range, as Gather"}}},
      {"GatherRowsOfIntegers",
       of_integers,
       {{{{5, 6, 7}, {2}}, 7, {{}, {}}, "tf.gather"},
        {{{5, 6, 7}, {9}}, 7, {{}, {}}, "graph/ops.h: the nearest row, as Gather"},
        {{{5, 6, 7}, {-9}}, 5, {{}, {}}, "graph/ops.h: the nearest row, as Gather"}}},
  };
}

}  // namespace

std::vector<SingularRow> SingularOps() {
  std::vector<SingularRow> rows;
  for (auto family : {Kinks, PowersAndLogarithms, QuotientsAndNorms, SaturatedActivations, SoftmaxRows,
                      RoundedAndClipped, AlongAnAxis}) {
    for (SingularRow& row : family()) rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace tandem::oracle

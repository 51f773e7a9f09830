// Normal random numbers: their distribution, and that they are others in every step. And the same bits for any number
// of devices of programs with ops that are made of others.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/optimizers.h"
#include "graph/ops.h"
#include "gtest/gtest.h"
#include "tests/compiled/harness.h"

namespace tandem::compiled {
namespace {

using Numbers = std::vector<double>;

constexpr int64_t kBatchRows = 64, kWidth = 2000;

void Draw(GraphBuilder& g) {
  const Tensor x = g.Input("x", DType::kFloat32, {kBatch, kWidth});
  g.Output("0", x * 0.0 + RandomNormal(&g, {kBatch, kWidth}, 1.5, 2));
  g.Output("1", x * 0.0 + TruncatedNormal(&g, {kBatch, kWidth}, -1, 0.5));
  g.Output("2", RandomNormal(&g, {kWidth}));
}

std::vector<Numbers> Drawn(Program& program, const Options& options, int64_t step) {
  const TensorMap batch = RandomInputs(*program.executable, kBatchRows, options, 0);
  absl::StatusOr<StepResult> result = program.Run(Deal(program, batch, {kBatchRows}, step));
  EXPECT_TRUE(result.ok()) << result.status();
  std::vector<Numbers> numbers;
  for (const HostTensor& output : result->outputs) {
    const HostTensor wide = ToFloat64(output);
    numbers.emplace_back(wide.data<double>(), wide.data<double>() + wide.num_elements());
  }
  return numbers;
}

double Mean(const Numbers& x, double center, int power) {
  double sum = 0;
  for (double v : x) sum += std::pow(v - center, power);
  return sum / static_cast<double>(x.size());
}

// Sums of n numbers are off by some standard deviations over the root of n, here 1 / 358.
TEST(NormalNumbers, HaveTheMomentsOfTheirDistribution) {
  const Options options = OnTestTarget({.batch = kBatchRows, .mode = "eval"});
  absl::StatusOr<Program> program = Prepare(Draw, options);
  ASSERT_TRUE(program.ok()) << program.status();
  const std::vector<Numbers> first = Drawn(*program, options, 0);
  ASSERT_EQ(first.size(), 3u);
  EXPECT_NEAR(Mean(first[0], 0, 1), 1.5, 0.03);
  EXPECT_NEAR(Mean(first[0], 1.5, 2), 4, 0.1);
  EXPECT_NEAR(Mean(first[0], 1.5, 3), 0, 0.4);
  EXPECT_NEAR(Mean(first[0], 1.5, 4), 3 * 16, 3);
  EXPECT_NEAR(Mean(first[2], 0, 2), 1, 0.2);
  const auto inside = [&](double bound) {
    return static_cast<double>(std::count_if(first[0].begin(), first[0].end(),
                                             [&](double v) { return std::abs(v - 1.5) < 2 * bound; })) /
           static_cast<double>(first[0].size());
  };
  for (double bound : {0.1, 0.5, 1.0, 2.0, 3.0}) EXPECT_NEAR(inside(bound), std::erf(bound / std::sqrt(2)), 0.006);

  // Of a normal distribution that is cut at 2: the variance is 1 - 4 phi(2) / erf(sqrt(2)).
  EXPECT_NEAR(Mean(first[1], 0, 1), -1, 0.006);
  EXPECT_NEAR(Mean(first[1], -1, 2), 0.25 * 0.7737413, 0.004);
  EXPECT_GE(*std::min_element(first[1].begin(), first[1].end()), -2);
  EXPECT_LE(*std::max_element(first[1].begin(), first[1].end()), 0);
  EXPECT_LT(*std::min_element(first[1].begin(), first[1].end()), -1.99);
  EXPECT_GT(*std::max_element(first[1].begin(), first[1].end()), -0.01);

  const std::vector<Numbers> again = Drawn(*program, options, 0), next = Drawn(*program, options, 1);
  for (size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i], again[i]);
    double equal = 0;
    for (size_t e = 0; e < first[i].size(); ++e) equal += first[i][e] == next[i][e];
    EXPECT_LT(equal, 0.001 * static_cast<double>(first[i].size())) << "every step draws others";
  }
}

// One model with all of them; rows that are short, and devices without any.
void Model(GraphBuilder& g) {
  Tensor x = layers::Dense(g.Input("x", DType::kFloat32, {kBatch, 12}), {.units = 24});
  x = x + RandomNormal(&g, {kBatch, 24}, 0, 0.1) + TruncatedNormal(&g, {kBatch, 24}, 0, 0.1);
  const Tensor tokens = Reshape(x, {kBatch, 6, -1});
  const Tensor scores = Einsum("nik,njk->nij", {tokens, tokens});
  Tensor y = Einsum("nij,njk->nik", {Exp(scores - LogSumExp(scores, {-1}, true)), tokens});
  y = Concat({CumSum(y, 1), CumProd(Tanh(y), 1, true), Sort(y, 1, true), Repeat(TopK(y, 3, 1).values, 2, 1)}, 2);
  y = ClipByNorm(ClipByValue(y, -1, 2), 3, {2}) / (1.0 + Norm(y, {2}, 2, true));
  const Tensor own = GatherRows(y, ArgMax(ReduceSum(y, {2}), 1));
  const Tensor row = Concat({Reshape(y, {kBatch, -1}), own, Squeeze(Unstack(Stack({own, own}, 1), 2, 1)[1])}, 1);
  const Tensor logits = layers::Dense(row, {.units = 4});
  g.Output("rounded", Round(Ceil(logits) / 2.0));
  g.Output("order", ArgSort(logits));
  g.Output("largest", LogSumExp(logits));
  const Tensor loss = losses::SparseSoftmaxCrossEntropy(g.Input("label", DType::kInt32, {kBatch}), logits);
  g.Output("loss", loss);
  optimizers::Adam({.learning_rate = 1e-2}).Minimize(loss);
}

TEST(ComposedBits, AreTheSameOnAnyDevices) {
  ExpectSameBits(Model, {.batch = 32, .steps = 3}, {32, 19, 5}, {{1, 2}, {2, 2}, {4, 3}});
}

TEST(ComposedBits, TrainAsTheReferenceDoes) {
  CompareWithReference(Model, {.batch = 16});
  CompareWithReference(Model, {.devices = 2, .batch = 8, .rows = {8, 3}});
}

// Of other dtypes than float32, on one device and two.
void OtherTypes(GraphBuilder& g) {
  const Tensor flags = g.Input("flags", DType::kBool, {kBatch, 4});
  const Tensor ints = g.Input("ints", DType::kInt64, {kBatch, 4});
  const Tensor doubles = g.Input("doubles", DType::kFloat64, {kBatch, 4});
  g.Output("ones", OnesLike(flags));
  g.Output("noughts", ZerosLike(ints));
  g.Output("own_flags", GatherRows(flags, ints));
  g.Output("own_doubles", GatherRows(doubles, ints));
  g.Output("hot", OneHot(ints, 3, 7, -7, DType::kInt64));
  g.Output("stacked", Stack({flags, Not(flags)}, -1));
  g.Output("repeated", Repeat(flags, 3, 1));
  g.Output("total", CumSum(ints, 1, true, true));
  g.Output("product", CumProd(ints, 1));
  g.Output("clipped", ClipByValue(ints, 1, 2));
  g.Output("sorted", Sort(ints, 1, true));
  g.Output("best", TopK(doubles, 2).values);
  g.Output("order", ArgSort(doubles));
  g.Output("log", LogSumExp(doubles, {1}));
  g.Output("length", Norm(doubles, {1}));
  g.Output("short", ClipByNorm(doubles, 0.5, {1}));
  g.Output("round", Round(doubles * 3.0));
  g.Output("products", Einsum("ni,nj->nij", {doubles, doubles}));
  g.Output("slope", g.Gradients(ReduceSum(CumProd(doubles, 1) * Sort(doubles)), {doubles})[0]);
}

TEST(ComposedOps, OtherTypes) {
  CompareWithReference(OtherTypes, {.batch = 8, .mode = "eval"});
  CompareWithReference(OtherTypes, {.devices = 2, .batch = 4, .rows = {4, 1}, .mode = "eval"});
}

}  // namespace
}  // namespace tandem::compiled

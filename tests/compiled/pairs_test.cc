// Pairs of rows of a batch: against plain arithmetic in double precision, which knows nothing of graphs, with the same
// bits on any number of devices, for short batches and microbatches.
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/optimizers.h"
#include "gmock/gmock.h"
#include "graph/ops.h"
#include "gtest/gtest.h"
#include "tests/compiled/harness.h"

namespace tandem::compiled {
namespace {

using Matrix = std::vector<std::vector<double>>;

constexpr int64_t kRows = 32, kIn = 5, kOut = 7;
constexpr double kScale = 3;

// CLIP's loss (Radford et al. 2021) of two towers: the pair of an example among all pairs with its row, and with its
// column.
Tensor ClipLoss(GraphBuilder& g, const Tensor& a, const Tensor& b) {
  const Tensor missing = (1.0 - BatchMask(&g, kRows)) * -1e9;
  const Tensor own = Iota(&g, {kBatch}, 0, DType::kInt64);
  const Tensor rows = PairwiseProducts(a, b, kRows) * kScale + missing;
  const Tensor columns = PairwiseProducts(b, a, kRows) * kScale + missing;
  return (losses::SparseSoftmaxCrossEntropy(own, rows) + losses::SparseSoftmaxCrossEntropy(own, columns)) / 2.0;
}

Tensor Tower(GraphBuilder& g, const std::string& name) {
  return layers::Dense(g.Input(name, DType::kFloat32, {kBatch, kIn}), {.units = kOut, .use_bias = false, .name = name});
}

void Clip(GraphBuilder& g) {
  const Tensor a = Tower(g, "a"), b = Tower(g, "b");
  const Tensor loss = ClipLoss(g, a, b);
  g.Output("0", loss);
  const std::vector<Tensor> slopes = g.Gradients(loss, g.trainable_variables());
  g.Output("1", slopes[0]);
  g.Output("2", slopes[1]);
  optimizers::Adam({.learning_rate = 1e-2}).Minimize(loss);
}

Matrix MatrixOf(const HostTensor& tensor) {
  const HostTensor wide = ToFloat64(tensor);
  Matrix rows(wide.shape()[0], std::vector<double>(wide.shape()[1]));
  for (size_t i = 0; i < rows.size(); ++i) {
    for (size_t j = 0; j < rows[i].size(); ++j) rows[i][j] = wide.data<double>()[i * rows[i].size() + j];
  }
  return rows;
}

Matrix Times(const Matrix& x, const Matrix& w) {
  Matrix y(x.size(), std::vector<double>(w[0].size()));
  for (size_t i = 0; i < x.size(); ++i) {
    for (size_t k = 0; k < w.size(); ++k) {
      for (size_t j = 0; j < w[0].size(); ++j) y[i][j] += x[i][k] * w[k][j];
    }
  }
  return y;
}

// -log(softmax(scale a b^T)) of the diagonal, the mean.
double HalfOfClip(const Matrix& a, const Matrix& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    std::vector<double> logits(b.size());
    double total = 0;
    for (size_t j = 0; j < b.size(); ++j) {
      for (size_t k = 0; k < a[i].size(); ++k) logits[j] += kScale * a[i][k] * b[j][k];
      total += std::exp(logits[j]);
    }
    sum += std::log(total) - logits[i];
  }
  return sum / static_cast<double>(a.size());
}

double PlainClip(const Matrix& x, const Matrix& y, const Matrix& v, const Matrix& w) {
  const Matrix a = Times(x, v), b = Times(y, w);
  return (HalfOfClip(a, b) + HalfOfClip(b, a)) / 2;
}

TEST(Pairs, ClipIsWhatPlainArithmeticGives) {
  for (const std::vector<int64_t>& rows : {std::vector<int64_t>{32}, {13}, {16, 16}, {16, 5}, {8, 8, 3, 0}}) {
    int64_t all = 0;
    for (int64_t of_replica : rows) all += of_replica;
    const int devices = static_cast<int>(rows.size());
    const Options options = {.devices = devices, .batch = kRows / devices};
    absl::StatusOr<Program> program = Prepare(Clip, options);
    ASSERT_TRUE(program.ok()) << program.status();
    const TensorMap batch = RandomInputs(*program->executable, all, options, 1);
    const TensorMap values = program->Values();
    const Matrix x = MatrixOf(batch.at("a")), y = MatrixOf(batch.at("b"));
    const Matrix v = MatrixOf(values.at("a/kernel")), w = MatrixOf(values.at("b/kernel"));
    absl::StatusOr<StepResult> result = program->Run(Deal(*program, batch, rows, 0));
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_NEAR(ToFloat64(result->outputs[0]).data<double>()[0], PlainClip(x, y, v, w), 2e-5) << devices << " " << all;
    const Matrix slopes[] = {MatrixOf(result->outputs[1]), MatrixOf(result->outputs[2])};
    constexpr double kStep = 1e-4;
    for (size_t i = 0; i < kIn; ++i) {
      for (size_t j = 0; j < kOut; ++j) {
        Matrix v_up = v, v_down = v, w_up = w, w_down = w;
        v_up[i][j] += kStep, v_down[i][j] -= kStep, w_up[i][j] += kStep, w_down[i][j] -= kStep;
        const double of_v = (PlainClip(x, y, v_up, w) - PlainClip(x, y, v_down, w)) / (2 * kStep);
        const double of_w = (PlainClip(x, y, v, w_up) - PlainClip(x, y, v, w_down)) / (2 * kStep);
        EXPECT_NEAR(slopes[0][i][j], of_v, 1e-4) << devices << " " << all;
        EXPECT_NEAR(slopes[1][i][j], of_w, 1e-4) << devices << " " << all;
      }
    }
  }
}

TEST(Pairs, ClipHasTheSameBitsOnAnyDevices) {
  ExpectSameBits(Clip, {.batch = kRows, .steps = 3}, {32, 19, 5}, {{1, 2}, {2, 2}, {4, 3}});
}

TEST(Pairs, TrainAsTheReferenceDoes) {
  CompareWithReference(Clip, {.batch = 32});
  CompareWithReference(Clip, {.batch = 32, .lanes = 4, .microbatch_rows = 4});
  CompareWithReference(Clip, {.devices = 2, .batch = 16, .rows = {16, 3}});
}

// What is gathered is every bit of it, of other types and ranks too, and zeros behind.
void Gathers(GraphBuilder& g) {
  g.Output("0", GatherBatch(g.Input("x", DType::kFloat32, {kBatch, 2, 3}), kRows));
  g.Output("1", GatherBatch(g.Input("z", DType::kFloat64, {kBatch}), kRows));
  g.Output("2", BatchMask(&g, kRows));
}

TEST(Pairs, RowsAreGatheredAsTheyAre) {
  const Options options = {.devices = 2, .batch = 16, .mode = "predict"};
  absl::StatusOr<Program> program = Prepare(Gathers, options);
  ASSERT_TRUE(program.ok()) << program.status();
  const TensorMap batch = RandomInputs(*program->executable, 21, options, 1);
  absl::StatusOr<StepResult> result = program->Run(Deal(*program, batch, {16, 5}, 0));
  ASSERT_TRUE(result.ok()) << result.status();
  const auto expect_rows = [](const HostTensor& got, const HostTensor& given) {
    const HostTensor all = ToFloat64(got), some = ToFloat64(given);
    ASSERT_EQ(all.shape()[0], kRows);
    for (int64_t i = 0; i < all.num_elements(); ++i) {
      EXPECT_EQ(all.data<double>()[i], i < some.num_elements() ? some.data<double>()[i] : 0);
    }
  };
  expect_rows(result->outputs[0], batch.at("x"));
  expect_rows(result->outputs[1], batch.at("z"));
  const HostTensor mask = ToFloat64(result->outputs[2]);
  for (int64_t i = 0; i < kRows; ++i) EXPECT_EQ(mask.data<double>()[i], i < 21 ? 1 : 0);
}

// A step with more examples than rows changes nothing.
TEST(Pairs, MoreExamplesThanRowsEndTraining) {
  absl::StatusOr<Program> program = Prepare(Clip, {.devices = 2, .batch = 20});
  ASSERT_TRUE(program.ok()) << program.status();
  const TensorMap before = program->Values();
  const TensorMap batch = RandomInputs(*program->executable, 40, {}, 1);
  absl::StatusOr<StepResult> result = program->Run(Deal(*program, batch, {20, 20}, 0));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_FALSE(result->finite);
  const TensorMap after = program->Values();
  for (const auto& [name, value] : before) EXPECT_EQ(MaxDifference(value, after.at(name)), 0) << name;
}

}  // namespace
}  // namespace tandem::compiled

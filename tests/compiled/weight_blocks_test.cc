// Weight gradients that are computed in blocks behind the maps: values, bits, and the slots that lanes no longer need.
#include <algorithm>
#include <string>
#include <vector>

#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/optimizers.h"
#include "graph/ops.h"
#include "gtest/gtest.h"
#include "runtime/format/index.h"
#include "tests/compiled/harness.h"

namespace tandem::compiled {
namespace {

// The first layer's gradient reads the input, the second one's is odd in every size; the last is too small for blocks.
void Model(GraphBuilder& g) {
  Tensor x = g.Input("x", DType::kFloat32, {kBatch, 300});
  x = layers::Dense(x, {.units = 301, .activation = Relu});
  x = layers::Dense(x, {.units = 257, .activation = Tanh});
  Tensor logits = layers::Dense(x, {.units = 5});
  Tensor loss = losses::SparseSoftmaxCrossEntropy(g.Input("label", DType::kInt32, {kBatch}), logits);
  g.Output("loss", loss);
  optimizers::Momentum({.learning_rate = 0.1, .momentum = 0.9}).Minimize(loss);
}

int CountBlockKernels(const Executable& executable) {
  int count = 0;
  for (const auto& kernel : executable.index().kernels) count += kernel.domain == format::Domain::kBlocks;
  return count;
}

TEST(WeightBlocks, TrainingStepsMatchTheReference) {
  for (int64_t rows : {16, 11, 3}) {
    SCOPED_TRACE(rows);
    CompareWithReference(Model, {.batch = 16, .rows = {rows}, .lanes = 4, .steps = 2});
  }
  CompareWithReference(Model, {.devices = 2, .batch = 8, .rows = {8, 2}, .steps = 2});
  CompareWithReference(Model, {.devices = 2, .batch = 8, .rows = {7, 0}, .steps = 2});
}

TEST(WeightBlocks, LanesHaveNoSlotsForThem) {
  absl::StatusOr<Program> program = Prepare(Model, {.batch = 16});
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(CountBlockKernels(*program->executable), 2);
  EXPECT_LT(program->executable->index().programs[0].lane_bytes, 16 << 10);
  // A batch whose rows outweigh the gradients stays with the lanes.
  absl::StatusOr<Program> large = Prepare(Model, {.batch = 512});
  ASSERT_TRUE(large.ok()) << large.status();
  EXPECT_EQ(CountBlockKernels(*large->executable), 0);
}

TEST(WeightBlocks, SameBitsOnAnyDevicesAndThreads) {
  ExpectSameBits(Model, {.batch = 16, .lanes = 4, .steps = 3}, {16, 13, 6}, {{1, 2}, {1, 3}, {2, 2}, {4, 3}});
}

// The gradient of the kernel is x^T t: the test chooses it.
void Chosen(GraphBuilder& g) {
  Tensor x = g.Input("x", DType::kFloat32, {kBatch, 300}), t = g.Input("t", DType::kFloat32, {kBatch, 301});
  Tensor loss = ReduceSum(layers::Dense(x, {.units = 301}) * t);
  g.Output("loss", loss);
  optimizers::Momentum({.learning_rate = 0.1, .momentum = 0.9}).Minimize(loss);
}

TensorMap ChosenInputs(const Program& program, const Options& options) {
  TensorMap batch = RandomInputs(*program.executable, 16, options, 0);
  auto *x = batch["x"].data<float>(), *t = batch["t"].data<float>();
  std::fill(x, x + 300, 1e30f);  // the first example
  std::fill(t, t + 301, 0.0f);
  t[301] = 1e12f;
  return batch;
}

// On one device gradients are applied block by block where they cannot overflow, on two never. Products of the largest
// numbers would, but do not occur: nothing is lost by looking closer.
TEST(WeightBlocks, GradientsThatSeemToOverflow) {
  std::vector<TensorMap> values;
  for (int devices : {1, 2}) {
    const Options options{.devices = devices, .batch = 16 / devices, .lanes = 4};
    absl::StatusOr<Program> program = Prepare(Chosen, options);
    ASSERT_TRUE(program.ok()) << program.status();
    ASSERT_EQ(CountBlockKernels(*program->executable), 1);
    std::vector<int64_t> rows(devices, 16 / devices);
    absl::StatusOr<StepResult> result = program->Run(Deal(*program, ChosenInputs(*program, options), rows, 0));
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_TRUE(result->finite);
    values.push_back(program->Values());
  }
  for (const auto& [name, value] : values[0]) EXPECT_TRUE(value.BitEqual(values[1].at(name))) << name;
}

// The large numbers are in even columns, of which a pair of bfloat16 that is read as one float32 would show little.
class WeightBlocksOf : public testing::TestWithParam<Precision> {};

TEST_P(WeightBlocksOf, GradientsThatOverflowChangeNothing) {
  const Options options{.batch = 16, .lanes = 4, .precision = GetParam()};
  absl::StatusOr<Program> program = Prepare(Chosen, options);
  ASSERT_TRUE(program.ok()) << program.status();
  ASSERT_EQ(CountBlockKernels(*program->executable), 1);
  const TensorMap before = program->Values();
  TensorMap batch = ChosenInputs(*program, options);
  std::fill_n(batch["x"].data<float>(), 300, 0.0f);
  batch["x"].data<float>()[0] = 1e25f;
  batch["t"].data<float>()[0] = 2e14f;  // with weights of at most 0.1 the loss is finite
  const StepInputs bad = Deal(*program, batch, {16}, 0);
  absl::StatusOr<StepResult> result = program->Run(bad);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_FALSE(result->finite);
  for (const auto& [name, value] : program->Values()) EXPECT_TRUE(value.BitEqual(before.at(name))) << name;
  absl::StatusOr<std::string> named = program->session->FindNonFinite(bad);
  ASSERT_TRUE(named.ok()) << named.status();
  EXPECT_NE(named->find("MatMul"), std::string::npos) << *named;
}

INSTANTIATE_TEST_SUITE_P(Precisions, WeightBlocksOf, testing::Values(Precision::kFloat32, Precision::kMixedBfloat16));

}  // namespace
}  // namespace tandem::compiled

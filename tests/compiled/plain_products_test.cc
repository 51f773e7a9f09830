// Dense layers whose weights are read where they lie: which are, values, and bits.
#include <utility>
#include <vector>

#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/optimizers.h"
#include "graph/ops.h"
#include "gtest/gtest.h"
#include "tests/compiled/harness.h"

namespace tandem::compiled {
namespace {

constexpr int64_t kRows = 32;

// The second layer's product and its input gradient are large enough, the first one's input gradient is not needed.
void Model(GraphBuilder& g) {
  Tensor x = g.Input("x", DType::kFloat32, {kBatch, 500});
  x = layers::Dense(x, {.units = 544, .activation = Relu});
  x = layers::Dense(x, {.units = 512, .activation = Tanh});
  Tensor logits = layers::Dense(x, {.units = 5});
  Tensor loss = losses::SparseSoftmaxCrossEntropy(g.Input("label", DType::kInt32, {kBatch}), logits);
  g.Output("loss", loss);
  optimizers::Momentum({.learning_rate = 0.1, .momentum = 0.9}).Minimize(loss);
}

class PlainProducts : public testing::Test {
 protected:
  void SetUp() override {
    if (!__builtin_cpu_supports("avx512f")) GTEST_SKIP() << "this CPU has no AVX-512: all products are oneDNN's";
  }
};

struct Calls {
  int plain_products = 0, packings = 0;
};

Calls Count(const Executable& executable) {
  Calls calls;
  for (const auto& section : executable.index().programs[0]->sections) {
    for (const auto& step : section->steps) {
      if (step->body.type != fb::StepBody::LibraryCall) continue;
      const fb::LibraryCallT& call = *step->body.AsLibraryCall();
      calls.plain_products += call.implementation == "plain_product";
      calls.packings += call.primitive == fb::Primitive::PackWeights;
    }
  }
  return calls;
}

TEST_F(PlainProducts, LargeMatricesAreNotPacked) {
  absl::StatusOr<Program> program = Prepare(Model, {.batch = kRows, .lanes = 4});
  ASSERT_TRUE(program.ok()) << program.status();
  const Calls calls = Count(*program->executable);
  EXPECT_EQ(calls.plain_products, 3);
  EXPECT_EQ(calls.packings, 2);  // the last layer, forward and backward
}

TEST_F(PlainProducts, TrainingStepsMatchTheReference) {
  CompareWithReference(Model, {.batch = kRows, .rows = {kRows}, .lanes = 4, .steps = 2});
  CompareWithReference(Model, {.batch = kRows, .rows = {21}, .lanes = 4, .steps = 1});
}

TEST_F(PlainProducts, SameBitsOnAnyDevicesAndThreads) {
  for (int devices : {1, 2, 4}) {
    absl::StatusOr<Program> program = Prepare(Model, {.devices = devices, .batch = kRows / devices, .lanes = 4});
    ASSERT_TRUE(program.ok()) << program.status();
    EXPECT_EQ(Count(*program->executable).plain_products, 3);
  }
  ExpectSameBits(Model, {.batch = kRows, .lanes = 4, .steps = 3}, {kRows, 21}, {{1, 3}, {2, 2}, {4, 3}});
}

}  // namespace
}  // namespace tandem::compiled

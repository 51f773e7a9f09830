// Weight gradients of convolutions that are computed in blocks behind the maps: values, bits and slots.
#include <algorithm>
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

// A stride, a kernel of one pixel, and a window that is mostly padding.
void Build(GraphBuilder& g, bool norm) {
  Tensor x = g.Input("x", DType::kFloat32, {kBatch, 4, 4, 32});
  x = layers::Conv2D(x, {.filters = 256, .kernel_size = 3, .strides = 2, .padding = Padding::kSame});
  if (norm) x = layers::BatchNormalization(x, {.training = true});
  x = Relu(x);
  x = layers::Conv2D(x, {.filters = 288, .kernel_size = 1, .activation = Tanh});
  x = layers::Conv2D(x, {.filters = 64, .kernel_size = 3, .padding = Padding::kSame, .activation = Relu});
  Tensor logits = layers::Dense(layers::Flatten(x), {.units = 5});
  Tensor loss = losses::SparseSoftmaxCrossEntropy(g.Input("label", DType::kInt32, {kBatch}), logits);
  g.Output("loss", loss);
  optimizers::Momentum({.learning_rate = 0.1, .momentum = 0.9}).Minimize(loss);
}

void Model(GraphBuilder& g) { Build(g, false); }
// With maps before and behind the ones that make the gradients' operands.
void NormModel(GraphBuilder& g) { Build(g, true); }

TEST(ConvWeightBlocks, TrainingStepsMatchTheReference) {
  for (int64_t rows : {16, 11}) {
    SCOPED_TRACE(rows);
    CompareWithReference(NormModel, {.batch = 16, .rows = {rows}, .lanes = 4, .steps = 1});
  }
  CompareWithReference(Model, {.devices = 2, .batch = 8, .rows = {7, 0}, .steps = 1});
}

TEST(ConvWeightBlocks, LanesHaveNoSlotsForThem) {
  absl::StatusOr<Program> program = Prepare(NormModel, {.batch = 16});
  ASSERT_TRUE(program.ok()) << program.status();
  const format::Index& index = program->executable->index();
  EXPECT_EQ(std::count_if(index.kernels.begin(), index.kernels.end(),
                          [](const auto& kernel) { return kernel.domain == format::Domain::kBlocks; }),
            3);
  EXPECT_LT(index.programs[0].lane_bytes, 32 << 10);
}

TEST(ConvWeightBlocks, SameBitsOnAnyDevicesAndThreads) {
  ExpectSameBits(Model, {.batch = 16, .lanes = 4, .steps = 2}, {16, 6}, {{1, 3}, {2, 2}, {4, 1}});
}

}  // namespace
}  // namespace tandem::compiled

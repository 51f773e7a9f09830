// The same examples in the same order train to the same bits on any number of threads, and on one, two or four devices.
#include <string>

#include "absl/status/statusor.h"
#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/optimizers.h"
#include "gmock/gmock.h"
#include "graph/ops.h"
#include "gtest/gtest.h"
#include "runtime/format/index.h"
#include "samples/networks.h"
#include "tests/compiled/encoder_model.h"
#include "tests/compiled/harness.h"

namespace tandem::compiled {
namespace {

void Convnet(GraphBuilder& g) {
  Tensor image = g.Input("image", DType::kFloat32, {kBatch, 28, 28, 1});
  Tensor logits = networks::ZalandoConvnet(image, {.training = true, .logits = true});
  Tensor loss = losses::SparseSoftmaxCrossEntropy(g.Input("label", DType::kInt32, {kBatch}), logits);
  g.Output("loss", loss);
  optimizers::Adam({.learning_rate = 1e-3}).Minimize(loss);
}

TEST(SameBits, ConvnetOnAnyDevicesAndThreads) {
  ExpectSameBits(Convnet, {.batch = 128, .steps = 5}, {128}, {{1, 2}, {1, 3}, {2, 2}, {4, 3}});
}

// An embedding's gradient is a sum over all rows of a device, in the order of the tree.
TEST(SameBits, EncoderOnAnyDevicesAndThreads) {
  for (int64_t rows : {8, 48}) {
    ExpectSameBits(EncoderModel, {.batch = rows, .steps = 3, .ranges = {{"ids", {0, kEncoderVocabulary}}}}, {rows},
                   {{1, 2}, {1, 3}, {2, 1}, {2, 3}, {4, 1}, {4, 2}});
  }
}

// Random numbers, statistics of all replicas, a maximum over the batch, clipping by the global norm.
void Mixed(GraphBuilder& g) {
  Tensor x = layers::Dense(g.Input("x", DType::kFloat32, {kBatch, 12}), {.units = 20});
  x = Relu(layers::BatchNormalization(x, {.training = true, .sync = true}));
  x = layers::Dense(layers::Dropout(x, {.rate = 0.4, .training = true}), {.units = 4});
  g.Output("logits", x);
  g.Output("largest", ReduceMax(x));
  Tensor loss = losses::SparseSoftmaxCrossEntropy(g.Input("label", DType::kInt32, {kBatch}), x);
  g.Output("loss", loss);
  optimizers::RMSprop({.learning_rate = 1e-2, .momentum = 0.5, .clip = {.global_norm = 0.3}}).Minimize(loss);
}

TEST(SameBits, DropoutAndSyncedBatchNorm) {
  for (int64_t rows : {8, 64, 200}) ExpectSameBits(Mixed, {.batch = rows, .steps = 4}, {rows}, {{2, 2}, {4, 2}});
}

TEST(SameBits, AShortBatchOnAnyThreads) {
  ExpectSameBits(Mixed, {.batch = 64, .lanes = 4, .microbatch_rows = 6, .steps = 3}, {37}, {{1, 2}, {1, 3}});
}

// Sums of a residual network are kept, or computed again where memory is short.
void Residual(GraphBuilder& g) {
  Tensor x = layers::Dense(g.Input("x", DType::kFloat32, {kBatch, 12}), {.units = 64});
  for (int block = 0; block < 4; ++block) {
    Tensor y = layers::BatchNormalization(layers::Dense(x, {.units = 64}), {.training = true, .sync = true});
    x = Relu(x + y);
  }
  Tensor loss =
      losses::SparseSoftmaxCrossEntropy(g.Input("label", DType::kInt32, {kBatch}), layers::Dense(x, {.units = 4}));
  g.Output("loss", loss);
  optimizers::GradientDescent({.learning_rate = 0.1}).Minimize(loss);
}

TEST(SameBits, AnyMemoryLimit) {
  constexpr int64_t kRows = 4096;
  absl::StatusOr<Program> free = Prepare(Residual, {.batch = kRows});
  ASSERT_TRUE(free.ok()) << free.status();
  Options options{.batch = kRows, .threads = 1, .steps = 3};
  const Trained all = Train(Residual, options, kRows);
  // Less than it takes without a limit, more than it takes with every block but the first computed again.
  options.memory_limit = 10 << 20;
  absl::StatusOr<Program> limited = Prepare(Residual, options);
  ASSERT_TRUE(limited.ok()) << limited.status();
  EXPECT_LT(limited->executable->index().programs[0].batch_bytes, free->executable->index().programs[0].batch_bytes);
  ExpectSameBits(all, Train(Residual, options, kRows));

  options.memory_limit = 1 << 20;
  const absl::Status status = Prepare(Residual, options).status();
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("takes ")) << status;
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("memory_limit allows 1.0 MiB: variables 0.1 MiB"));
}

}  // namespace
}  // namespace tandem::compiled

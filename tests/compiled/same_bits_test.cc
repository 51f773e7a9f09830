// The same examples in the same order train to the same bits on any number of threads, and on one, two or four devices.
#include <vector>

#include "absl/strings/str_cat.h"
#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/models.h"
#include "frontends/optimizers.h"
#include "gmock/gmock.h"
#include "graph/ops.h"
#include "gtest/gtest.h"
#include "tests/compiled/encoder_model.h"
#include "tests/compiled/harness.h"

namespace tandem::compiled {
namespace {

struct Trained {
  TensorMap variables;
  std::vector<HostTensor> outputs;  // of the last step
};

Trained Train(const BuildFn& build, const Options& options, int64_t rows) {
  Trained trained;
  absl::StatusOr<Program> program = Prepare(build, options);
  EXPECT_TRUE(program.ok()) << program.status();
  if (!program.ok()) return trained;
  for (int step = 0; step < options.steps; ++step) {
    TensorMap batch = RandomInputs(*program->executable, rows, options, step);
    std::vector<int64_t> dealt(options.devices, rows / options.devices);
    absl::StatusOr<StepResult> result = program->Run(Deal(*program, batch, dealt, step));
    EXPECT_TRUE(result.ok()) << result.status();
    if (result.ok()) trained.outputs = result->outputs;
  }
  trained.variables = program->Values();
  return trained;
}

void ExpectSameBits(const Trained& a, const Trained& b) {
  ASSERT_FALSE(a.variables.empty());
  ASSERT_EQ(a.variables.size(), b.variables.size());
  for (const auto& [name, value] : a.variables) {
    EXPECT_TRUE(value.BitEqual(b.variables.at(name))) << name << " by " << MaxDifference(value, b.variables.at(name));
  }
  ASSERT_EQ(a.outputs.size(), b.outputs.size());
  for (size_t i = 0; i < a.outputs.size(); ++i) EXPECT_TRUE(a.outputs[i].BitEqual(b.outputs[i])) << "output " << i;
}

void Convnet(GraphBuilder& g) {
  Tensor image = g.Input("image", DType::kFloat32, {kBatch, 28, 28, 1});
  Tensor logits = models::ZalandoConvnet(image, {.training = true, .logits = true});
  Tensor loss = losses::SparseSoftmaxCrossEntropy(g.Input("label", DType::kInt32, {kBatch}), logits);
  g.Output("loss", loss);
  optimizers::Adam({.learning_rate = 1e-3}).Minimize(loss);
}

TEST(SameBits, ConvnetOnAnyDevicesAndThreads) {
  Trained one = Train(Convnet, {.devices = 1, .batch = 128, .threads = 1, .steps = 5}, 128);
  for (auto [devices, threads] : {std::pair(1, 2), {1, 3}, {2, 2}, {4, 3}}) {
    SCOPED_TRACE(absl::StrCat(devices, " devices, ", threads, " threads"));
    ExpectSameBits(one,
                   Train(Convnet, {.devices = devices, .batch = 128 / devices, .threads = threads, .steps = 5}, 128));
  }
}

// An embedding's gradient is a sum over all rows of a device, in the order of the tree.
TEST(SameBits, EncoderOnAnyDevicesAndThreads) {
  auto train = [](int devices, int threads, int64_t rows) {
    return Train(EncoderModel,
                 {.devices = devices,
                  .batch = rows / devices,
                  .threads = threads,
                  .steps = 3,
                  .ranges = {{"ids", {0, kEncoderVocabulary}}}},
                 rows);
  };
  for (int64_t rows : {8, 48}) {
    Trained one = train(1, 1, rows);
    for (auto [devices, threads] : {std::pair(1, 2), {1, 3}, {2, 1}, {2, 3}, {4, 1}, {4, 2}}) {
      SCOPED_TRACE(absl::StrCat(rows, " rows, ", devices, " devices, ", threads, " threads"));
      ExpectSameBits(one, train(devices, threads, rows));
    }
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
  optimizers::RMSprop({.learning_rate = 1e-2, .momentum = 0.5, .clip_global_norm = 0.3}).Minimize(loss);
}

TEST(SameBits, DropoutAndSyncedBatchNorm) {
  for (int64_t rows : {8, 64, 200}) {
    SCOPED_TRACE(rows);
    Trained one = Train(Mixed, {.devices = 1, .batch = rows, .threads = 1, .steps = 4}, rows);
    for (int devices : {2, 4}) {
      SCOPED_TRACE(devices);
      ExpectSameBits(one, Train(Mixed, {.devices = devices, .batch = rows / devices, .steps = 4}, rows));
    }
  }
}

TEST(SameBits, AShortBatchOnAnyThreads) {
  Options options{.batch = 64, .threads = 1, .lanes = 4, .shard_rows = 6, .steps = 3};
  Trained one = Train(Mixed, options, 37);
  for (int threads : {2, 3}) {
    options.threads = threads;
    ExpectSameBits(one, Train(Mixed, options, 37));
  }
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
  EXPECT_LT(limited->executable->index().programs[0]->batch_bytes, free->executable->index().programs[0]->batch_bytes);
  ExpectSameBits(all, Train(Residual, options, kRows));

  options.memory_limit = 1 << 20;
  const absl::Status status = Prepare(Residual, options).status();
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("takes ")) << status;
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("memory_limit allows 1.0 MiB: variables 0.1 MiB"));
}

}  // namespace
}  // namespace tandem::compiled

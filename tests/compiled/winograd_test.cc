// Whole training steps whose convolutions take Winograd's algorithm, against the reference interpreter.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/optimizers.h"
#include "graph/ops.h"
#include "gtest/gtest.h"
#include "runtime/format/index.h"
#include "tests/compiled/harness.h"

namespace tandem::compiled {
namespace {

// How many kernels of `executable` hold the op.
int CountOps(const Executable& executable, const std::string& op) {
  int count = 0;
  for (const auto& kernel : executable.index().kernels) {
    for (const std::string& name : kernel.ops) count += name == op;
  }
  return count;
}

// The second and third convolution can have all three roles (the cost model leaves a small filter gradient to direct
// convolution); odd sizes leave tiles over the border.
BuildFn Model(bool same) {
  return [same](GraphBuilder& g) {
    Tensor x = g.Input("image", DType::kFloat32, {kBatch, 15, 13, 3});
    const Padding padding = same ? Padding::kSame : Padding::kValid;
    x = layers::Conv2D(x, {.filters = 32, .kernel_size = 3, .padding = padding, .activation = Relu});
    x = layers::Conv2D(x, {.filters = 48, .kernel_size = 3, .padding = padding, .activation = Relu});
    x = layers::Conv2D(x, {.filters = 40, .kernel_size = 3, .padding = padding, .use_bias = false});
    g.Output("features", x);
    Tensor logits = layers::Dense(ReduceMean(Tanh(x), {1, 2}), {.units = 5});
    Tensor loss = losses::SparseSoftmaxCrossEntropy(g.Input("label", DType::kInt32, {kBatch}), logits);
    g.Output("loss", loss);
    optimizers::SGD({.learning_rate = 0.1}).Minimize(loss);
  };
}

TEST(Winograd, TrainingStepsMatchTheReference) {
  for (bool same : {false, true}) {
    SCOPED_TRACE(same);
    // A full and a short batch; microbatches of 5 rows leave a short one in every lane.
    const Options options{.batch = 12, .rows = {11}, .lanes = 2, .microbatch_rows = 5, .steps = 2, .tolerance = 1e-4};
    absl::StatusOr<Program> program = Prepare(Model(same), options);
    ASSERT_TRUE(program.ok()) << program.status();
    EXPECT_GE(CountOps(*program->executable, "exec.winograd_conv2d"), 2);
    EXPECT_GE(CountOps(*program->executable, "exec.winograd_input_grad"), 2);
    EXPECT_GE(CountOps(*program->executable, "exec.winograd_filter_grad"), 1);
    CompareWithReference(Model(same), options);
  }
}

TEST(Winograd, SameBitsOnAnyDevicesAndThreads) {
  auto train = [](int devices, int threads) {
    const Options options{.devices = devices, .batch = 16 / devices, .threads = threads, .lanes = 4, .steps = 3};
    absl::StatusOr<Program> program = Prepare(Model(true), options);
    EXPECT_TRUE(program.ok()) << program.status();
    for (int step = 0; step < options.steps; ++step) {
      TensorMap batch = RandomInputs(*program->executable, 16, options, step);
      auto result = program->Run(Deal(*program, batch, std::vector<int64_t>(devices, 16 / devices), step));
      EXPECT_TRUE(result.ok()) << result.status();
    }
    return program->Values();
  };
  const TensorMap one = train(1, 1);
  for (auto [devices, threads] : {std::pair(1, 3), {2, 2}, {4, 3}}) {
    SCOPED_TRACE(absl::StrCat(devices, " devices, ", threads, " threads"));
    for (const auto& [name, value] : train(devices, threads)) EXPECT_TRUE(value.BitEqual(one.at(name))) << name;
  }
}

}  // namespace
}  // namespace tandem::compiled

// Residual networks whose contractions add the residual: which do, values against the reference, and bits.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/optimizers.h"
#include "graph/ops.h"
#include "gtest/gtest.h"
#include "runtime/library_calls/library_call.h"
#include "tests/compiled/harness.h"
#include "tools/run/reference_check.h"

namespace tandem::compiled {
namespace {

// A network of convolutions: two blocks, the second with a projection and without rectifying the sum. Odd sizes.
BuildFn Convolutions(int64_t kernel_size) {
  return [kernel_size](GraphBuilder& g) {
    auto convolve = [](const Tensor& x, int64_t filters, int64_t size, bool bias) {
      return layers::Conv2D(x, {.filters = filters, .kernel_size = size, .padding = Padding::kSame, .use_bias = bias});
    };
    Tensor x = Relu(convolve(g.Input("image", DType::kFloat32, {kBatch, 9, 7, 5}), 32, 1, true));
    Tensor y = Relu(convolve(x, 24, 1, true));
    x = Relu(convolve(y, 32, kernel_size, true) + x);
    y = Relu(convolve(x, 24, 1, true));
    x = convolve(x, 48, 1, true) + convolve(y, 48, kernel_size, false);
    g.Output("features", x * 2.0f);
    g.Output("mean", ReduceMean(x, {1, 2}));
  };
}

// Dense layers; the first residual is read again behind its sum, so only the second can be written over.
void DenseLayers(GraphBuilder& g) {
  Tensor first = layers::Dense(g.Input("x", DType::kFloat32, {kBatch, 19}), {.units = 40, .activation = Relu});
  Tensor x = first + layers::Dense(Tanh(first), {.units = 40});
  Tensor y = layers::Dense(x, {.units = 56, .activation = Relu});
  x = Relu(x + layers::Dense(y, {.units = 40}));
  g.Output("y", Tanh(x) - first);
}

// The gradient to what three dense layers read is the sum of three products. The forward sum is of a product and what a
// generated kernel computes for it alone.
void Branches(GraphBuilder& g) {
  Tensor x = layers::Dense(g.Input("x", DType::kFloat32, {kBatch, 19}), {.units = 40, .activation = Tanh});
  Tensor a = layers::Dense(x, {.units = 24, .activation = Tanh}), b = layers::Dense(x, {.units = 24});
  Tensor logits = layers::Dense(a * b + layers::Dense(x, {.units = 24}), {.units = 5});
  Tensor loss = losses::SparseSoftmaxCrossEntropy(g.Input("label", DType::kInt32, {kBatch}), logits);
  g.Output("loss", loss);
  optimizers::Momentum({.learning_rate = 0.1, .momentum = 0.9}).Minimize(loss);
}

struct Found {
  int adds = 0;  // calls that add a residual
  int copies = 0;
  int sums = 0;      // td.add in generated kernels
  int winograd = 0;  // forward convolutions
};

Found Count(const Executable& executable) {
  Found found;
  for (const auto& section : executable.index().programs[0].sections) {
    for (const auto& command : section.commands) {
      const auto* call = command.body.As<format::LibraryCall>();
      found.adds += call != nullptr && InfoOf(*call).epilogue.residual;
      found.copies += section.kind == format::SectionKind::kMap && command.body.As<format::Copy>() != nullptr;
    }
  }
  for (const auto& kernel : executable.index().kernels) {
    for (const std::string& op : kernel.ops) {
      found.sums += op == "td.add";
      found.winograd += op == "exec.winograd_conv2d";
    }
  }
  return found;
}

Found CountIn(const BuildFn& build, const Options& options) {
  absl::StatusOr<Program> program = Prepare(build, options);
  EXPECT_TRUE(program.ok()) << program.status();
  return program.ok() ? Count(*program->executable) : Found();
}

// The last lane has a short microbatch, of 2 rows.
Options Predict(Precision precision) {
  return {.batch = 24,
          .rows = {23},
          .lanes = 4,
          .microbatch_rows = 3,
          .steps = 1,
          .mode = "predict",
          .precision = precision,
          .tolerance = precision == Precision::kFloat32 ? 1e-4 : 2e-5};
}

TEST(Residual, ConvolutionsAddIt) {
  for (int64_t kernel_size : {1, 3}) {
    SCOPED_TRACE(kernel_size);
    const Options options = Predict(Precision::kStrictFloat32);
    const Found found = CountIn(Convolutions(kernel_size), options);
    EXPECT_EQ(found.adds, 2);
    EXPECT_EQ(found.sums, 1);  // the bias of the first layer, which is no library's
    EXPECT_EQ(found.copies, 0);
    CompareWithReference(Convolutions(kernel_size), options);
  }
}

TEST(Residual, WinogradAddsIt) {
  const Options options = Predict(Precision::kFloat32);
  const Found found = CountIn(Convolutions(3), options);
  EXPECT_GE(found.winograd, 1);
  EXPECT_EQ(found.adds + found.winograd, 2);
  EXPECT_EQ(found.sums, 1);
  CompareWithReference(Convolutions(3), options);
}

TEST(Residual, DenseLayersAddIt) {
  const Found found = CountIn(DenseLayers, Predict(Precision::kFloat32));
  EXPECT_EQ(found.adds, 1);
  EXPECT_EQ(found.copies, 0);
  CompareWithReference(DenseLayers, Predict(Precision::kFloat32));
}

TEST(Residual, GradientsOfBranchesAddUp) {
  const Options options{.batch = 24, .rows = {23}, .lanes = 4, .microbatch_rows = 3, .steps = 2};
  EXPECT_EQ(CountIn(Branches, options).adds, 2);
  CompareWithReference(Branches, options);
}

// bfloat16 residuals are added to the float32 sum, where the painted graph rounds the sum before as well.
TEST(Residual, MixedPrecision) {
  for (const BuildFn& build : {Convolutions(1), Convolutions(3), BuildFn(DenseLayers)}) {
    const Options options = Predict(Precision::kMixedBfloat16);
    absl::StatusOr<Program> program = Prepare(build, options);
    ASSERT_TRUE(program.ok()) << program.status();
    auto check = ReferenceCheck::Create(*program->executable);
    ASSERT_TRUE(check.ok()) << check.status();
    const TensorMap batch = RandomInputs(*program->executable, 23, options, 0), values = program->Values();
    const StepInputs inputs = Deal(*program, batch, {23}, 0);
    ASSERT_TRUE((*check)
                    ->Evaluate(23, {batch.begin(), batch.end()}, {values.begin(), values.end()},
                               {inputs.scalars.begin(), inputs.scalars.end()})
                    .ok());
    absl::StatusOr<StepResult> got = program->Run(inputs);
    ASSERT_TRUE(got.ok()) << got.status();
    for (size_t i = 0; i < got->outputs.size(); ++i) {
      const std::string& name = program->executable->index().outputs[i].name;
      auto error = (*check)->CompareOutput(name, got->outputs[i]);
      ASSERT_TRUE(error.ok()) << error.status();
      EXPECT_TRUE(error->Within(2e-2, 1e-3)) << name << ": " << error->error << " of " << error->magnitude;
    }
  }
}

TEST(Residual, SameBitsOnAnyDevicesAndThreads) {
  for (Precision precision : {Precision::kFloat32, Precision::kStrictFloat32, Precision::kMixedBfloat16}) {
    for (const BuildFn& build : {Convolutions(3), BuildFn(Branches)}) {
      Options options = Predict(precision);
      options.rows.clear();
      options.mode = "train";
      options.steps = 2;
      ExpectSameBits(build, options, {24, 23}, {{1, 3}, {2, 2}, {4, 3}});
    }
  }
}

}  // namespace
}  // namespace tandem::compiled

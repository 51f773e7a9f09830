// mixed_bfloat16: compiled programs against the interpretation of their own painted graph, which rounds wherever the
// program does; the same bits on any threads and devices; and what must hold of the program.
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/optimizers.h"
#include "graph/ops.h"
#include "gtest/gtest.h"
#include "passes/analysis/machine_model.h"
#include "passes/compile/compile.h"
#include "runtime/cpu/kernels/instruction_set.h"
#include "runtime/library_calls/library_call.h"
#include "tests/compiled/harness.h"
#include "tools/run/reference_check.h"

namespace tandem::compiled {
namespace {

Tensor Loss(GraphBuilder& g, const Tensor& logits) {
  Tensor loss = losses::SparseSoftmaxCrossEntropy(g.Input("label", DType::kInt32, {kBatch}), logits);
  g.Output("logits", logits);
  g.Output("loss", loss);
  return loss;
}

void Convnet(GraphBuilder& g) {
  Tensor x = layers::Conv2D(g.Input("image", DType::kFloat32, {kBatch, 14, 14, 1}),
                            {.filters = 16, .kernel_size = 3, .activation = Relu});
  x = layers::MaxPooling2D(x, {.pool_size = 2});
  x = layers::Conv2D(x, {.filters = 32, .kernel_size = 3, .activation = Relu});
  x = layers::Dense(layers::Flatten(x), {.units = 24, .activation = Relu});
  optimizers::GradientDescent({.learning_rate = 0.1}).Minimize(Loss(g, layers::Dense(x, {.units = 10})));
}

// Batch normalisation in float32 between bfloat16 convolutions, a sum of two paths, a strided convolution.
void Residual(GraphBuilder& g) {
  Tensor x = g.Input("image", DType::kFloat32, {kBatch, 8, 8, 3});
  x = layers::Conv2D(x, {.filters = 16, .kernel_size = 3, .padding = Padding::kSame, .use_bias = false});
  x = Relu(layers::BatchNormalization(x, {.training = true, .sync = true}));
  Tensor y = layers::Conv2D(x, {.filters = 16, .kernel_size = 3, .padding = Padding::kSame, .use_bias = false});
  y = layers::BatchNormalization(y, {.training = true, .sync = true});
  x = Relu(Add(x, y));
  x = layers::Conv2D(x, {.filters = 32, .kernel_size = 1, .strides = 2});
  x = ReduceMean(x, {1, 2});
  optimizers::GradientDescent({.learning_rate = 0.1}).Minimize(Loss(g, layers::Dense(x, {.units = 5})));
}

void Dropout(GraphBuilder& g) {
  Tensor x = layers::Dense(g.Input("x", DType::kFloat32, {kBatch, 48}), {.units = 64, .activation = Tanh});
  x = layers::Dropout(x, {.rate = 0.4, .training = true});
  x = layers::Dense(x, {.units = 32, .activation = Sigmoid});
  optimizers::GradientDescent({.learning_rate = 0.1}).Minimize(Loss(g, layers::Dense(x, {.units = 4})));
}

// Convolutions with enough channels for Winograd's algorithm in all three roles, one with a result that stays float32.
void Wide(GraphBuilder& g) {
  Tensor x = g.Input("image", DType::kFloat32, {kBatch, 13, 11, 3});
  x = layers::Conv2D(x, {.filters = 32, .kernel_size = 3, .activation = Relu});
  x = layers::Conv2D(x, {.filters = 48, .kernel_size = 3, .padding = Padding::kSame, .activation = Relu});
  x = layers::Conv2D(x, {.filters = 40, .kernel_size = 3, .use_bias = false});
  x = ReduceMean(Tanh(x), {1, 2});
  optimizers::GradientDescent({.learning_rate = 0.1}).Minimize(Loss(g, layers::Dense(x, {.units = 5})));
}

constexpr Precision kMixed = Precision::kMixedBfloat16;
constexpr char kNoBFloat16[] = "this CPU has no AVX-512: oneDNN has no bfloat16 products here";

// How many kernels of `executable` hold the op.
int CountOps(const Executable& executable, const std::string& op) {
  int count = 0;
  for (const auto& kernel : executable.index().kernels) {
    for (const std::string& name : kernel.ops) count += name == op;
  }
  return count;
}

struct Model {
  std::string name;
  BuildFn build;
};
void PrintTo(const Model& m, std::ostream* os) { *os << m.name; }

class MixedPrecision : public testing::TestWithParam<Model> {
 protected:
  void SetUp() override {
    if (!UsesAvx512()) GTEST_SKIP() << kNoBFloat16;
  }
};

// `tolerance`: of a variable's largest change in a step.
void CompareWithThePaintedGraph(const BuildFn& build, const std::string& target, double tolerance) {
  constexpr int64_t kRows = 24;
  const Options options{.batch = kRows, .lanes = 4, .microbatch_rows = 4, .precision = kMixed, .target = target};
  absl::StatusOr<Program> program = Prepare(build, options);
  ASSERT_TRUE(program.ok()) << program.status();
  auto check = ReferenceCheck::Create(*program->executable);
  ASSERT_TRUE(check.ok()) << check.status();
  for (int step = 0; step < 3; ++step) {
    SCOPED_TRACE(step);
    const TensorMap batch = RandomInputs(*program->executable, kRows, options, step);
    const TensorMap before = program->Values();
    const StepInputs inputs = Deal(*program, batch, {kRows}, step);
    ASSERT_TRUE((*check)
                    ->Evaluate(kRows, {batch.begin(), batch.end()}, {before.begin(), before.end()},
                               {inputs.scalars.begin(), inputs.scalars.end()})
                    .ok());
    absl::StatusOr<StepResult> got = program->Run(inputs);
    ASSERT_TRUE(got.ok()) << got.status();
    for (size_t i = 0; i < got->outputs.size(); ++i) {
      const std::string& name = program->executable->index().outputs[i].name;
      EXPECT_EQ(got->outputs[i].dtype(), DType::kFloat32) << name;
      auto error = (*check)->CompareOutput(name, got->outputs[i]);
      ASSERT_TRUE(error.ok()) << error.status();
      EXPECT_TRUE(error->Within(1e-2, 1e-3)) << name << ": " << error->error << " of " << error->magnitude;
    }
    // A sum that differs in its last bit may round to the neighbour, and then a relu or a maximum fall the other way:
    // changes agree to some units of bfloat16.
    double change = 0;
    const TensorMap after = program->Values();
    for (const std::string& name : (*check)->updated_variables()) {
      change = std::max(change, MaxDifference(after.at(name), before.at(name)));
    }
    ASSERT_GT(change, 0);
    for (const std::string& name : (*check)->updated_variables()) {
      auto error = (*check)->CompareVariable(name, after.at(name));
      ASSERT_TRUE(error.ok()) << error.status();
      EXPECT_LT(error->error, tolerance * change) << name;
    }
  }
}

// Without bfloat16's instructions the program rounds what the painted graph rounds, and nothing else.
TEST_P(MixedPrecision, MatchesThePaintedGraph) { CompareWithThePaintedGraph(GetParam().build, "cpu:x86-64-v4", 0.04); }

// With them Winograd's transformed values are rounded as well, to errors of a unit of bfloat16 or two
// (docs/developers/winograd.md), by which more relus and maxima fall the other way.
TEST_P(MixedPrecision, IsNearThePaintedGraphWithBFloat16Products) {
  CompareWithThePaintedGraph(GetParam().build, "cpu:native", 0.12);
}

TEST_P(MixedPrecision, IsNearFloat32) {
  const Options options{.batch = 32};
  Options mixed = options;
  mixed.precision = kMixed;
  absl::StatusOr<Program> exact = Prepare(GetParam().build, options), rounded = Prepare(GetParam().build, mixed);
  ASSERT_TRUE(exact.ok() && rounded.ok()) << rounded.status();
  const TensorMap batch = RandomInputs(*exact->executable, 32, options, 0);
  auto a = exact->Run(Deal(*exact, batch, {32}, 0)), b = rounded->Run(Deal(*rounded, batch, {32}, 0));
  ASSERT_TRUE(a.ok() && b.ok());
  for (size_t i = 0; i < a->outputs.size(); ++i) {
    const double difference = MaxDifference(a->outputs[i], b->outputs[i]);
    EXPECT_LT(difference, 0.03 * (1 + MaxMagnitude(a->outputs[i]))) << exact->executable->index().outputs[i].name;
    EXPECT_GT(difference, 0) << "nothing was rounded";
  }
}

TEST_P(MixedPrecision, TrainsToTheSameBitsOnAnyDevicesAndThreads) {
  constexpr int64_t kRows = 64;
  auto train = [](int devices, int threads) {
    const Options options{.devices = devices, .batch = kRows / devices, .threads = threads, .precision = kMixed};
    absl::StatusOr<Program> program = Prepare(GetParam().build, options);
    EXPECT_TRUE(program.ok()) << program.status();
    for (int step = 0; step < 3; ++step) {
      const TensorMap batch = RandomInputs(*program->executable, kRows, options, step);
      auto result = program->Run(Deal(*program, batch, std::vector<int64_t>(devices, kRows / devices), step));
      EXPECT_TRUE(result.ok()) << result.status();
    }
    return program->Values();
  };
  const TensorMap one = train(1, 1);
  for (auto [devices, threads] : {std::pair(1, 3), {2, 2}, {4, 3}}) {
    SCOPED_TRACE(absl::StrCat(devices, " devices, ", threads, " threads"));
    const TensorMap other = train(devices, threads);
    for (const auto& [name, value] : one) EXPECT_TRUE(value.BitEqual(other.at(name))) << name;
  }
}

// Variables, signature and what is summed over lanes are float32; convolutions and matmuls read bfloat16.
TEST_P(MixedPrecision, KeepsFloat32WhereItMatters) {
  absl::StatusOr<Program> program = Prepare(GetParam().build, {.precision = kMixed});
  ASSERT_TRUE(program.ok()) << program.status();
  const format::Index& index = program->executable->index();
  for (const auto& v : index.variables) EXPECT_EQ(v.dtype, DType::kFloat32) << v.name;
  for (const auto& in : index.inputs) EXPECT_NE(in.dtype, DType::kBFloat16) << in.name;
  int calls = 0;
  for (const auto& section : index.programs[0].sections) {
    for (const auto& command : section.commands) {
      const format::LibraryCall* call = command.body.As<format::LibraryCall>();
      if (call == nullptr) continue;
      ++calls;
      EXPECT_EQ(call->implementation.find("ref"), std::string::npos) << command.name << " " << call->implementation;
      if (const format::PackWeights* packing = call->operation.As<format::PackWeights>()) {
        EXPECT_NE(packing->plain_dtype, DType::kBFloat16) << command.name;
        EXPECT_EQ(InfoOf(*packing).weights_dtype, DType::kBFloat16) << command.name;
      }
      const format::Conv2D* conv = call->operation.As<format::Conv2D>();
      if (conv == nullptr || conv->direction == format::Direction::kInputGrad) continue;
      EXPECT_EQ(conv->x_dtype, DType::kBFloat16) << command.name;
      if (conv->direction == format::Direction::kFilterGrad) {
        EXPECT_NE(conv->kernel_dtype, DType::kBFloat16) << command.name;
      } else {
        // A small result that only float32 ops read is not rounded.
        const bool small = NumElements(conv->y_shape) <= 1024 * conv->y_shape[0];
        EXPECT_TRUE(small || conv->y_dtype == DType::kBFloat16) << command.name;
      }
    }
  }
  EXPECT_GT(calls, 0);
  for (const auto& slot : index.programs[0].lane_slots) {
    EXPECT_NE(index.programs[0].buffers[slot.buffer].dtype, DType::kBFloat16);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, MixedPrecision,
                         testing::Values(Model{"Convnet", Convnet}, Model{"Residual", Residual},
                                         Model{"Dropout", Dropout}, Model{"Wide", Wide}),
                         [](const auto& info) { return info.param.name; });

std::shared_ptr<const Executable> CompileWide(const std::string& target) {
  GraphBuilder graph("test");
  Wide(graph);
  CompileOptions options;
  options.batch_per_replica = 64;
  options.precision = kMixed;
  options.target = target;
  options.machine_model = MachineForBFloat16(target);
  auto executable = CompileGraph(graph, "train", options);
  EXPECT_TRUE(executable.ok()) << executable.status();
  return executable.ok() ? *executable : nullptr;
}

constexpr char kByTiles[] = "exec.contraction(conv2d_filter_grad,filter_grad_tiles)";

TEST(MixedPrecisionConvolutions, TakeWinogradWithoutAMatrixUnit) {
  if (!UsesAvx512()) GTEST_SKIP() << kNoBFloat16;
  const auto executable = CompileWide("cpu:cooperlake");
  ASSERT_NE(executable, nullptr);
  EXPECT_GE(CountOps(*executable, "exec.winograd_conv2d"), 1);
  EXPECT_GE(CountOps(*executable, "exec.winograd_input_grad"), 1);
  EXPECT_GE(CountOps(*executable, "exec.winograd_filter_grad"), 1);
  EXPECT_EQ(CountOps(*executable, kByTiles), 0);
}

// Where direct products are several times as fast as float32's there is nothing to save.
TEST(MixedPrecisionConvolutions, AreDirectWithAMatrixUnit) {
  if (!UsesAvx512()) GTEST_SKIP() << kNoBFloat16;
  const auto executable = CompileWide("cpu:sapphirerapids");
  ASSERT_NE(executable, nullptr);
  EXPECT_EQ(CountOps(*executable, "exec.winograd_conv2d"), 0);
  EXPECT_EQ(CountOps(*executable, "exec.winograd_filter_grad"), 0);
  EXPECT_GE(CountOps(*executable, kByTiles), 1);
  EXPECT_NE(executable->index().target.find("amx-bf16 amx-tile"), std::string::npos) << executable->index().target;
}

TEST(MixedPrecisionConvolutions, KeepSmallOnesFloat32) {
  if (!UsesAvx512()) GTEST_SKIP() << kNoBFloat16;
  absl::StatusOr<Program> convnet = Prepare(Convnet, {.batch = 64, .precision = kMixed});
  ASSERT_TRUE(convnet.ok()) << convnet.status();
  EXPECT_EQ(CountOps(*convnet->executable, "exec.contraction(conv2d,few_taps)"), 1);
  EXPECT_EQ(CountOps(*convnet->executable, "exec.contraction(conv2d_filter_grad,few_taps)"), 1);
}

TEST(MixedPrecisionErrors, IsFloat32WithoutAvx512) {
  GraphBuilder graph("test");
  Convnet(graph);
  CompileOptions options;
  options.precision = kMixed;
  options.target = "cpu:x86-64-v3";
  auto executable = CompileGraph(graph, "train", options);
  ASSERT_TRUE(executable.ok()) << executable.status();
  const format::Index& index = (*executable)->index();
  ASSERT_EQ(index.warnings.size(), 1u);
  EXPECT_EQ(
      index.warnings[0],
      "precision mixed_bfloat16 is computed in float32: bfloat16 products run at 45 GFLOP/s here and float32's at "
      "45 (machine model \"generic-avx2\"; tandem-calibrate measures this machine)");
  for (const auto& buffer : index.programs[0].buffers) EXPECT_NE(buffer.dtype, DType::kBFloat16);
}

// A machine model may promise what the target has not.
TEST(MixedPrecisionErrors, NeedsAvx512) {
  GraphBuilder graph("test");
  Convnet(graph);
  CompileOptions options;
  options.precision = kMixed;
  options.target = "cpu:x86-64-v3";
  MachineModel model = BuiltInMachineModel("generic-avx2").value();
  model.library_bf16 = 2 * model.library_f32;
  options.machine_model = absl::StrCat(testing::TempDir(), "/promises.txt");
  ASSERT_TRUE(Env::Default()->WriteFileAtomically(options.machine_model, MachineModelText(model)).ok());
  absl::Status status = CompileGraph(graph, "train", options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_NE(status.message().find("mixed_bfloat16 needs a CPU with AVX-512"), std::string::npos) << status;
}

// Where bfloat16 products are no faster, conversions would only cost.
TEST(MixedPrecisionErrors, IsFloat32WhereItWouldBeSlower) {
  GraphBuilder graph("test");
  Wide(graph);
  CompileOptions options;
  options.precision = kMixed;
  options.target = "cpu:cooperlake";
  auto executable = CompileGraph(graph, "train", options);
  ASSERT_TRUE(executable.ok()) << executable.status();
  const format::Index& index = (*executable)->index();
  ASSERT_EQ(index.warnings.size(), 1u);
  EXPECT_EQ(
      index.warnings[0],
      "precision mixed_bfloat16 is computed in float32: bfloat16 products run at 80 GFLOP/s here and float32's at "
      "80 (machine model \"generic-avx512\"; tandem-calibrate measures this machine)");
  for (const auto& buffer : index.programs[0].buffers) EXPECT_NE(buffer.dtype, DType::kBFloat16);
  EXPECT_EQ(index.target.find("bf16"), std::string::npos);
}

TEST(MixedPrecisionErrors, ListsNameOps) {
  GraphBuilder graph("test");
  Convnet(graph);
  CompileOptions options;
  options.precision = kMixed;
  options.precision_lists.deny = {"conv2b"};
  absl::Status status = CompileGraph(graph, "train", options).status();
  EXPECT_NE(status.message().find("\"conv2b\", which is no op (did you mean conv2d?)"), std::string::npos) << status;
}

// A target with AVX-512 but no conversion instruction is compiled for: its kernels round in integer arithmetic.
TEST(MixedPrecisionErrors, CompilesWithoutTheConversion) {
  if (!UsesAvx512()) GTEST_SKIP() << kNoBFloat16;
  GraphBuilder graph("test");
  Convnet(graph);
  CompileOptions options;
  options.precision = kMixed;
  options.target = "cpu:x86-64-v4";
  options.machine_model = MachineForBFloat16(options.target);
  auto executable = CompileGraph(graph, "train", options);
  ASSERT_TRUE(executable.ok()) << executable.status();
  EXPECT_EQ((*executable)->index().target.find("avx512bf16"), std::string::npos);
}

}  // namespace
}  // namespace tandem::compiled

// Batch norm with moving averages, folded into kernels and biases, against the reference interpreter, which computes
// the graph as it was written.
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/optimizers.h"
#include "graph/ops.h"
#include "gtest/gtest.h"
#include "runtime/cpu/kernels/instruction_set.h"
#include "runtime/device_classes/device_classes.h"
#include "runtime/format/index.h"
#include "tests/compiled/harness.h"

namespace tandem::compiled {
namespace {

Tensor Norm(const Tensor& x, bool training, bool trainable) {
  return layers::BatchNormalization(
      x, {.momentum = 0.7, .epsilon = 1e-2, .training = training, .sync = true, .trainable = trainable});
}

// Norms behind convolutions with and without a bias, padded and strided, at the end of a path whose sum goes on, in
// front of a convolution without padding and behind a product, which a mean's number stands in front of. `frozen`: all
// but the last layer is not trained.
Tensor Model(GraphBuilder& g, bool training, bool frozen = false) {
  const bool trained = !frozen;
  Tensor x = g.Input("x", DType::kFloat32, {kBatch, 12, 12, 32});
  x = layers::Conv2D(x, {.filters = 32, .kernel_size = 3, .padding = Padding::kSame, .trainable = trained});
  x = Relu(Norm(x, training, trained));
  Tensor y = layers::Conv2D(x, {.filters = 32, .kernel_size = 1, .use_bias = false, .trainable = trained});
  x = Relu(Norm(y, training, trained) + x);
  x = layers::Conv2D(x, {.filters = 48,
                         .kernel_size = 3,
                         .strides = 2,
                         .padding = Padding::kSame,
                         .use_bias = false,
                         .trainable = trained});
  x = Norm(Relu(Norm(x, training, trained)), training, trained);
  x = layers::Conv2D(x, {.filters = 32, .kernel_size = 3, .activation = Relu, .trainable = trained});
  x = layers::Dense(ReduceMean(x, {1, 2}), {.units = 96, .trainable = trained});
  x = Relu(Norm(x, training, trained));
  Tensor logits = layers::Dense(x, {.units = 5});
  g.Output("logits", logits);
  Tensor loss = losses::SparseSoftmaxCrossEntropy(g.Input("label", DType::kInt32, {kBatch}), logits);
  g.Output("loss", loss);
  return loss;
}

void Evaluation(GraphBuilder& g) { Model(g, false); }

void Training(GraphBuilder& g) {
  optimizers::Momentum({.learning_rate = 0.05, .momentum = 0.5}).Minimize(Model(g, true));
}

void FineTuning(GraphBuilder& g) { optimizers::Momentum({.learning_rate = 0.05}).Minimize(Model(g, true, true)); }

// Factors and moving averages that no channel shares with its neighbour.
void SpreadNorms(Program& program) {
  std::mt19937 random(5);
  std::uniform_real_distribution<float> uniform(0.3f, 2.0f);
  for (const VariableInfo& info : program.variables->List()) {
    if (!absl::StrContains(info.name, "gamma") && !absl::StrContains(info.name, "moving")) continue;
    HostTensor value = *program.variables->Read(info.name);
    for (int64_t i = 0; i < value.num_elements(); ++i) value.data<float>()[i] = uniform(random);
    ASSERT_TRUE(program.variables->Assign(info.name, value).ok());
  }
}

StepInputs Batch(const Program& program, const Options& options, const TensorMap& batch, int step) {
  return Deal(program, batch, std::vector<int64_t>(options.devices, options.batch), step);
}

// One step of an evaluation, whose outputs must be the reference's within `tolerance` of the largest number.
void ExpectAsReference(Program& program, const Options& options, int step, double tolerance) {
  const TensorMap batch = RandomInputs(*program.executable, options.devices * options.batch, options, step);
  const StepInputs inputs = Batch(program, options, batch, step);
  TensorMap scalars;
  for (const auto& [name, value] : inputs.scalars) scalars[name] = HostTensor::Scalar<double>(value);
  absl::StatusOr<TensorMap> want = Evaluate(*program.graph, batch, program.Values(), scalars);
  absl::StatusOr<StepResult> got = program.Run(inputs);
  ASSERT_TRUE(want.ok() && got.ok()) << want.status() << got.status();
  for (size_t i = 0; i < got->outputs.size(); ++i) {
    const std::string& name = program.executable->index().outputs[i].name;
    EXPECT_LE(MaxDifference(got->outputs[i], want->at(name)), tolerance * MaxMagnitude(want->at(name))) << name;
  }
}

// In loops over elements: every batch norm that is not folded subtracts its mean in one.
int Subtractions(const Executable& executable) {
  int count = 0;
  for (const auto& kernel : executable.index().kernels) {
    if (kernel.skeleton != "loop") continue;
    for (const std::string& name : kernel.ops) count += name == "td.sub";
  }
  return count;
}

struct Setting {
  std::string name;
  int devices;
  Precision precision;
  double tolerance;
};
void PrintTo(const Setting& s, std::ostream* os) { *os << s.name; }

class FoldBatchNorm : public testing::TestWithParam<Setting> {
 protected:
  void SetUp() override {
    if (GetParam().precision == Precision::kMixedBfloat16 && !UsesAvx512()) {
      GTEST_SKIP() << "this CPU has no AVX-512: mixed_bfloat16 is float32 here";
    }
  }
  Options EvaluationOptions() const {
    return {.devices = GetParam().devices,
            .batch = 16 / GetParam().devices,
            .mode = "eval",
            .precision = GetParam().precision};
  }
};

TEST_P(FoldBatchNorm, MatchesTheReference) {
  const Options options = EvaluationOptions();
  absl::StatusOr<Program> program = Prepare(Evaluation, options);
  ASSERT_TRUE(program.ok()) << program.status();
  SpreadNorms(*program);
  for (int step = 0; step < 2; ++step) ExpectAsReference(*program, options, step, GetParam().tolerance);
  EXPECT_EQ(Subtractions(*program->executable) == 0, options.precision != Precision::kStrictFloat32);
}

// The same session again and again, between steps of training on the same variables.
TEST_P(FoldBatchNorm, FollowsWhatTrainingWrites) {
  const Options options = EvaluationOptions();
  Options training = options;
  training.mode = "train";
  absl::StatusOr<Program> train = Prepare(Training, training), evaluate = Prepare(Evaluation, options);
  ASSERT_TRUE(train.ok() && evaluate.ok()) << train.status() << evaluate.status();
  auto session = CreateSession(evaluate->executable, train->variables, {std::make_shared<ThreadPool>(2)});
  ASSERT_TRUE(session.ok()) << session.status();
  evaluate->variables = train->variables;
  evaluate->session = *std::move(session);
  for (int step = 0; step < 3; ++step) {
    SCOPED_TRACE(step);
    ExpectAsReference(*evaluate, options, step, GetParam().tolerance);
    const TensorMap batch = RandomInputs(*train->executable, 16, training, step);
    ASSERT_TRUE(train->Run(Batch(*train, training, batch, step)).ok());
  }
  ExpectAsReference(*evaluate, options, 3, GetParam().tolerance);
}

INSTANTIATE_TEST_SUITE_P(Programs, FoldBatchNorm,
                         testing::Values(Setting{"Float32", 1, Precision::kFloat32, 5e-5},
                                         Setting{"Float32OnTwoDevices", 2, Precision::kFloat32, 5e-5},
                                         Setting{"MixedBFloat16", 1, Precision::kMixedBfloat16, 3e-2},
                                         Setting{"MixedBFloat16OnTwoDevices", 2, Precision::kMixedBfloat16, 3e-2},
                                         Setting{"StrictFloat32", 1, Precision::kStrictFloat32, 2e-5}),
                         [](const auto& info) { return info.param.name; });

// All that is made of variables alone is made once.
TEST(FoldBatchNormCommands, PrepareWeightsOnce) {
  for (Precision precision : {Precision::kFloat32, Precision::kMixedBfloat16}) {
    const Options options{.mode = "eval", .precision = precision};
    absl::StatusOr<Program> program = Prepare(Evaluation, options);
    ASSERT_TRUE(program.ok()) << program.status();
    auto session = CreateSession(program->executable, program->variables,
                                 {.pool = std::make_shared<ThreadPool>(2), .time_commands = true});
    ASSERT_TRUE(session.ok()) << session.status();
    for (int step = 0; step < 3; ++step) {
      const TensorMap batch = RandomInputs(*program->executable, 16, options, step);
      ASSERT_TRUE((*session)->Run(Batch(*program, options, batch, step), {}).ok());
    }
    int prepared = 0;
    for (const CommandTime& t : (*session)->command_times()) {
      if (t.section == "map") break;
      EXPECT_EQ(t.calls, 1) << t.name << " " << t.detail;
      ++prepared;
    }
    EXPECT_GT(prepared, 0);
  }
}

// Layers that are not trained are folded in a training program too, and those behind them learn as before.
TEST(FoldBatchNormInTraining, FrozenLayersMatchTheReference) {
  CompareWithReference(FineTuning, {.tolerance = 1e-4});
  CompareWithReference(FineTuning, {.devices = 2, .batch = 8, .tolerance = 1e-4});
  absl::StatusOr<Program> frozen = Prepare(FineTuning, {});
  ASSERT_TRUE(frozen.ok()) << frozen.status();
  EXPECT_EQ(Subtractions(*frozen->executable), 0);
}

TEST(FoldBatchNormInTraining, SameBits) {
  ExpectSameBits(FineTuning, {.batch = 32}, {32, 21}, {{1, 3}, {2, 2}, {4, 3}});
}

}  // namespace
}  // namespace tandem::compiled

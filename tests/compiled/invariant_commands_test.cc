// What is computed from variables that a program does not write is kept from step to step, and computed again when a
// variable has changed.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/optimizers.h"
#include "graph/ops.h"
#include "gtest/gtest.h"
#include "runtime/device_classes/device_classes.h"
#include "tests/compiled/harness.h"

namespace tandem::compiled {
namespace {

// A Winograd convolution and a dense layer, whose weights are transformed and packed, before one that is trained.
Tensor Model(GraphBuilder& g, bool trainable) {
  Tensor x = g.Input("x", DType::kFloat32, {kBatch, 14, 14, 32});
  x = layers::Conv2D(
      x, {.filters = 32, .kernel_size = 3, .padding = Padding::kSame, .activation = Relu, .trainable = trainable});
  x = layers::MaxPooling2D(x, {.pool_size = 7});
  x = layers::Dense(layers::Flatten(x), {.units = 96, .activation = Relu, .trainable = trainable});
  Tensor logits = layers::Dense(x, {.units = 5});
  g.Output("logits", logits);
  return losses::SparseSoftmaxCrossEntropy(g.Input("label", DType::kInt32, {kBatch}), logits);
}

BuildFn Evaluate() {
  return [](GraphBuilder& g) { g.Output("loss", Model(g, true)); };
}

BuildFn Train(bool first_layers) {
  return [first_layers](GraphBuilder& g) {
    Tensor loss = Model(g, first_layers);
    g.Output("loss", loss);
    optimizers::Adam({.learning_rate = 0.01}).Minimize(loss);
  };
}

std::unique_ptr<Session> NewSession(const Program& program, bool time_commands = false) {
  auto session = CreateSession(program.executable, program.variables,
                               {.pool = std::make_shared<ThreadPool>(2), .time_commands = time_commands});
  EXPECT_TRUE(session.ok()) << session.status();
  return session.ok() ? *std::move(session) : nullptr;
}

StepInputs Batch(const Program& program, const Options& options, int seed) {
  return Deal(program, RandomInputs(*program.executable, 16, options, seed), {16}, seed);
}

// Runs `session`, which has run before, and a new one of the same program: they must give the same bits.
void ExpectAsNew(const Program& program, Session& session, const Options& options, int seed) {
  const std::vector<int> all = {0, 1};
  const StepInputs inputs = Batch(program, options, seed);
  absl::StatusOr<StepResult> got = session.Run(inputs, all), want = NewSession(program)->Run(inputs, all);
  ASSERT_TRUE(got.ok() && want.ok()) << got.status() << want.status();
  for (size_t i = 0; i < all.size(); ++i) EXPECT_TRUE(got->outputs[i].BitEqual(want->outputs[i])) << "output " << i;
}

// How often the convolution's kernel has been transformed by now.
int64_t Transforms(const Session& session) {
  int64_t calls = 0;
  for (const CommandTime& t : session.command_times()) {
    if (t.section == "global" && absl::StrContains(t.detail, "winograd_kernel")) calls += t.calls;
  }
  return calls;
}

TEST(InvariantCommands, EvaluationPreparesWeightsOnce) {
  const Options options{.mode = "eval"};
  absl::StatusOr<Program> program = Prepare(Evaluate(), options);
  ASSERT_TRUE(program.ok()) << program.status();
  std::unique_ptr<Session> session = NewSession(*program, true);
  ASSERT_TRUE(session->Run(Batch(*program, options, 0), {}).ok());
  EXPECT_EQ(Transforms(*session), 1);
  for (int step = 1; step < 4; ++step) ExpectAsNew(*program, *session, options, step);
  EXPECT_EQ(Transforms(*session), 1);

  for (const char* name : {"dense/kernel", "conv2d/kernel"}) {
    HostTensor value = *program->variables->Read(name);
    for (int64_t i = 0; i < value.num_elements(); ++i) value.data<float>()[i] *= -0.5f;
    ASSERT_TRUE(program->variables->Assign(name, value).ok());
    ExpectAsNew(*program, *session, options, 5);
  }
  EXPECT_EQ(Transforms(*session), 3);  // any written variable counts
}

TEST(InvariantCommands, EvaluationSeesWhatTrainingWrote) {
  const Options options{.mode = "eval"};
  absl::StatusOr<Program> train = Prepare(Train(true), {}), evaluate = Prepare(Evaluate(), options);
  ASSERT_TRUE(train.ok() && evaluate.ok()) << train.status() << evaluate.status();
  evaluate->variables = train->variables;
  std::unique_ptr<Session> session = NewSession(*evaluate);
  for (int step = 0; step < 3; ++step) {
    ExpectAsNew(*evaluate, *session, options, step);
    ASSERT_TRUE(train->Run(Batch(*train, {}, step)).ok());
  }
  ExpectAsNew(*evaluate, *session, options, 3);
}

TEST(InvariantCommands, TrainingPreparesFrozenLayersOnce) {
  for (bool frozen : {true, false}) {
    absl::StatusOr<Program> program = Prepare(Train(!frozen), {});
    ASSERT_TRUE(program.ok()) << program.status();
    std::unique_ptr<Session> session = NewSession(*program, true);
    ASSERT_TRUE(session->Run(Batch(*program, {}, 0), {}).ok());
    EXPECT_EQ(Transforms(*session), 1);
    for (int step = 1; step < 4; ++step) ASSERT_TRUE(session->Run(Batch(*program, {}, step), {}).ok());
    EXPECT_EQ(Transforms(*session), frozen ? 1 : 4);
  }
}

TEST(InvariantCommands, FrozenLayersMatchTheReference) {
  CompareWithReference(Train(false), {.steps = 3, .tolerance = 1e-4});
  CompareWithReference(Train(false), {.devices = 2, .batch = 8, .steps = 3, .tolerance = 1e-4});
}

// The number of replicas that have rows, by which the mean of what they make of their own rows is divided, is a sum of
// ones in place: not what a step with constant inputs left there.
TEST(InvariantCommands, NotWhatIsReducedInPlace) {
  auto build = [](GraphBuilder& g) {
    Tensor x = layers::Dense(g.Input("x", DType::kFloat32, {kBatch, 3}), {.units = 4, .activation = Tanh});
    Tensor w = g.Variable({.name = "w", .shape = {4}, .initializer = {Initializer::Kind::kConstant, 0.5, 0}});
    Tensor loss = ReduceMean(Square(x)) + ReduceSum(BatchMoments(x, "replica").mean * w);
    optimizers::SGD({.learning_rate = 0.1}).Minimize(loss);
  };
  const Options options{.devices = 2, .batch = 4};
  absl::StatusOr<Program> program = Prepare(build, options);
  ASSERT_TRUE(program.ok()) << program.status();
  const TensorMap batch = RandomInputs(*program->executable, 8, options, 0);
  ASSERT_TRUE(program->Run(Deal(*program, batch, {4, 4}, 0)).ok());
  const TensorMap before = program->Values();
  const StepInputs one_replica = Deal(*program, {{"x", Rows(batch.at("x"), 0, 3)}}, {3, 0}, 1);
  ASSERT_TRUE(program->Run(one_replica).ok());
  const TensorMap after = program->Values();
  for (const auto& [name, value] : before) ASSERT_TRUE(program->variables->Assign(name, value).ok());
  ASSERT_TRUE(NewSession(*program)->Run(one_replica, {}).ok());
  for (const auto& [name, value] : program->Values()) EXPECT_TRUE(value.BitEqual(after.at(name))) << name;
}

}  // namespace
}  // namespace tandem::compiled

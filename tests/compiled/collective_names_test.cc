// What the tensors of collectives are called: in the executable, from where dumps have it, and in errors.
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "estimator/horovod/horovod.h"
#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/metrics.h"
#include "frontends/optimizers.h"
#include "gmock/gmock.h"
#include "graph/ops.h"
#include "gtest/gtest.h"
#include "runtime/collectives/process_group.h"
#include "runtime/device_classes/device_classes.h"
#include "runtime/format/index.h"
#include "runtime/session/session.h"
#include "runtime/threads/thread_pool.h"
#include "tests/compiled/harness.h"

namespace tandem::compiled {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

// All that collectives combine, in order.
std::vector<std::string> Names(const BuildFn& build, Options options = {}) {
  options.devices = 2;
  auto program = Prepare(build, options);
  EXPECT_TRUE(program.ok()) << program.status();
  std::vector<std::string> names;
  if (!program.ok()) return names;
  for (const auto& collective : program->executable->index().collectives) {
    names.insert(names.end(), collective.tensors.begin(), collective.tensors.end());
  }
  return names;
}

Tensor X(GraphBuilder& g, const Shape& shape = {kBatch, 12}) { return g.Input("x", DType::kFloat32, shape); }
Tensor Label(GraphBuilder& g) { return g.Input("label", DType::kInt32, {kBatch}); }

Tensor Perceptron(GraphBuilder& g) {
  Tensor x = layers::Dense(X(g), {.units = 20, .activation = Relu});
  return losses::SparseSoftmaxCrossEntropy(Label(g), layers::Dense(x, {.units = 4}));
}

const std::vector<std::string> kOfPerceptron = {"gradient of dense/kernel", "gradient of dense/bias",
                                                "gradient of dense_1/kernel", "gradient of dense_1/bias",
                                                "sparse_softmax_cross_entropy_loss/Sum"};

// Whatever optimizers do with a gradient before they apply it, and to whichever slots.
TEST(CollectiveNames, SayWhichVariableAGradientIsOf) {
  using namespace optimizers;  // NOLINT
  const std::vector<std::pair<const char*, Optimizer>> all = {
      {"sgd", SGD({.learning_rate = 0.1})},
      {"momentum", Momentum({.learning_rate = 0.1, .use_nesterov = true, .clip = {.global_norm = 0.2}})},
      {"adam", Adam({.learning_rate = 0.01, .clip = {.value = 0.5}})},
      {"lamb", LAMB({.learning_rate = 0.01})},
      {"ftrl", Ftrl({.learning_rate = 0.01})}};
  for (const auto& [name, optimizer] : all) {
    const auto build = [&optimizer = optimizer](GraphBuilder& g) {
      Tensor loss = Perceptron(g);
      g.Output("loss", loss);
      optimizer.Minimize(loss);
    };
    EXPECT_THAT(Names(build), ::testing::UnorderedElementsAreArray(kOfPerceptron)) << name;
    EXPECT_THAT(Names(build, {.cross_device_ops = "ReductionToOneDevice"}),
                ::testing::UnorderedElementsAreArray(kOfPerceptron))
        << name;
  }
}

// Convolutions whose gradients are computed in several ways, and what batch normalization knows of its rows.
void ConvNet(GraphBuilder& g, bool sync) {
  Tensor x = layers::Conv2D(X(g, {kBatch, 8, 8, 3}), {.filters = 16, .kernel_size = 3, .use_bias = false});
  x = Relu(layers::BatchNormalization(x, {.training = true, .sync = sync}));
  x = layers::Flatten(layers::Conv2D(x, {.filters = 16, .kernel_size = 3}));
  Tensor loss = losses::SparseSoftmaxCrossEntropy(Label(g), layers::Dense(x, {.units = 4}));
  g.Output("loss", loss);
  optimizers::Adam({.learning_rate = 0.01}).Minimize(loss);
}

const std::vector<std::string> kOfConvNet = {"gradient of conv2d/kernel",
                                             "gradient of batch_normalization/gamma",
                                             "gradient of batch_normalization/beta",
                                             "gradient of conv2d_1/kernel",
                                             "gradient of conv2d_1/bias",
                                             "gradient of dense/kernel",
                                             "gradient of dense/bias",
                                             "sparse_softmax_cross_entropy_loss/Sum"};

TEST(CollectiveNames, SayWhichStatisticIsCombined) {
  std::vector<std::string> expected = kOfConvNet;
  expected.push_back("batch_normalization/BatchMoments");  // the mean
  expected.push_back("batch_normalization/Mul_1");         // the variance, corrected
  EXPECT_THAT(Names([](GraphBuilder& g) { ConvNet(g, false); }), ::testing::UnorderedElementsAreArray(expected));
  expected = kOfConvNet;
  for (const char* name : {"batch_normalization/BatchMoments", "batch_normalization/BatchMoments",
                           "gradients/batch_normalization/Broadcast_4/Reduce"}) {
    expected.emplace_back(name);
  }
  EXPECT_THAT(Names([](GraphBuilder& g) { ConvNet(g, true); }), ::testing::UnorderedElementsAreArray(expected));
}

// A weight that is read twice, turned around the second time, has two parts of a gradient.
TEST(CollectiveNames, OfAWeightThatIsReadTwice) {
  const auto build = [](GraphBuilder& g) {
    Tensor table =
        g.Variable({.name = "table", .shape = {10, 12}, .initializer = {Initializer::Kind::kUniform, -1, 1}});
    Tensor x = Gather(table, g.Input("word", DType::kInt32, {kBatch}));
    Tensor loss = losses::SparseSoftmaxCrossEntropy(Label(g), MatMul(x, Transpose(table, {1, 0})));
    g.Output("loss", loss);
    optimizers::SGD({.learning_rate = 0.1}).Minimize(loss);
  };
  EXPECT_THAT(Names(build, {.ranges = {{"word", {0, 10}}}}),
              UnorderedElementsAre("gradient of table", "gradient of table", "sparse_softmax_cross_entropy_loss/Sum"));
}

TEST(CollectiveNames, OfEvaluations) {
  const auto build = [](GraphBuilder& g) {
    Tensor logits = layers::Dense(X(g), {.units = 4});
    Metric accuracy = metrics::Accuracy(Label(g), ArgMax(logits, -1));
    g.Output("total", accuracy.total);
    g.Output("largest", ReduceMax(logits));
    g.Output("mean", CrossReplicaMean(BatchMoments(logits).mean));
  };
  EXPECT_THAT(Names(build, {.mode = "eval"}), UnorderedElementsAre("accuracy/Sum", "Max", "BatchMoments"));
}

TEST(CollectiveNames, OfWhatRanksTellEachOther) {
  ASSERT_TRUE(horovod::Init(Cluster{.rank = 0, .world_size = 2, .coordinator = "a:1"}).ok());
  const auto build = [](GraphBuilder& g) {
    Tensor own = BatchMoments(X(g)).mean;
    g.Output("mean", horovod::Allreduce(own));
    g.Output("all", horovod::Allgather(own));
  };
  EXPECT_THAT(Names(build, {.processes = 2}), Contains("BatchMoments"));
}

// Takes what others would have for what it has.
class Listener final : public ProcessGroup {
 public:
  std::vector<std::string> heard;

 private:
  int rank() const override { return 0; }
  int size() const override { return 2; }
  std::string transport() const override { return "none"; }
  bool waits_for_network() const override { return false; }
  absl::Status DoAllReduce(format::ReduceKind, absl::Span<const Values>, absl::Span<const bool>, absl::string_view what,
                           const ResultFn&) override {
    heard.emplace_back(what);
    return absl::OkStatus();
  }
  absl::Status AllGather(absl::Span<const std::byte>, absl::Span<std::byte>, absl::string_view) override {
    return absl::OkStatus();
  }
  absl::Status Broadcast(absl::Span<std::byte>, int, absl::string_view) override { return absl::OkStatus(); }
  void Abort(const absl::Status&) override {}
  absl::Status status() const override { return absl::OkStatus(); }
};

// An error of a collective begins with this (process_group.h).
TEST(CollectiveNames, TellProcessesWhatTheyExchange) {
  for (const char* ops : {"", "ReductionToOneDevice"}) {
    Options options{.devices = 2, .cross_device_ops = ops};
    auto program = Prepare(
        [](GraphBuilder& g) {
          Tensor loss = Perceptron(g);
          g.Output("loss", loss);
          optimizers::SGD({.learning_rate = 0.1}).Minimize(loss);
        },
        options);
    ASSERT_TRUE(program.ok()) << program.status();
    Listener group;
    Session::Options of_session{std::make_shared<ThreadPool>(1)};
    of_session.group = &group;
    auto variables = std::make_shared<VariableStore>(1);
    auto session = CreateSession(program->executable, variables, of_session);
    ASSERT_TRUE(session.ok()) << session.status();
    for (const auto& [name, value] : program->Values()) ASSERT_TRUE(variables->Assign(name, value).ok());
    StepInputs inputs = Deal(*program, RandomInputs(*program->executable, 32, options, 0), {16, 16}, 0);
    inputs.inputs.pop_back();
    inputs.replica_rows = {16, 16};
    ASSERT_TRUE((*session)->Run(inputs, {}).ok());
    EXPECT_THAT(group.heard, ElementsAre("all_reduce of sparse_softmax_cross_entropy_loss/Sum and 4 more"));
  }
}

}  // namespace
}  // namespace tandem::compiled

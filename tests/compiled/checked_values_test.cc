// A step changes nothing where the loss or a gradient becomes infinite or NaN in what is computed from sums over the
// batch, or from variables alone, which are finite themselves.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "frontends/layers.h"
#include "frontends/optimizers.h"
#include "gmock/gmock.h"
#include "graph/ops.h"
#include "graph/parameter_servers.h"
#include "gtest/gtest.h"
#include "tests/compiled/harness.h"

namespace tandem::compiled {
namespace {

// Of [b, 2]; its gradients are finite.
Tensor Model(GraphBuilder& g) {
  return layers::Dense(g.Input("x", DType::kFloat32, {kBatch, 3}), {.units = 2, .activation = Tanh});
}

void Train(GraphBuilder& g, const Tensor& loss, const Optimizer& optimizer) {
  g.Output("loss", loss);
  optimizer.Minimize(loss);
}

// A graph with the step scalar "s", and a value of it with which a step is not finite and one with which it is.
struct Case {
  std::string name;
  std::function<void(GraphBuilder&, const Tensor& s)> build;
  float bad = 0, good = 1;
};

void PrintTo(const Case& c, std::ostream* os) { *os << c.name; }

std::vector<Case> Cases() {
  const Optimizer adam = optimizers::Adam({.learning_rate = 0.01});
  return {
      {"TheNormOfAVariableThatIsZero",
       [=](GraphBuilder& g, const Tensor& s) {
         Tensor w = g.Variable({.name = "w", .shape = {3}, .initializer = {Initializer::Kind::kConstant, 2}});
         Train(g, ReduceMean(Square(Model(g))) + Sqrt(ReduceSum(Square(w * s))), adam);
       }},
      {"TheLogarithmOfAMean",
       [=](GraphBuilder& g, const Tensor& s) { Train(g, Log(ReduceMean(Square(Model(g))) * s), adam); }, -1},
      {"ALossWithFiniteGradients",
       [=](GraphBuilder& g, const Tensor& s) { Train(g, ReduceMean(Square(Model(g))) + Log(s), adam); }},
      {"ALossByAReplicasMean",
       [=](GraphBuilder& g, const Tensor& s) {
         Tensor y = layers::BatchNormalization(Model(g), {.training = true});
         Train(g, ReduceMean(Square(y)) + 1.0 / s, adam);
       }},
      {"AStatisticOfEachReplicasRows",
       [=](GraphBuilder& g, const Tensor& s) {
         Moments moments = BatchMoments(Model(g), "replica");
         g.Assign(g.Variable({.name = "mean", .shape = {2}, .trainable = false}), moments.mean);
         Train(g, ReduceSum(Sqrt(moments.variance * s)), adam);
       },
       -1},
      {"ARowBehindTheEndOfATable",
       [=](GraphBuilder& g, const Tensor& s) {
         Tensor w = g.Variable({.name = "w", .shape = {3}, .initializer = {Initializer::Kind::kConstant, 2}});
         Tensor table = g.Constant(HostTensor::FromVector<float>({3, 1}, {1, 2, 3}));
         Tensor factor = Gather(table, Cast(Reshape(s, {1}), DType::kInt32));
         Train(g, ReduceMean(Square(Model(g))) + ReduceSum(factor) * ReduceSum(Square(w)), adam);
       },
       7},
      {"AGradientThatIsDividedByHand",
       [=](GraphBuilder& g, const Tensor& s) {
         Tensor loss = ReduceMean(Square(Model(g)));
         g.Output("loss", loss);
         std::vector<GradientAndVariable> gradients = adam.ComputeGradients(loss);
         for (GradientAndVariable& entry : gradients) entry.gradient = entry.gradient / s;
         adam.ApplyGradients(gradients);
       }},
      {"ClippedByValue",
       [](GraphBuilder& g, const Tensor& s) {
         Train(g, ReduceMean(Square(Model(g))) + Log(s),
               optimizers::SGD({.learning_rate = 0.01, .clip = {.value = 0.1}}));
       }},
      {"SquaresOfGradientsThatOverflow",
       [](GraphBuilder& g, const Tensor& s) {
         Train(g, ReduceMean(Square(Model(g))) * s,
               optimizers::SGD({.learning_rate = 0.01, .clip = {.global_norm = 1}}));
       },
       1e30f},
      {"AnUpdateByHand",
       [](GraphBuilder& g, const Tensor& s) {
         Tensor w = g.Variable({.name = "w"});
         Tensor next = w + ReduceMean(Square(Model(g))) / s;
         g.CheckFinite(next);
         g.Assign(w, next);
       }},
  };
}

class CheckedValues : public testing::TestWithParam<Case> {};

TEST_P(CheckedValues, KeepAStepFromChangingAnything) {
  for (const auto& [devices, precision] :
       {std::pair{1, Precision::kFloat32}, {2, Precision::kFloat32}, {2, Precision::kMixedBfloat16}}) {
    SCOPED_TRACE(testing::Message() << devices << " devices, precision " << static_cast<int>(precision));
    const Case& c = GetParam();
    const Options options = OnTestTarget({.devices = devices, .batch = 8, .precision = precision});
    absl::StatusOr<Program> program =
        Prepare([&](GraphBuilder& g) { c.build(g, g.StepScalar("s", DType::kFloat32, c.good)); }, options);
    ASSERT_TRUE(program.ok()) << program.status();
    const TensorMap before = program->Values();
    std::vector<int64_t> rows(options.devices, options.batch);
    rows.back() -= 5;
    const TensorMap batch = RandomInputs(*program->executable, options.devices * options.batch, options, 0);
    StepInputs inputs = Deal(*program, batch, rows, 0);
    inputs.scalars["s"] = c.bad;
    EXPECT_FALSE(program->Run(inputs).value().finite);
    for (const auto& [name, value] : program->Values()) EXPECT_TRUE(value.BitEqual(before.at(name))) << name;
    const absl::StatusOr<std::string> op = program->session->FindNonFinite(inputs);
    ASSERT_TRUE(op.ok()) << op.status();
    EXPECT_THAT(*op, testing::HasSubstr(":"));
    inputs.scalars["s"] = c.good;
    EXPECT_TRUE(program->Run(inputs).value().finite);
    int changed = 0;
    for (const auto& [name, value] : program->Values()) {
      changed += value.BitEqual(before.at(name)) ? 0 : 1;
      EXPECT_TRUE(std::isfinite(MaxMagnitude(value))) << name;
    }
    EXPECT_GT(changed, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Graphs, CheckedValues, testing::ValuesIn(Cases()),
                         [](const auto& info) { return info.param.name; });

// What the check of the batch's sums tells already is not checked again.
TEST(CheckedValuesGraph, HasNoMarkWhereSumsAreEnough) {
  GraphBuilder g;
  Tensor loss = ReduceMean(Square(layers::BatchNormalization(Model(g), {.training = true})));
  loss = loss + ReduceSum(Square(g.trainable_variables()[0])) * 0.01;
  optimizers::Adam({.clip = {.value = 1}}).Minimize(loss);
  ASSERT_TRUE(g.status().ok()) << g.status();
  const std::string text = g.ToString();
  const size_t at = text.find("check_finite");
  EXPECT_EQ(at, std::string::npos) << text.substr(std::max<size_t>(at, 200) - 200, 400);
}

// Of a graph with the step scalar "s", which is 1 at first: the worker's part of the step with parameter servers is not
// finite where s is 0.
void ExpectThatTheWorkerChecks(const std::function<void(GraphBuilder&, const Tensor& s)>& build, int servers) {
  const Options options{.batch = 8, .part = {.servers = servers}};
  absl::StatusOr<Program> program =
      Prepare([&](GraphBuilder& g) { build(g, g.StepScalar("s", DType::kFloat32, 1)); }, options);
  ASSERT_TRUE(program.ok()) << program.status();
  StepInputs inputs = Deal(*program, RandomInputs(*program->executable, 8, options, 0), {8}, 0);
  EXPECT_TRUE(program->Run(inputs).value().finite);
  inputs.scalars["s"] = 0.0f;
  EXPECT_FALSE(program->Run(inputs).value().finite);
}

// The check of a worker's step covers what servers compute from variables as well.
TEST(CheckedValuesGraph, IsOfTheWorkerWithParameterServers) {
  ExpectThatTheWorkerChecks(
      [](GraphBuilder& g, const Tensor& s) {
        Tensor w = g.Variable({.name = "w", .shape = {3}, .initializer = {Initializer::Kind::kConstant, 2}});
        Train(g, ReduceMean(Square(Model(g))) + Sqrt(ReduceSum(Square(w * s))), optimizers::Adam({}));
      },
      2);
}

// A new value that is checked is the server's to compute all the same.
TEST(CheckedValuesGraph, IsNoReasonForAWorkerToUpdateAVariable) {
  ExpectThatTheWorkerChecks(
      [](GraphBuilder& g, const Tensor& s) {
        Tensor w = g.Variable({.name = "w"});
        Tensor next = w + ReduceMean(Square(Model(g))) / s;
        g.CheckFinite(next);
        g.Assign(w, next);
      },
      1);
}

// The least of the numbers has no negative.
TEST(MinimumOverTheBatch, IsRightForTheLeastInteger) {
  for (int devices : {1, 2}) {
    const Options options{.devices = devices, .batch = 8, .mode = "predict"};
    absl::StatusOr<Program> program = Prepare(
        [](GraphBuilder& g) {
          g.Output("int32", ReduceMin(g.Input("a", DType::kInt32, {kBatch, 3}), {0}));
          g.Output("int64", ReduceMin(g.Input("b", DType::kInt64, {kBatch, 3}), {0}));
        },
        options);
    ASSERT_TRUE(program.ok()) << program.status();
    TensorMap batch = RandomInputs(*program->executable, 8 * devices, options, 0);
    batch["a"].data<int32_t>()[3 * 5 + 1] = std::numeric_limits<int32_t>::min();
    batch["b"].data<int64_t>()[3 * 2 + 2] = std::numeric_limits<int64_t>::min();
    const StepResult got = program->Run(Deal(*program, batch, std::vector<int64_t>(devices, 8), 0)).value();
    EXPECT_EQ(got.outputs[0].data<int32_t>()[1], std::numeric_limits<int32_t>::min());
    EXPECT_EQ(got.outputs[1].data<int64_t>()[2], std::numeric_limits<int64_t>::min());
    EXPECT_GE(got.outputs[0].data<int32_t>()[0], 0);
    EXPECT_LE(got.outputs[0].data<int32_t>()[0], 3);
  }
}

}  // namespace
}  // namespace tandem::compiled

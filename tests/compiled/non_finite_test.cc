// A step whose loss or gradients are not finite changes nothing and names the op.
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "frontends/layers.h"
#include "frontends/optimizers.h"
#include "gmock/gmock.h"
#include "graph/ops.h"
#include "gtest/gtest.h"
#include "tests/compiled/harness.h"
#include "tests/compiled/workers.h"

namespace tandem::compiled {
namespace {

int log_line = 0;

void Logarithm(GraphBuilder& g) {
  Tensor x = layers::Dense(g.Input("x", DType::kFloat32, {kBatch, 3}), {.units = 2, .use_bias = false});
  Tensor total = g.Variable({.name = "examples", .trainable = false});
  g.Assign(total, total + g.StepScalar("example_count", DType::kFloat32));
  log_line = __LINE__ + 1;
  Tensor y = Log(Abs(x) - 0.5 + g.Input("shift", DType::kFloat32, {kBatch, 2}));
  Tensor loss = ReduceMean(Square(y));
  g.Output("loss", loss);
  optimizers::Adam({.learning_rate = 0.01}).Minimize(loss);
}

TEST(NonFinite, ChangesNothingAndNamesTheOp) {
  for (int devices : {1, 2}) {
    SCOPED_TRACE(devices);
    Options options{.devices = devices, .batch = 12, .ranges = {{"shift", {1, 2}}}};
    absl::StatusOr<Program> program = Prepare(Logarithm, options);
    ASSERT_TRUE(program.ok()) << program.status();
    std::vector<int64_t> rows(devices, 12);
    TensorMap good = RandomInputs(*program->executable, 12 * devices, options, 0);
    TensorMap bad = good;
    bad["shift"] = good["shift"].Clone();
    bad["shift"].data<float>()[2 * (12 * devices - 2)] = -100;  // one of the last rows

    ASSERT_TRUE(program->Run(Deal(*program, good, rows, 0)).value().finite);
    TensorMap before = program->Values();
    absl::StatusOr<StepResult> result = program->Run(Deal(*program, bad, rows, 1));
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_FALSE(result->finite);
    for (const auto& [name, value] : program->Values()) EXPECT_TRUE(value.BitEqual(before.at(name))) << name;

    absl::StatusOr<std::string> named = program->session->FindNonFinite(Deal(*program, bad, rows, 1));
    ASSERT_TRUE(named.ok()) << named.status();
    EXPECT_NE(named->find("Log"), std::string::npos) << *named;
    EXPECT_NE(named->find(absl::StrCat("non_finite_test.cc:", log_line)), std::string::npos) << *named;
    for (const auto& [name, value] : program->Values()) EXPECT_TRUE(value.BitEqual(before.at(name))) << name;

    // The session goes on as if the step had not been.
    EXPECT_EQ(*program->session->FindNonFinite(Deal(*program, good, rows, 1)), "");
    ASSERT_TRUE(program->Run(Deal(*program, good, rows, 1)).value().finite);
    absl::StatusOr<Program> other = Prepare(Logarithm, options);
    for (int step : {0, 1}) ASSERT_TRUE(other->Run(Deal(*other, good, rows, step)).value().finite);
    for (const auto& [name, value] : program->Values()) EXPECT_TRUE(value.BitEqual(other->Values().at(name))) << name;
  }
}

// A statistic of each replica's own rows, which the loss does not depend on, is not finite on one worker: no worker
// takes the step.
TEST(NonFinite, EndsTheStepOfAllWorkers) {
  const BuildFn build = [](GraphBuilder& g) {
    Tensor normalized = layers::BatchNormalization(g.Input("z", DType::kFloat32, {kBatch, 3}), {.training = true});
    g.Output("normalized", normalized);
    Tensor y = layers::Dense(g.Input("x", DType::kFloat32, {kBatch, 3}), {.units = 2});
    Tensor loss = ReduceMean(Square(y));
    g.Output("loss", loss);
    optimizers::Adam({.learning_rate = 0.01}).Minimize(loss);
  };
  const Options options{.devices = 4, .batch = 6};
  absl::StatusOr<Program> program = Prepare(build, options);
  ASSERT_TRUE(program.ok()) << program.status();
  const std::vector<int64_t> rows(4, 6);
  const TensorMap good = RandomInputs(*program->executable, 24, options, 0);
  TensorMap bad = good;
  bad["z"] = good.at("z").Clone();
  bad["z"].data<float>()[3 * 23] = std::numeric_limits<float>::infinity();  // of the last replica
  for (int count : {2, 4}) {
    SCOPED_TRACE(count);
    const TensorMap before = program->Values();
    absl::StatusOr<Workers> workers = Workers::Make(program->executable, count);
    ASSERT_TRUE(workers.ok()) << workers.status();
    ASSERT_TRUE(workers->Assign(before).ok());
    absl::StatusOr<std::vector<StepResult>> results = workers->Run(Deal(*program, bad, rows, 0));
    ASSERT_TRUE(results.ok()) << results.status();
    for (const StepResult& result : *results) EXPECT_FALSE(result.finite);
    EXPECT_THAT(workers->Differences(before), testing::IsEmpty());
    // They go on as one process does.
    results = workers->Run(Deal(*program, good, rows, 0));
    ASSERT_TRUE(results.ok()) << results.status();
    ASSERT_TRUE(program->Run(Deal(*program, good, rows, 0)).value().finite);
    for (const StepResult& result : *results) EXPECT_TRUE(result.finite);
    EXPECT_THAT(workers->Differences(program->Values()), testing::IsEmpty());
  }
}

// A batch of 8 rows on each device, of which row 5 is wrong: `program` takes no step and names the op at `line`, and of
// the [rows, columns] that `evaluation` gives, row 5 is NaN.
void ExpectStop(Program& program, Program& evaluation, const TensorMap& bad, int64_t columns, int line) {
  const int64_t devices = program.executable->num_replicas();
  const std::vector<int64_t> rows(devices, 8);
  const TensorMap before = program.Values();
  absl::StatusOr<StepResult> result = program.Run(Deal(program, bad, rows, 1));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_FALSE(result->finite);
  absl::StatusOr<StepResult> evaluated = evaluation.Run(Deal(evaluation, bad, rows, 1));
  ASSERT_TRUE(evaluated.ok()) << evaluated.status();
  const HostTensor& outputs = evaluated->outputs[0];
  ASSERT_EQ(outputs.num_elements(), 8 * devices * columns);
  for (int64_t i = 0; i < outputs.num_elements(); ++i) {
    EXPECT_EQ(std::isnan(outputs.data<float>()[i]), i / columns == 5) << i;
  }
  for (const auto& [name, value] : program.Values()) EXPECT_TRUE(value.BitEqual(before.at(name))) << name;
  absl::StatusOr<std::string> named = program.session->FindNonFinite(Deal(program, bad, rows, 1));
  ASSERT_TRUE(named.ok()) << named.status();
  EXPECT_NE(named->find(absl::StrCat("non_finite_test.cc:", line)), std::string::npos) << *named;
}

// Labels that the model computes are not looked at before the step: the loss of a row without a class is NaN.
TEST(NonFinite, ALabelOfNoClassStopsTheStep) {
  int line = 0;
  auto rows_of = [&](GraphBuilder& g) {
    Tensor logits = layers::Dense(g.Input("x", DType::kFloat32, {kBatch, 3}), {.units = 4});
    line = __LINE__ + 1;
    return SparseSoftmaxCrossEntropyWithLogits(g.Input("label", DType::kInt32, {kBatch}), logits);
  };
  BuildFn build = [&](GraphBuilder& g) {
    Tensor loss = ReduceMean(rows_of(g));
    g.Output("loss", loss);
    optimizers::SGD({.learning_rate = 0.1}).Minimize(loss);
  };
  BuildFn evaluate = [&](GraphBuilder& g) { g.Output("rows", rows_of(g)); };
  for (int devices : {1, 2}) {
    Options options{.devices = devices, .batch = 8};
    absl::StatusOr<Program> program = Prepare(build, options);
    ASSERT_TRUE(program.ok()) << program.status();
    absl::StatusOr<Program> evaluation = Prepare(evaluate, options);
    ASSERT_TRUE(evaluation.ok()) << evaluation.status();
    const std::vector<int64_t> rows(devices, 8);
    TensorMap batch = RandomInputs(*program->executable, 8 * devices, options, 0);
    ASSERT_TRUE(program->Run(Deal(*program, batch, rows, 0)).value().finite);
    for (int32_t label : {-1, 4}) {
      TensorMap bad = batch;
      bad["label"] = batch["label"].Clone();
      bad["label"].data<int32_t>()[5] = label;
      ExpectStop(*program, *evaluation, bad, /*columns=*/1, line);
    }
  }
}

// Indices that the model computes are not looked at before the step: a row that is not there is NaN.
TEST(NonFinite, AComputedIndexOutsideOfATableStopsTheStep) {
  using Index = std::function<Tensor(GraphBuilder&)>;
  const Index indices[] = {
      [](GraphBuilder& g) {
        return Slice(g.Input("id", DType::kInt64, {kBatch, 2}), {0, 1}, {-1, 1});
      },
      [](GraphBuilder& g) {
        return g.Input("id", DType::kInt32, {kBatch, 2}) + 1 - 1;
      },
      [](GraphBuilder& g) {
        return Cast(g.Input("id", DType::kFloat32, {kBatch, 2}), DType::kInt32);
      },
  };
  for (const Index& index : indices) {
    int line = 0;
    auto rows_of = [&](GraphBuilder& g) {
      const Tensor id = index(g);
      line = __LINE__ + 1;
      Tensor rows = layers::Embedding(id, {.input_dim = 5, .output_dim = 3});
      return layers::Dense(ReduceMean(rows, {1}), {.units = 2});
    };
    BuildFn build = [&](GraphBuilder& g) {
      Tensor loss = ReduceMean(Square(rows_of(g) - 1.0));
      g.Output("loss", loss);
      optimizers::SGD({.learning_rate = 0.1}).Minimize(loss);
    };
    BuildFn evaluate = [&](GraphBuilder& g) { g.Output("rows", rows_of(g)); };
    for (int devices : {1, 2}) {
      Options options{.devices = devices, .batch = 8, .ranges = {{"id", {0, 5}}}};
      absl::StatusOr<Program> program = Prepare(build, options);
      ASSERT_TRUE(program.ok()) << program.status();
      absl::StatusOr<Program> evaluation = Prepare(evaluate, options);
      ASSERT_TRUE(evaluation.ok()) << evaluation.status();
      const std::vector<int64_t> rows(devices, 8);
      TensorMap batch = RandomInputs(*program->executable, 8 * devices, options, 0);
      ASSERT_TRUE(program->Run(Deal(*program, batch, rows, 0)).value().finite);
      for (int wrong : {-1, 5, -2147483647}) {
        TensorMap bad = batch;
        HostTensor& id = bad["id"] = batch["id"].Clone();
        if (id.dtype() == DType::kInt64) id.data<int64_t>()[11] = wrong;
        if (id.dtype() == DType::kInt32) id.data<int32_t>()[11] = wrong;
        if (id.dtype() == DType::kFloat32) id.data<float>()[11] = static_cast<float>(wrong);
        ExpectStop(*program, *evaluation, bad, /*columns=*/2, line);
      }
    }
  }
}

// A value that is fetched, or goes into rows, and is a variable's new value as well.
TEST(NonFinite, ProtectsVariablesWhoseNewValuesAreUsed) {
  BuildFn build = [](GraphBuilder& g) {
    Tensor x = g.Input("x", DType::kFloat32, {kBatch, 3});
    Tensor mean = g.Variable({.name = "mean", .shape = {3}, .trainable = false});
    Tensor w = g.Variable({.name = "w", .shape = {3}});
    Tensor next = mean * 0.5 + ReduceMean(Square(w)) + 1.0;
    g.Assign(mean, next);
    g.Output("mean_after", next);
    g.Output("rows", x * next);
    Tensor loss = ReduceMean(Log(x + w + next));
    g.Output("loss", loss);
    optimizers::SGD({.learning_rate = 0.1}).Minimize(loss);
  };
  Options options{.batch = 8, .ranges = {{"x", {2, 3}}}};
  absl::StatusOr<Program> program = Prepare(build, options);
  ASSERT_TRUE(program.ok()) << program.status();
  TensorMap batch = RandomInputs(*program->executable, 8, options, 0);
  ASSERT_TRUE(program->Run(Deal(*program, batch, {8}, 0)).value().finite);
  TensorMap before = program->Values();
  batch["x"].data<float>()[5] = -50;
  EXPECT_FALSE(program->Run(Deal(*program, batch, {8}, 1)).value().finite);
  for (const auto& [name, value] : program->Values()) EXPECT_TRUE(value.BitEqual(before.at(name))) << name;
}

// What is not finite beyond the rows of a short batch, left from an earlier step, does not count.
TEST(NonFinite, RowsOfAnEarlierBatchDoNotCount) {
  BuildFn build = [](GraphBuilder& g) {
    Tensor x = g.Input("image", DType::kFloat32, {kBatch, 6, 6, 2});
    x = layers::Conv2D(x, {.filters = 4, .kernel_size = 3, .activation = Relu});
    x = layers::Conv2D(x, {.filters = 4, .kernel_size = 3});
    Tensor loss = ReduceMean(Square(layers::Dense(layers::Flatten(x), {.units = 2})));
    optimizers::SGD({.learning_rate = 0.01}).Minimize(loss);
    g.Output("loss", loss);
  };
  Options options{.batch = 16, .lanes = 2, .microbatch_rows = 8};
  absl::StatusOr<Program> program = Prepare(build, options);
  ASSERT_TRUE(program.ok()) << program.status();
  TensorMap batch = RandomInputs(*program->executable, 16, options, 0);
  HostTensor good = batch["image"].Clone();
  for (int64_t i = 0; i < good.num_elements(); ++i) batch["image"].data<float>()[i] = INFINITY;
  EXPECT_FALSE(program->Run(Deal(*program, batch, {16}, 0)).value().finite);
  batch["image"] = Rows(good, 0, 3);
  EXPECT_TRUE(program->Run(Deal(*program, batch, {3}, 0)).value().finite);
}

}  // namespace
}  // namespace tandem::compiled

// Two runs with one planted difference: it is named, and where the bits part.
#include "tools/compare/compare_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/record/run_description.h"
#include "estimator/test_models.h"

namespace tandem {
namespace {

using namespace test;  // NOLINT: this file's vocabulary
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kSteps = 6;

// What may be another in the second run.
struct Planted {
  RunConfig config;
  float slope = 3;
  uint64_t order = 5;
  double rate = 0.05;
  float initial = 0;    // of one weight
  std::string dropout;  // the name of its layer, by which it draws its numbers
  bool square = false;  // another op
};

InputFn PointsOf(const Planted& planted) {
  return [=](const InputContext&) -> absl::StatusOr<Dataset> {
    std::vector<float> x, y;
    for (int64_t i = 0; i < 64; ++i) {
      x.insert(x.end(), {static_cast<float>(i % 7) / 7, static_cast<float>(i % 11) / 11});
      y.push_back((i == 40 ? planted.slope : 3) * x[2 * i] - 2 * x[2 * i + 1] + 1);
    }
    return Dataset::FromTensorSlices(
               {{"x", HostTensor::FromVector({64, 2}, x)}, {"label", HostTensor::FromVector({64, 1}, y)}})
        .Shuffle(64, {.seed = planted.order})
        .Repeat()
        .Batch(8);
  };
}

ModelFn ModelOf(const Planted& planted) {
  return [=](const Features& features, const Tensor& labels, Mode mode, const Params& params) {
    Tensor x = layers::Dense(features["x"], {.units = 4, .activation = Relu});
    x = layers::Dropout(x, {.rate = 0.25, .training = true, .name = planted.dropout});
    Tensor y = layers::Dense(x, {.units = 1, .bias_initializer = initializers::Constant(planted.initial)});
    if (planted.square) y = y * 1.5f;
    Tensor loss = losses::MeanSquaredError(labels, y);
    return EstimatorSpec::Train(loss, optimizers::Adam({.learning_rate = planted.rate}).Minimize(loss));
  };
}

std::string Trained(const std::string& name, const std::function<void(Planted&)>& plant = nullptr) {
  Planted planted{.config = Config(ModelDir(name))};
  planted.config.save_checkpoints_steps = 3;
  if (plant) plant(planted);
  Estimator estimator(ModelOf(planted), planted.config);
  EXPECT_EQ(estimator.Train(PointsOf(planted), {.max_steps = kSteps}), absl::OkStatus());
  return planted.config.model_dir;
}

RunDifferences Compared(const std::string& a, const std::string& b) {
  auto differences = CompareRuns(Env::Default(), a, b);
  EXPECT_TRUE(differences.ok()) << differences.status();
  return differences.ok() ? *std::move(differences) : RunDifferences();
}

struct Difference {
  std::string name;
  std::function<void(Planted&)> plant;
  std::vector<std::string> expected;
};

TEST(CompareRuns, APlantedDifferenceIsNamed) {
  const std::string a = Trained("a");
  const std::vector<Difference> differences = {
      {"weight", [](Planted& p) { p.initial = 0.001f; }, {"The programs differ:", "the variable dense_1/bias is"}},
      {"seed", [](Planted& p) { p.config.seed = 1; }, {"The seeds differ:\n  0 in A and 1 in B"}},
      {"example", [](Planted& p) { p.slope = 3.5; }, {"The data differ:"}},
      {"order", [](Planted& p) { p.order = 6; }, {"The order of the input, or an option"}},
      {"rate", [](Planted& p) { p.rate = 0.06; }, {"learning_rate is 0.05", "in A and 0.06"}},
      {"op", [](Planted& p) { p.square = true; }, {"The programs differ:", "is in B only: ", "compare_runs_test.cc:"}},
      {"dropout", [](Planted& p) { p.dropout = "other"; }, {"The programs differ:", "the op other/"}},
  };
  for (const Difference& d : differences) {
    const RunDifferences found = Compared(a, Trained(d.name, d.plant));
    EXPECT_FALSE(found.equal) << d.name;
    for (const std::string& part : d.expected) EXPECT_THAT(found.text, HasSubstr(part)) << d.name;
    EXPECT_THAT(found.text, Not(HasSubstr("Nothing that is recorded differs"))) << d.name;
  }
}

// A process computes with one set of instructions, so that the second run has a process of its own.
TEST(CompareRuns, AnotherTargetIsNamed) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const std::string b = ModelDir("b");
  const auto train = [] {
    Trained("b", [](Planted& p) { p.config.target = "cpu:x86-64-v3"; });
    std::_Exit(::testing::Test::HasFailure() ? 1 : 0);
  };
  EXPECT_EXIT(train(), ::testing::ExitedWithCode(0), "");
  EXPECT_THAT(Compared(Trained("a"), b).text, HasSubstr("target is "));
}

TEST(CompareRuns, ThreadsMakeNoDifference) {
  const RunDifferences found = Compared(Trained("a"), Trained("b", [](Planted& p) { p.config.threads = 1; }));
  EXPECT_TRUE(found.equal);
  EXPECT_THAT(found.text, HasSubstr("All 6 steps that both have are equal."));
  EXPECT_THAT(found.text, HasSubstr("Settings that decide about no bits differ:"));
  EXPECT_THAT(found.text, HasSubstr("threads is 2 in A and 1 in B"));
  EXPECT_THAT(found.text, HasSubstr("The checkpoints of step 6 are equal."));
}

TEST(CompareRuns, MoreDevicesWithTheSameBatchMakeNoDifference) {
  const auto of = [](int replicas, int64_t batch) {
    Planted planted{.config = Config(ModelDir(absl::StrCat(replicas)), replicas)};
    Estimator estimator(ModelOf(planted), planted.config);
    const InputFn input = [=](const InputContext& context) -> absl::StatusOr<Dataset> {
      return LinePoints(64).Repeat().Batch(batch);
    };
    EXPECT_EQ(estimator.Train(input, {.max_steps = kSteps}), absl::OkStatus());
    return planted.config.model_dir;
  };
  const RunDifferences found = Compared(of(1, 16), of(2, 8));
  EXPECT_TRUE(found.equal) << found.text;
  EXPECT_THAT(found.text, HasSubstr("The batches differ:\n  16 examples x 1 replicas in A and 8 examples x 2"));
}

TEST(CompareRuns, AnotherLibraryIsNamed) {
  const std::string a = Trained("a"), b = Trained("b");
  RunDescription description = **ReadRunDescription(Env::Default(), b);
  for (auto& [name, words] : description.starts[0].machine) {
    if (name == "libraries") absl::StrAppend(&words, " libother.so.7");
  }
  ASSERT_TRUE(WriteRunDescription(Env::Default(), b, description).ok());
  EXPECT_THAT(Compared(a, b).text, HasSubstr("libother.so.7 in B"));
}

TEST(CompareRuns, AWeightThatIsOtherInACheckpointIsNamed) {
  const auto to_step_3 = [](const std::string& dir) {
    Planted planted{.config = Config(dir)};
    planted.config.save_checkpoints_steps = 3;
    return planted;
  };
  const auto train = [&](const std::string& dir, int64_t max_steps, float slope) {
    Planted planted = to_step_3(dir);
    Estimator estimator(ModelOf(planted), planted.config);
    EXPECT_EQ(estimator.Train(PointsOf(planted), {.max_steps = max_steps}), absl::OkStatus());
  };
  const std::string a = ModelDir("a"), b = ModelDir("b");
  train(a, 6, 3);
  train(b, 3, 3);
  CheckpointManager checkpoints(Env::Default(), b);
  CheckpointData data = *checkpoints.Restore(JoinPath(b, "model.ckpt-3"));
  HostTensor kernel = data.variables.at("dense/kernel").Clone();
  kernel.data<float>()[3] += 0.5f;
  data.variables["dense/kernel"] = kernel;
  data.extra = {};
  ASSERT_TRUE(checkpoints.Save(data).ok());
  train(b, 6, 3);
  const RunDifferences found = Compared(a, b);
  EXPECT_FALSE(found.equal);
  EXPECT_THAT(found.text, HasSubstr("Step 3 is the first that differs, behind 3 equal ones"));
  EXPECT_THAT(found.text, HasSubstr("The checkpoints of step 3 differ:\n  dense/kernel: 1 of 8 elements differ"));
}

TEST(CompareRuns, ADirectoryWithoutARecordIsAnError) {
  const absl::Status status = CompareRuns(Env::Default(), ModelDir("a"), ModelDir("b")).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("has no record of a run (steps.bits, run.json)"));
}

}  // namespace
}  // namespace tandem

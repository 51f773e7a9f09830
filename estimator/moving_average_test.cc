// Moving averages of weights in training, evaluation, prediction and checkpoints.
#include <cmath>
#include <string>
#include <vector>

#include "base/moving_average_name.h"
#include "estimator/checkpoint/checkpoint.h"
#include "estimator/serving/model.h"
#include "estimator/test_models.h"
#include "estimator/train_and_evaluate.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

using test::Config;
using test::LineInput;
using test::LinePoints;
using test::ModelDir;

constexpr double kDecay = 0.5;
constexpr int64_t kRows = 61;  // the last round is short

// One dense unit, squared error, momentum, averages.
EstimatorSpec Averaged(const Features& features, const Tensor& labels, Mode mode, const Params& params) {
  Tensor y = layers::Dense(features["x"], {.units = 1});
  if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"y", y}});
  Tensor loss = losses::MeanSquaredError(labels, y);
  if (mode == Mode::kEval) return EstimatorSpec::Eval(loss);
  Optimizer optimizer = optimizers::Momentum({.learning_rate = 0.1});
  if (params.Bool("averages", true)) optimizer = optimizer.WithMovingAverage({.decay = kDecay});
  return EstimatorSpec::Train(loss, optimizer.Minimize(loss));
}

RunConfig EveryStep(const std::string& dir, int replicas = 1) {
  RunConfig config = Config(dir, replicas);
  config.save_checkpoints_steps = 1;
  config.keep_checkpoint_max = 0;
  return config;
}

InputFn Once(int64_t batch = 8) { return LineInput(kRows, batch, /*epochs=*/1); }

struct Line {
  double w0 = 0, w1 = 0, b = 0;
  double At(double x0, double x1) const { return w0 * x0 + w1 * x1 + b; }
};

Line LineOf(const CheckpointData& data, bool average) {
  auto value = [&](const std::string& name) {
    return average ? data.slots.at(MovingAverageName(name)) : data.variables.at(name);
  };
  const HostTensor kernel = value("dense/kernel"), bias = value("dense/bias");
  return {kernel.data<float>()[0], kernel.data<float>()[1], bias.data<float>()[0]};
}

CheckpointData ReadStep(const std::string& dir, int64_t step) {
  absl::StatusOr<CheckpointData> data = ReadCheckpoint(Env::Default(), dir + "/model.ckpt-" + std::to_string(step));
  EXPECT_TRUE(data.ok()) << data.status();
  return data.value_or(CheckpointData());
}

// The mean squared error over the whole data, in double precision.
double LossOf(const Line& line) {
  double sum = 0;
  for (int64_t i = 0; i < kRows; ++i) {
    const double a = static_cast<float>(i % 7) / 7, b = static_cast<float>(i % 11) / 11;
    sum += std::pow(line.At(a, b) - (3 * a - 2 * b + 1), 2);
  }
  return sum / kRows;
}

class AveragesOnDevicesTest : public testing::TestWithParam<int> {};

TEST_P(AveragesOnDevicesTest, IsWhatTheWeightsOfAllStepsSayAndWhatIsEvaluated) {
  const int replicas = GetParam();
  const std::string dir = ModelDir(std::to_string(replicas));
  Estimator estimator(Averaged, EveryStep(dir, replicas));
  ASSERT_TRUE(estimator.Train(LineInput(kRows, 16 / replicas), {.steps = 10}).ok());

  Line average = LineOf(ReadStep(dir, 0), /*average=*/false);
  for (int64_t step = 0; step <= 10; ++step) {
    const CheckpointData data = ReadStep(dir, step);
    const Line raw = LineOf(data, false), saved = LineOf(data, true);
    if (step > 0) {
      average = {kDecay * average.w0 + (1 - kDecay) * raw.w0, kDecay * average.w1 + (1 - kDecay) * raw.w1,
                 kDecay * average.b + (1 - kDecay) * raw.b};
    }
    EXPECT_NEAR(saved.w0, average.w0, 1e-6) << step;
    EXPECT_NEAR(saved.w1, average.w1, 1e-6) << step;
    EXPECT_NEAR(saved.b, average.b, 1e-6) << step;
  }
  const Line raw = LineOf(ReadStep(dir, 10), false);
  ASSERT_GT(std::abs(LossOf(average) - LossOf(raw)), 1e-3);  // the test can tell them apart

  const absl::StatusOr<EvalResult> in_memory = estimator.Evaluate(Once(16 / replicas));
  ASSERT_TRUE(in_memory.ok()) << in_memory.status();
  EXPECT_NEAR((*in_memory)["loss"], LossOf(average), 1e-5);
  const absl::StatusOr<EvalResult> trained = estimator.Evaluate(Once(), {.name = "raw", .use_moving_average = false});
  ASSERT_TRUE(trained.ok()) << trained.status();
  EXPECT_NEAR((*trained)["loss"], LossOf(raw), 1e-5);

  Estimator fresh(Averaged, EveryStep(dir, replicas));
  const absl::StatusOr<EvalResult> from_disk = fresh.Evaluate(Once(16 / replicas));
  ASSERT_TRUE(from_disk.ok()) << from_disk.status();
  EXPECT_EQ((*from_disk)["loss"], (*in_memory)["loss"]);
  for (Estimator* e : {&estimator, &fresh}) {
    for (bool averages : {true, false}) {
      int64_t i = 0;
      auto check = [&](const NamedTensors& prediction) {
        const double a = static_cast<float>(i % 7) / 7, b = static_cast<float>(i % 11) / 11;
        EXPECT_NEAR(prediction.at("y").data<float>()[0], (averages ? average : raw).At(a, b), 1e-5);
        ++i;
        return true;
      };
      ASSERT_TRUE(e->Predict(Once(), check, {.use_moving_average = averages}).ok());
      EXPECT_EQ(i, kRows);

      // Predictors and exported models too.
      const std::vector<ComponentSpec> features = {{"x", DType::kFloat32, {kBatch, 2}}};
      const std::map<std::string, HostTensor> row = {{"x", HostTensor::FromVector<float>({1, 2}, {0.25, 0.5})}};
      const double expected = (averages ? average : raw).At(0.25, 0.5);
      const auto predictor = e->MakePredictor(features, {.use_moving_average = averages});
      ASSERT_TRUE(predictor.ok()) << predictor.status();
      EXPECT_NEAR((*(*predictor)->Predict(row))["y"].data<float>()[0], expected, 1e-5);
      const auto exported = e->ExportModel(dir + "/export", {.features = features}, {.use_moving_average = averages});
      ASSERT_TRUE(exported.ok()) << exported.status();
      const auto model = LoadModel(*exported);
      ASSERT_TRUE(model.ok()) << model.status();
      EXPECT_NEAR((*(*model)->Predict(row))["y"].data<float>()[0], expected, 1e-5);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, AveragesOnDevicesTest, testing::Values(1, 2, 4));

std::string Bytes(const std::string& path) { return Env::Default()->ReadFile(path).value_or("missing " + path); }

// Evaluations between steps read averages and change nothing; so does a restart.
TEST(MovingAverageTest, TrainingGoesOnWithItsOwnWeights) {
  const std::string plain = ModelDir("plain"), evaluated = ModelDir("evaluated"), restarted = ModelDir("restarted");
  {
    Estimator estimator(Averaged, EveryStep(plain, 2));
    ASSERT_TRUE(estimator.Train(LineInput(kRows), {.max_steps = 6}).ok());
  }
  {
    Estimator estimator(Averaged, EveryStep(evaluated, 2));
    const absl::StatusOr<EvalResult> last = TrainAndEvaluate(estimator, {.input_fn = LineInput(kRows), .max_steps = 6},
                                                             {.input_fn = Once(), .throttle_secs = 0});
    ASSERT_TRUE(last.ok()) << last.status();
    EXPECT_NEAR((*last)["loss"], LossOf(LineOf(ReadStep(evaluated, 6), true)), 1e-5);
  }
  for (int64_t steps : {3, 6}) {
    Estimator estimator(Averaged, EveryStep(restarted, 2));
    ASSERT_TRUE(estimator.Train(LineInput(kRows), {.max_steps = steps}).ok());
  }
  for (const char* file : {"variables.safetensors", "slots.safetensors"}) {
    const std::string path = std::string("/model.ckpt-6/") + file;
    EXPECT_EQ(Bytes(evaluated + path), Bytes(plain + path)) << file;
    EXPECT_EQ(Bytes(restarted + path), Bytes(plain + path)) << file;
  }
}

// Averages in memory are never those of other weights.
TEST(MovingAverageTest, GoesWithTheWeightsThatAreLoaded) {
  const std::string dir = ModelDir("averages"), other_dir = ModelDir("other");
  const Params without = {{"averages", false}};
  Estimator other(Averaged, EveryStep(other_dir), without);
  ASSERT_TRUE(other.Train(LineInput(kRows), {.steps = 3}).ok());
  const absl::StatusOr<EvalResult> of_other = other.Evaluate(Once());
  ASSERT_TRUE(of_other.ok()) << of_other.status();
  EXPECT_NEAR((*of_other)["loss"], LossOf(LineOf(ReadStep(other_dir, 3), false)), 1e-5);

  Estimator estimator(Averaged, EveryStep(dir));
  ASSERT_TRUE(estimator.Train(LineInput(kRows), {.steps = 5}).ok());
  const double own = (*estimator.Evaluate(Once()))["loss"];
  const absl::StatusOr<EvalResult> there =
      estimator.Evaluate(Once(), {.checkpoint_path = other_dir + "/model.ckpt-3", .name = "other"});
  ASSERT_TRUE(there.ok()) << there.status();
  EXPECT_EQ((*there)["loss"], (*of_other)["loss"]);
  EXPECT_EQ((*estimator.Evaluate(Once()))["loss"], own);

  // A training in memory without averages, which evaluates a checkpoint that has them and comes back.
  RunConfig in_memory = Config(ModelDir("memory"));
  in_memory.save_checkpoints_steps = 0;
  Estimator memory(Averaged, in_memory, without);
  ASSERT_TRUE(memory.Train(LineInput(kRows), {.steps = 3}).ok());
  EXPECT_EQ((*memory.Evaluate(Once()))["loss"], (*of_other)["loss"]);
  EXPECT_EQ((*memory.Evaluate(Once(), {.checkpoint_path = dir + "/model.ckpt-5", .name = "x"}))["loss"], own);
  EXPECT_EQ((*memory.Evaluate(Once()))["loss"], (*of_other)["loss"]);
}

TEST(MovingAverageTest, BeginsFromTheFirstValueOfItsVariable) {
  const std::string dir = ModelDir("first"), warm = ModelDir("warm");
  Estimator estimator(Averaged, EveryStep(dir));
  ASSERT_TRUE(estimator.Train(LineInput(kRows), {.steps = 2}).ok());
  const CheckpointData first = ReadStep(dir, 0);
  EXPECT_EQ(LineOf(first, true).w0, LineOf(first, false).w0);
  EXPECT_NE(LineOf(first, true).w0, 0);
  RunConfig config = EveryStep(warm);
  config.warm_start_from =
      WarmStartSettings{.path = dir + "/model.ckpt-2", .vars_to_warm_start = "dense/(kernel|bias)"};
  Estimator warmed(Averaged, config);
  ASSERT_TRUE(warmed.Train(LineInput(kRows), {.steps = 1}).ok());
  EXPECT_EQ(LineOf(ReadStep(warm, 0), true).w0, LineOf(ReadStep(dir, 2), false).w0);
}

// An exported model has the weights whose metrics are in it.
TEST(MovingAverageTest, ExportersTakeTheWeightsThatWereEvaluated) {
  for (bool averages : {true, false}) {
    const std::string dir = ModelDir(averages ? "averages" : "raw");
    Estimator estimator(Averaged, EveryStep(dir));
    const ServingInput serving = {.features = {{"x", DType::kFloat32, {kBatch, 2}}}};
    ASSERT_TRUE(TrainAndEvaluate(estimator, {.input_fn = LineInput(kRows), .max_steps = 6},
                                 {.input_fn = Once(),
                                  .throttle_secs = 0,
                                  .exporters = {FinalExporter("final", serving)},
                                  .use_moving_average = averages})
                    .ok());
    const auto names = Env::Default()->ListDir(dir + "/export/final");
    ASSERT_TRUE(names.ok() && names->size() == 1) << names.status();
    const auto model = LoadModel(dir + "/export/final/" + names->front());
    ASSERT_TRUE(model.ok()) << model.status();
    const auto at = [&](float a, float b) {
      return (*(*model)->Predict({{"x", HostTensor::FromVector<float>({1, 2}, {a, b})}}))["y"].data<float>()[0];
    };
    const Line line = {at(1, 0) - at(0, 0), at(0, 1) - at(0, 0), at(0, 0)};
    EXPECT_NEAR(LossOf(line), (*model)->metrics().at("loss"), 1e-4);
    const CheckpointData data = ReadStep(dir, 6);
    EXPECT_GT(std::abs(LossOf(LineOf(data, true)) - LossOf(LineOf(data, false))), 1e-2);  // they can be told apart
  }
}

}  // namespace
}  // namespace tandem

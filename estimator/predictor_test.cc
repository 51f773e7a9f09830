// A Predictor gives what Estimator::Predict gives, and depends on nothing after it is made.
#include "estimator/predictor.h"

#include <errno.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "base/fault_injecting_env.h"
#include "base/logging.h"
#include "estimator/test_models.h"

namespace tandem {
namespace {

using namespace test;  // NOLINT: this file's vocabulary
using ::testing::HasSubstr;

const std::vector<ComponentSpec> kX = {{"x", DType::kFloat32, {kBatch, 2}}};

// Of a row of LinePoints.
HostTensor Points(int64_t first, int64_t rows) {
  HostTensor x(DType::kFloat32, {rows, 2});
  for (int64_t r = 0; r < rows; ++r) {
    x.data<float>()[2 * r] = static_cast<float>((first + r) % 7) / 7;
    x.data<float>()[2 * r + 1] = static_cast<float>((first + r) % 11) / 11;
  }
  return x;
}

// Only the features, as a Predictor has them.
InputFn PointsInput(int64_t rows, int64_t batch) {
  return [=](const InputContext&) -> absl::StatusOr<Dataset> {
    return Dataset::FromTensorSlices({{"x", Points(0, rows)}}).Batch(batch);
  };
}

std::vector<float> WithPredict(Estimator& estimator, int64_t rows, int64_t batch, const std::string& name = "y") {
  std::vector<float> y;
  EXPECT_EQ(estimator.Predict(PointsInput(rows, batch),
                              [&](const NamedTensors& p) {
                                for (float v : p.at(name).values<float>()) y.push_back(v);
                                return true;
                              }),
            absl::OkStatus());
  return y;
}

std::vector<float> With(Predictor& predictor, int64_t first, int64_t rows, const std::string& name = "y") {
  auto predictions = predictor.Predict({{"x", Points(first, rows)}});
  EXPECT_TRUE(predictions.ok()) << predictions.status();
  if (!predictions.ok()) return {};
  EXPECT_EQ(predictions->at(name).shape()[0], rows);
  const auto values = predictions->at(name).values<float>();
  return {values.begin(), values.end()};
}

// Two layers, so that sums have an order.
EstimatorSpec TwoLayers(const Features& features, const Tensor& labels, Mode mode, const Params&) {
  Tensor y = layers::Dense(layers::Dense(features["x"], {.units = 37, .activation = Relu}), {.units = 1});
  if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"y", y}, {"sum", ReduceSum(y, {1})}});
  Tensor loss = losses::MeanSquaredError(labels, y);
  return EstimatorSpec::Train(loss, optimizers::Adam({.learning_rate = 0.01}).Minimize(loss));
}

TEST(Predictor, GivesTheBitsOfPredict) {
  for (int replicas : {1, 2, 3}) {
    Estimator estimator(TwoLayers, Config(ModelDir(absl::StrCat(replicas)), replicas));
    ASSERT_EQ(estimator.Train(LineInput(), {.steps = 20}), absl::OkStatus());
    for (int64_t batch : {1, 4}) {
      auto predictor = estimator.MakePredictor(kX, {.batch_size = batch});
      ASSERT_TRUE(predictor.ok()) << predictor.status();
      EXPECT_EQ((*predictor)->global_step(), 20);
      for (int64_t rows : {1, 2, 4, 9, 25}) {
        EXPECT_EQ(With(**predictor, 0, rows), WithPredict(estimator, rows, batch)) << replicas << " " << batch;
        EXPECT_EQ(With(**predictor, 0, rows, "sum"), With(**predictor, 0, rows));
      }
    }
  }
}

TEST(Predictor, RandomNumbersAreThoseOfPredict) {
  const ModelFn random = [](const Features& features, const Tensor&, Mode, const Params&) {
    return EstimatorSpec::Predict({{"u", Mul(features["x"], 0.0) + RandomUniform(features.graph(), {kBatch, 2})}});
  };
  RunConfig config = Config(ModelDir(), 2);
  config.seed = -5;
  Estimator estimator(random, config);
  auto predictor = estimator.MakePredictor(kX, {.batch_size = 2});
  ASSERT_TRUE(predictor.ok()) << predictor.status();
  EXPECT_EQ(With(**predictor, 0, 11, "u"), WithPredict(estimator, 11, 2, "u"));
}

TEST(Predictor, KeepsItsWeights) {
  auto estimator = std::make_unique<Estimator>(LineModel, Config(ModelDir(), 2));
  ASSERT_EQ(estimator->Train(LineInput(), {.steps = 5}), absl::OkStatus());
  auto predictor = estimator->MakePredictor(kX);
  ASSERT_TRUE(predictor.ok()) << predictor.status();
  const std::vector<float> before = With(**predictor, 0, 3);
  EXPECT_EQ(before, WithPredict(*estimator, 3, 1));
  ASSERT_EQ(estimator->Train(LineInput(), {.steps = 5}), absl::OkStatus());
  EXPECT_EQ(With(**predictor, 0, 3), before);
  EXPECT_NE(WithPredict(*estimator, 3, 1), before);
  auto newer = estimator->MakePredictor(kX);
  auto older = estimator->MakePredictor(kX, {.checkpoint_path = (*predictor)->path()});
  ASSERT_TRUE(newer.ok() && older.ok()) << newer.status() << older.status();
  EXPECT_EQ((*newer)->global_step(), 10);
  EXPECT_EQ((*older)->global_step(), 5);
  EXPECT_EQ(With(**older, 0, 3), before);
  estimator.reset();
  EXPECT_EQ(With(**predictor, 0, 3), before);
  EXPECT_NE(With(**newer, 0, 3), before);
}

// Calls of different sizes at the same time, on one and on several devices.
TEST(Predictor, AnswersSeveralThreads) {
  for (int replicas : {1, 2}) {
    Estimator estimator(TwoLayers, Config(ModelDir(absl::StrCat(replicas)), replicas));
    ASSERT_EQ(estimator.Train(LineInput(), {.steps = 5}), absl::OkStatus());
    for (const int calls : {0, 1, 3}) {
      auto made = estimator.MakePredictor(kX, {.batch_size = 16, .calls = calls});
      ASSERT_TRUE(made.ok()) << made.status();
      const std::vector<float> all = With(**made, 0, 40);
      std::vector<std::thread> threads;
      for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&, i] {
          for (int k = 0; k < 30; ++k) {
            const int rows = 1 + (7 * i + k) % 40;
            EXPECT_EQ(With(**made, 0, rows), std::vector<float>(all.begin(), all.begin() + rows)) << rows << " rows";
          }
        });
      }
      for (std::thread& thread : threads) thread.join();
    }
  }
}

TEST(Predictor, AnswersWhileTheEstimatorTrains) {
  Estimator estimator(TwoLayers, Config(ModelDir(), 2));
  ASSERT_EQ(estimator.Train(LineInput(), {.steps = 5}), absl::OkStatus());
  auto made = estimator.MakePredictor(kX);
  ASSERT_TRUE(made.ok()) << made.status();
  const std::vector<float> before = With(**made, 0, 3);
  std::atomic<bool> trained = false;
  std::thread server([&] {
    do {
      EXPECT_EQ(With(**made, 0, 3), before);
    } while (!trained);
  });
  EXPECT_EQ(estimator.Train(LineInput(), {.steps = 100}), absl::OkStatus());
  trained = true;
  server.join();
}

// A hook of the training gets the weights of its moment.
TEST(Predictor, IsMadeInsideOfATraining) {
  Estimator estimator(LineModel, Config(ModelDir()));
  std::vector<float> at_step_3;
  auto hook = std::make_shared<StepHook>([&](RunContext&, const RunValues& values) {
    if (values.Number("global_step") != 3) return;
    auto predictor = estimator.MakePredictor(kX);
    ASSERT_TRUE(predictor.ok()) << predictor.status();
    EXPECT_EQ((*predictor)->global_step(), 3);
    at_step_3 = With(**predictor, 0, 2);
  });
  ASSERT_EQ(estimator.Train(LineInput(), {.steps = 5, .hooks = {hook}}), absl::OkStatus());
  RunConfig config = Config(ModelDir("same"));
  Estimator same(LineModel, config);
  ASSERT_EQ(same.Train(LineInput(), {.steps = 3}), absl::OkStatus());
  EXPECT_EQ(WithPredict(same, 2, 1), at_step_3);
}

TEST(Predictor, TakesWhatWasTrainedInMemory) {
  RunConfig config = Config(ModelDir());
  config.save_checkpoints_steps = 0;
  Estimator estimator(LineModel, config);
  ASSERT_EQ(estimator.Train(LineInput(), {.steps = 5}), absl::OkStatus());
  auto predictor = estimator.MakePredictor(kX);
  ASSERT_TRUE(predictor.ok()) << predictor.status();
  EXPECT_EQ((*predictor)->path(), "");
  EXPECT_EQ((*predictor)->global_step(), 5);
  EXPECT_EQ(With(**predictor, 0, 3), WithPredict(estimator, 3, 1));
}

TEST(Predictor, ReadsNoFileAndLogsNothing) {
  FaultInjectingEnv env(Env::Default());
  RunConfig config = Config(ModelDir());
  config.env = &env;
  Estimator estimator(LineModel, config);
  ASSERT_EQ(estimator.Train(LineInput(), {.steps = 5}), absl::OkStatus());
  auto predictor = estimator.MakePredictor(kX);
  ASSERT_TRUE(predictor.ok()) << predictor.status();
  env.FailPath("", EIO);  // every path
  LogCapture log;
  EXPECT_EQ(With(**predictor, 0, 3).size(), 3u);
  EXPECT_EQ(log.Text(), "");
  EXPECT_FALSE(estimator.Predict(PointsInput(1, 1), [](const NamedTensors&) { return true; }).ok());
}

TEST(Predictor, FeaturesThatDoNotFitAreErrors) {
  Estimator estimator(LineModel, Config(ModelDir()));
  auto made = estimator.MakePredictor(kX);
  ASSERT_TRUE(made.ok()) << made.status();
  const auto message = [&](const NamedTensors& features) {
    const absl::Status status = (*made)->Predict(features).status();
    EXPECT_EQ(ExitCodeFor(status), kExitUsage) << status;
    return std::string(status.message());
  };
  EXPECT_EQ(message({}), "no input \"x\" was given; the model takes x:float32[b,2]");
  EXPECT_EQ(message({{"x", HostTensor::Zeros(DType::kFloat32, {1, 3})}}),
            "input \"x\" is float32[1,3], the model takes float32[b,2], b being any number of rows");
  EXPECT_THAT(message({{"x", HostTensor::Zeros(DType::kFloat64, {1, 2})}}), HasSubstr("is float64[1,2]"));
  EXPECT_THAT(message({{"x", HostTensor::Zeros(DType::kFloat32, {2})}}), HasSubstr("is float32[2]"));
  EXPECT_THAT(message({{"x", HostTensor()}}), HasSubstr("input \"x\" is "));
  EXPECT_THAT(message({{"x", Points(0, 1)}, {"z", Points(0, 1)}}), HasSubstr("the model has no input \"z\""));
  EXPECT_EQ(With(**made, 0, 0).size(), 0u);
  EXPECT_EQ(With(**made, 0, 2).size(), 2u) << "after the errors";
}

TEST(Predictor, SpecsThatDoNotFitAreErrors) {
  Estimator estimator(LineModel, Config(ModelDir()));
  const auto message = [&](const std::vector<ComponentSpec>& features, const PredictorOptions& options = {}) {
    return std::string(estimator.MakePredictor(features, options).status().message());
  };
  EXPECT_THAT(message({}), HasSubstr("there are no features"));
  EXPECT_THAT(message(kX, {.batch_size = 0}), HasSubstr("batch_size must be from 1 to 268435456, got 0"));
  EXPECT_THAT(message({kX[0], kX[0]}), HasSubstr("\"x\" comes twice"));
  EXPECT_THAT(message({{"x", DType::kString, {kBatch}}}), HasSubstr("is of type string"));
  EXPECT_THAT(message({{"x", DType::kFloat32, {4, 2}}}), HasSubstr("the first dimension must be kBatch"));
  EXPECT_THAT(message({{"x", DType::kFloat32, {kBatch, -1}}}), HasSubstr("all others are sizes"));
  EXPECT_THAT(message({{"y", DType::kFloat32, {kBatch, 2}}}), HasSubstr("the input has no feature \"x\"; it has y"));
  Estimator nowhere(LineModel, Config(ModelDir() + "/mistyped"));
  EXPECT_EQ(ExitCodeFor(nowhere.MakePredictor(kX).status()), kExitMissingInput);
}

TEST(Predictor, RowsOfATableAreChecked) {
  const ModelFn table = [](const Features& features, const Tensor&, Mode, const Params&) {
    Tensor rows = features.graph()->Variable({.name = "table", .shape = {3, 2}});
    return EstimatorSpec::Predict({{"y", Gather(rows, features["id"])}});
  };
  Estimator estimator(table, Config(ModelDir()));
  auto predictor = estimator.MakePredictor({{"id", DType::kInt64, {kBatch}}});
  ASSERT_TRUE(predictor.ok()) << predictor.status();
  EXPECT_TRUE((*predictor)->Predict({{"id", HostTensor::FromVector<int64_t>({2}, {0, 2})}}).ok());
  const absl::Status status = (*predictor)->Predict({{"id", HostTensor::FromVector<int64_t>({2}, {0, 3})}}).status();
  EXPECT_EQ(ExitCodeFor(status), kExitBadData) << status;
}

}  // namespace
}  // namespace tandem

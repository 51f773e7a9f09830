// Estimator::Evaluate and Predict through the real compiler and runtime.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <functional>

#include "base/exit_code.h"
#include "base/logging.h"
#include "estimator/test_models.h"
#include "passes/compile/compile.h"

namespace tandem {
namespace {

using namespace test;  // NOLINT: this file's vocabulary
using ::testing::HasSubstr;

TEST(Evaluate, MetricsAreExactForAnyNumberOfReplicas) {
  for (int replicas : {1, 2, 4}) {
    Estimator estimator(NumbersModel, Config(ModelDir(std::to_string(replicas)), replicas));
    for (int64_t batches : {4, 8}) {
      auto result = estimator.Evaluate(NumbersInput(4 * batches, 4));
      ASSERT_TRUE(result.ok()) << result.status();
      EXPECT_DOUBLE_EQ((*result)["mean"], 2 * batches - 0.5) << replicas;
      EXPECT_NEAR((*result)["loss"], 2 * batches - 0.5, 1e-5) << replicas;
    }
    for (const auto& [examples, right] : {std::pair(4, 3), std::pair(8, 3), std::pair(12, 3), std::pair(16, 4)}) {
      auto result = estimator.Evaluate(NumbersInput(examples, 4));
      ASSERT_TRUE(result.ok()) << result.status();
      EXPECT_DOUBLE_EQ((*result)["accuracy"], static_cast<double>(right) / examples) << replicas;
    }
  }
}

TEST(Evaluate, CoversEveryExampleOnce) {
  std::string first;
  for (int replicas : {1, 2, 3, 4}) {
    Estimator estimator(NumbersModel, Config(ModelDir(std::to_string(replicas)), replicas));
    LogCapture log;
    auto result = estimator.Evaluate(NumbersInput(1000, 16));
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_TRUE(log.Contains("evaluated 1000 examples in 63 batches on " + std::to_string(replicas) +
                             (replicas == 1 ? " replica" : " replicas")));
    EXPECT_DOUBLE_EQ((*result)["mean"], 499.5);
    EXPECT_NEAR((*result)["loss"], 499.5, 1e-3);
    if (first.empty()) first = std::to_string((*result)["accuracy"]);
    EXPECT_EQ(std::to_string((*result)["accuracy"]), first);
  }
}

TEST(Evaluate, StepsBoundTheInput) {
  Estimator estimator(NumbersModel, Config(ModelDir()));
  LogCapture log;
  auto result = estimator.Evaluate(NumbersInput(100, 4), {.steps = 2});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_DOUBLE_EQ((*result)["mean"], 3.5);
  EXPECT_TRUE(log.Contains("Evaluation [1/2]"));
  EXPECT_TRUE(log.Contains("Evaluation [2/2]"));
  EXPECT_FALSE(estimator.Evaluate(NumbersInput(100, 4), {.steps = 0}).ok());
}

TEST(Evaluate, WithoutACheckpointUsesInitialWeightsAndSaysSo) {
  const std::string dir = ModelDir();
  Estimator estimator(LineModel, Config(dir));
  LogCapture log;
  auto result = estimator.Evaluate(LineInput(64, 8, 1));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(log.Contains("Could not find trained model in model_dir: " + dir +
                           ", running initialization to "
                           "evaluate."));
  EXPECT_EQ(result->global_step(), 0);
  EXPECT_TRUE(log.Contains("Saving dict for global step 0: global_step = 0, loss = "));
}

TEST(Evaluate, UsesTheLatestCheckpointOrTheOneAskedFor) {
  const std::string dir = ModelDir();
  RunConfig config = Config(dir);
  config.save_checkpoints_steps = 50;
  Estimator estimator(LineModel, config);
  ASSERT_EQ(estimator.Train(LineInput(), {.steps = 100}), absl::OkStatus());
  auto last = estimator.Evaluate(LineInput(64, 8, 1));
  auto middle = estimator.Evaluate(LineInput(64, 8, 1), {.checkpoint_path = dir + "/model.ckpt-50", .name = "mid"});
  ASSERT_TRUE(last.ok() && middle.ok()) << last.status() << middle.status();
  EXPECT_EQ(last->global_step(), 100);
  EXPECT_EQ(middle->global_step(), 50);
  EXPECT_LT((*last)["loss"], (*middle)["loss"]);
  EXPECT_TRUE(Env::Default()->Exists(dir + "/eval/metrics.jsonl"));
  EXPECT_TRUE(Env::Default()->Exists(dir + "/eval_mid/metrics.jsonl"));
  // In another process, as it were: the same numbers from the disk.
  Estimator fresh(LineModel, config);
  auto again = fresh.Evaluate(LineInput(64, 8, 1));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ((*again)["loss"], (*last)["loss"]);
  // Training goes on from the latest, not from what was evaluated last.
  ASSERT_EQ(estimator.Train(LineInput(), {.steps = 1}), absl::OkStatus());
  EXPECT_EQ(estimator.last_train_result()->global_step, 101);
  EXPECT_EQ(ExitCodeFor(estimator.Evaluate(LineInput(64, 8, 1), {.checkpoint_path = dir + "/model.ckpt-7"}).status()),
            kExitMissingInput);
}

TEST(Evaluate, ReadsACheckpointOnce) {
  const std::string dir = ModelDir();
  Estimator trained(LineModel, Config(dir));
  ASSERT_EQ(trained.Train(LineInput(), {.max_steps = 10}), absl::OkStatus());
  Estimator reader(LineModel, Config(dir));
  const auto first = reader.Evaluate(LineInput(64, 8, 1));
  ASSERT_TRUE(first.ok()) << first.status();
  // Whoever reads files of the checkpoint again does not find them.
  const std::string checkpoint = dir + "/model.ckpt-10", away = dir + "/away";
  ASSERT_EQ(Env::Default()->Rename(checkpoint, away), absl::OkStatus());
  const auto again = reader.Evaluate(LineInput(64, 8, 1));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ((*again)["loss"], (*first)["loss"]);
  EXPECT_FALSE(Estimator(LineModel, Config(dir)).Evaluate(LineInput(64, 8, 1)).ok());
  // A newer one is read.
  ASSERT_EQ(Env::Default()->Rename(away, checkpoint), absl::OkStatus());
  ASSERT_EQ(trained.Train(LineInput(), {.max_steps = 20}), absl::OkStatus());
  const auto newer = reader.Evaluate(LineInput(64, 8, 1));
  ASSERT_TRUE(newer.ok()) << newer.status();
  EXPECT_EQ(newer->global_step(), 20);
}

TEST(Evaluate, FewerReplicasThanTrainingSeeTheTrainedWeights) {
  RunConfig config = Config(ModelDir(), 2);
  config.eval_distribute = OneDeviceStrategy("cpu:0");
  Estimator one(LineModel, config);
  ASSERT_EQ(one.Train(LineInput(), {.steps = 20}), absl::OkStatus());
  auto on_one = one.Evaluate(LineInput(64, 8, 1));
  config.eval_distribute.reset();
  Estimator two(LineModel, config);
  auto on_two = two.Evaluate(LineInput(64, 8, 1));
  ASSERT_TRUE(on_two.ok() && on_one.ok()) << on_two.status() << on_one.status();
  EXPECT_NEAR((*on_two)["loss"], (*on_one)["loss"], 1e-6);
  EXPECT_NEAR((*on_two)["mean_y"], (*on_one)["mean_y"], 1e-6);
}

TEST(Evaluate, ReservedMetricNamesAreErrors) {
  for (const char* name : {"loss", "global_step"}) {
    Estimator estimator(
        [name](const Features& features, const Tensor&, Mode, const Params&) {
          Tensor value = features["value"];
          return EstimatorSpec::Eval(ReduceMean(value), {{name, metrics::Mean(value)}});
        },
        Config(ModelDir()));
    EXPECT_THAT(std::string(estimator.Evaluate(NumbersInput(8, 4)).status().message()), HasSubstr("choose another"));
  }
}

// Against a sum in double precision: metrics of one large batch, weighted and not.
TEST(Evaluate, MetricsOfALargeBatchAreSummedInDouble) {
  constexpr int64_t kRows = 65536;
  std::vector<float> values, weights;
  double sum = 0, weighted = 0, weight = 0;
  for (int64_t i = 0; i < kRows; ++i) {
    values.push_back(static_cast<float>((i * 2654435761u) % 1000003) / 1000003.0f);
    weights.push_back(static_cast<float>(i % 7) / 7);
    sum += values.back();
    weighted += static_cast<double>(values.back() * weights.back());
    weight += weights.back();
  }
  for (int replicas : {1, 2}) {
    Estimator estimator(
        [](const Features& features, const Tensor&, Mode, const Params&) {
          Tensor value = features["value"];
          return EstimatorSpec::Eval(
              ReduceMean(value),
              {{"plain", metrics::Mean(value)}, {"weighted", metrics::Mean(value, {.weights = features["weight"]})}});
        },
        Config(ModelDir(std::to_string(replicas)), replicas));
    auto result = estimator.Evaluate([&](const InputContext&) -> absl::StatusOr<Dataset> {
      return Dataset::FromTensorSlices({{"value", HostTensor::FromVector({kRows}, values)},
                                        {"weight", HostTensor::FromVector({kRows}, weights)}})
          .Batch(kRows / replicas);
    });
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_NEAR((*result)["plain"], sum / kRows, 1e-12 * sum / kRows);
    EXPECT_NEAR((*result)["weighted"], weighted / weight, 1e-12 * weighted / weight);
  }
}

// Seconds since 1970, which float32 knows to 128 of them.
TEST(Evaluate, MetricsOfLargeNumbersAreNotRoundedToFloat32) {
  constexpr int64_t kRows = 37, kTime = 1732700000;
  std::vector<int64_t> time, near;
  std::vector<int32_t> time32;
  std::vector<double> exact;
  std::vector<float> rounded, ones(kRows, 1);
  double sum = 0, error = 0;
  for (int64_t i = 0; i < kRows; ++i) {
    time.push_back(kTime + 7 * i);
    near.push_back(time.back() + i % 2);
    time32.push_back(static_cast<int32_t>(time.back()));
    exact.push_back(static_cast<double>(time.back()) + 0.25);
    rounded.push_back(static_cast<float>(time.back()));
    sum += static_cast<double>(time.back());
    error += std::abs(static_cast<double>(time.back()) - rounded.back());
  }
  for (int replicas : {1, 2}) {
    Estimator estimator(
        [](const Features& f, const Tensor&, Mode, const Params&) {
          Tensor single = ReduceMean(Cast(f["time"], DType::kFloat64));
          return EstimatorSpec::Eval(
              ReduceMean(f["ones"]),
              {{"int64", metrics::Mean(f["time"])},
               {"int32", metrics::Mean(f["time32"])},
               {"float64", metrics::Mean(f["exact"])},
               {"scalar", metrics::Mean(single)},
               {"weighted", metrics::Mean(f["time"], {.weights = f["ones"]})},
               {"by time", metrics::Mean(f["ones"], {.weights = f["time"]})},
               {"absolute", metrics::MeanAbsoluteError(f["time"], f["rounded"])},
               {"absolute64", metrics::MeanAbsoluteError(f["time"], f["exact"])},
               {"squared", metrics::MeanSquaredError(f["exact"], Cast(f["exact"], DType::kFloat64) + 0.5)},
               {"accuracy", metrics::Accuracy(f["near"], f["time"])},
               {"rounded accuracy", metrics::Accuracy(Cast(f["near"], DType::kFloat64), f["rounded"])}});
        },
        Config(ModelDir(std::to_string(replicas)), replicas));
    auto result = estimator.Evaluate([&](const InputContext&) -> absl::StatusOr<Dataset> {
      return Dataset::FromTensorSlices({{"time", HostTensor::FromVector({kRows}, time)},
                                        {"near", HostTensor::FromVector({kRows}, near)},
                                        {"time32", HostTensor::FromVector({kRows}, time32)},
                                        {"exact", HostTensor::FromVector({kRows}, exact)},
                                        {"rounded", HostTensor::FromVector({kRows}, rounded)},
                                        {"ones", HostTensor::FromVector({kRows}, ones)}})
          .Batch(8);
    });
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_DOUBLE_EQ((*result)["int64"], sum / kRows);
    EXPECT_DOUBLE_EQ((*result)["int32"], sum / kRows);
    EXPECT_DOUBLE_EQ((*result)["float64"], sum / kRows + 0.25);
    EXPECT_DOUBLE_EQ((*result)["scalar"], sum / kRows);
    EXPECT_DOUBLE_EQ((*result)["weighted"], sum / kRows);
    EXPECT_DOUBLE_EQ((*result)["by time"], 1);
    EXPECT_DOUBLE_EQ((*result)["absolute"], error / kRows);
    EXPECT_DOUBLE_EQ((*result)["absolute64"], 0.25);
    EXPECT_DOUBLE_EQ((*result)["squared"], 0.25);
    EXPECT_DOUBLE_EQ((*result)["accuracy"], 19.0 / kRows);
    EXPECT_LT((*result)["rounded accuracy"], 0.1);
  }
}

// The loss of a batch is a float32 number, as in training; those of batches are added up in double precision.
TEST(Evaluate, TheLossOfManyRowsIsThatInDouble) {
  constexpr int64_t kRows = 65536;
  std::vector<float> values;
  double sum = 0;
  for (int64_t i = 0; i < kRows; ++i) {
    values.push_back(static_cast<float>((i * 2654435761u) % 1000003) / 1000003.0f);
    sum += values.back();
  }
  for (int64_t batch : {int64_t{8}, int64_t{1000}, kRows}) {
    Estimator estimator([](const Features& features, const Tensor&, Mode,
                           const Params&) { return EstimatorSpec::Eval(ReduceMean(features["value"])); },
                        Config(ModelDir(std::to_string(batch))));
    auto result = estimator.Evaluate([&](const InputContext&) -> absl::StatusOr<Dataset> {
      return Dataset::FromTensorSlices({{"value", HostTensor::FromVector({kRows}, values)}}).Batch(batch);
    });
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_NEAR((*result)["loss"], sum / kRows, 1e-7 * sum / kRows) << batch;
  }
}

// Batches of 8, 8, 8, 8 and 5 rows, or less where there are more replicas.
TEST(Evaluate, AMeanOfBatchesCountsThemByTheirExamples) {
  for (int replicas : {1, 2}) {
    Estimator estimator(
        [](const Features& features, const Tensor&, Mode, const Params&) {
          Tensor value = Reshape(features["value"], {kBatch, 1});
          Tensor means = ReduceMean(Concat({value, value * 3.0}, 1), {0});
          Tensor weights = features.graph()->Constant(HostTensor::FromVector<float>({2}, {3, 1}));
          return EstimatorSpec::Eval(ReduceMean(value), {{"scalar", metrics::Mean(ReduceMean(value))},
                                                         {"vector", metrics::Mean(means)},
                                                         {"weighted", metrics::Mean(means, {.weights = weights})}});
        },
        Config(ModelDir(std::to_string(replicas)), replicas));
    auto result = estimator.Evaluate(NumbersInput(37, 8));
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_NEAR((*result)["scalar"], 18, 1e-5);
    EXPECT_NEAR((*result)["vector"], 36, 1e-5);
    EXPECT_NEAR((*result)["weighted"], 27, 1e-5);
  }
}

// As the penalty of a model's weights alone.
TEST(Evaluate, ALossThatReadsNoFeatureIsOfAllExamples) {
  for (int replicas : {1, 2}) {
    Estimator estimator(
        [](const Features& features, const Tensor&, Mode, const Params&) {
          Tensor w =
              features.graph()->Variable({.name = "w", .shape = {3}, .initializer = {Initializer::Kind::kConstant, 2}});
          Tensor loss = ReduceSum(w * w);
          return EstimatorSpec::Eval(loss, {{"same", metrics::Mean(loss)}});
        },
        Config(ModelDir(std::to_string(replicas)), replicas));
    LogCapture log;
    auto result = estimator.Evaluate(NumbersInput(37, 8));
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ((*result)["loss"], 12);
    EXPECT_EQ((*result)["same"], 12);
    EXPECT_TRUE(log.Contains("evaluated 37 examples"));
  }
}

TEST(Evaluate, AMetricThatIsNoScalarIsAnError) {
  for (bool total : {false, true}) {
    Estimator estimator(
        [total](const Features& features, const Tensor&, Mode, const Params&) {
          Tensor value = features["value"], sum = ReduceSum(value);
          return EstimatorSpec::Eval(sum, {{"odd", total ? Metric{value, sum} : Metric{sum, value}}});
        },
        Config(ModelDir()));
    const absl::Status status = estimator.Evaluate(NumbersInput(8, 4)).status();
    EXPECT_EQ(ExitCodeFor(status), kExitCompileError);
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(total ? "the total of metric \"odd\" must be a scalar" : "the count of metric \"odd\""));
    EXPECT_THAT(std::string(status.message()), HasSubstr("estimator_evaluate_test.cc:"));
  }
}

// Metrics of one's own: the correlation of two features from their sums and those of their products, and a histogram.
EstimatorSpec OwnMetrics(const Features& features, const Tensor&, Mode, const Params&) {
  Tensor a = Cast(features["a"], DType::kFloat64), b = Cast(features["b"], DType::kFloat64);
  Metric correlation{.sums = {{"a", ReduceSum(a)},
                              {"b", ReduceSum(b)},
                              {"aa", ReduceSum(a * a)},
                              {"bb", ReduceSum(b * b)},
                              {"ab", ReduceSum(a * b)},
                              {"n", ReduceSum(0.0 * a + 1.0)}},
                     .result = [](const MetricSums& s) {
                       auto covariance = [&](const char* xy, const char* x, const char* y) {
                         return s.at(xy)[0] - s.at(x)[0] * s.at(y)[0] / s.at("n")[0];
                       };
                       return covariance("ab", "a", "b") /
                              std::sqrt(covariance("aa", "a", "a") * covariance("bb", "b", "b"));
                     }};
  Metric histogram{.sums = {{"counts", ReduceSum(OneHot(features["a"], 5, DType::kInt64), {0})}},
                   .result = [](const MetricSums& s) { return HostTensor::FromVector<double>({5}, s.at("counts")); }};
  return EstimatorSpec::Eval(ReduceMean(features["value"]), {{"correlation", correlation}, {"histogram", histogram}});
}

TEST(Evaluate, AMetricOfOnesOwn) {
  constexpr int64_t kRows = 37;  // its last batches are short or empty
  double sum_a = 0, sum_b = 0, aa = 0, bb = 0, ab = 0;
  for (int64_t i = 0; i < kRows; ++i) {
    const double a = i % 5, b = i % 3;
    sum_a += a, sum_b += b, aa += a * a, bb += b * b, ab += a * b;
  }
  const double expected =
      (ab - sum_a * sum_b / kRows) / std::sqrt((aa - sum_a * sum_a / kRows) * (bb - sum_b * sum_b / kRows));
  for (int replicas : {1, 3}) {
    const std::string dir = ModelDir(std::to_string(replicas));
    Estimator estimator(OwnMetrics, Config(dir, replicas));
    auto result = estimator.Evaluate(NumbersInput(kRows, 4));
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_NEAR((*result)["correlation"], expected, 1e-12) << replicas;
    EXPECT_TRUE(result->arrays.at("histogram").BitEqual(HostTensor::FromVector<double>({5}, {8, 8, 7, 7, 7})));
    std::ifstream record(dir + "/eval/metrics.jsonl");
    std::string line;
    std::getline(record, line);
    EXPECT_THAT(line, HasSubstr("\"histogram\":[8.0,8.0,7.0,7.0,7.0]"));
  }
}

TEST(Evaluate, SumsThatAreNoneAreErrors) {
  const MetricResult zero = [](const MetricSums&) { return 0.0; };
  struct Case {
    std::function<Metric(const Features&)> metric;
    const char* text;
  };
  const Case cases[] = {
      {[=](const Features& f) {
         return Metric{.sums = {{"all", f["value"]}}, .result = zero};
       },
       "the sum \"all\" of metric \"own\" is "},
      {[=](const Features& f) {
         return Metric{.sums = {{"all", f["value"]}}, .result = zero};
       },
       "a sum must not have the batch; sum over it, for example with ReduceSum(x, {0})"},
      {[=](const Features& f) {
         Tensor flag = Greater(ReduceSum(f["value"]), ReduceSum(f["value"]));
         return Metric{.sums = {{"flag", flag}}, .result = zero};
       },
       "Cast it to DType::kFloat64"},
      {[=](const Features& f) {
         return Metric{.sums = {{"mean", BatchMoments(Reshape(f["value"], {kBatch, 1})).mean}}, .result = zero};
       },
       "take CrossReplicaSum of it"},
      {[=](const Features& f) {
         return Metric{.sums = {{"largest", Cast(ReduceMax(f["value"]), DType::kFloat64)}}, .result = zero};
       },
       "the max over the rows of a batch: the values of all batches are added up, and this sum depends on how large "
       "they are; give sums over rows, such as ReduceSum(x, {0}), and let Metric::result divide them"},
      {[=](const Features& f) {
         return Metric{.sums = {{"least", -Reshape(ReduceMin(f["value"], {0}), {1})}}, .result = zero};
       },
       "the min over the rows of a batch"},
      {[=](const Features& f) {
         Tensor pairs = Concat({Reshape(f["value"], {kBatch, 1}), Reshape(f["value"], {kBatch, 1})}, 1);
         return Metric{.sums = {{"mean", Cast(ReduceMean(pairs), DType::kFloat64)}}, .result = zero};
       },
       "the mean over the rows of a batch"},
      {[=](const Features& f) {
         return Metric{.sums = {{"mean", ReduceMean(Cast(f["value"], DType::kFloat64))}}, .result = zero};
       },
       "the mean over the rows of a batch"},
      {[=](const Features& f) {
         Tensor pairs = Concat({Reshape(f["value"], {kBatch, 1}), Reshape(f["value"], {kBatch, 1})}, 1);
         return Metric{.sums = {{"means", ReduceSum(ReduceMean(pairs, {0}))}}, .result = zero};
       },
       "the mean over the rows of a batch"},
      {[=](const Features& f) {
         return Metric{.sums = {{"all", Tensor()}}, .result = zero};
       },
       "is an empty Tensor"},
      {[=](const Features& f) {
         return Metric{.sums = {{"", ReduceSum(f["value"])}}, .result = zero};
       },
       "empty name"},
      {[=](const Features& f) { return Metric{.result = zero}; }, "has a result but no sums"},
      {[=](const Features& f) {
         return Metric{.sums = {{"all", ReduceSum(f["value"])}}};
       },
       "has sums but no result"},
      // Quotients: what is no sum over the rows of all replicas.
      {[](const Features& f) { return Metric{.total = ReduceMax(f["value"]), .count = f.graph()->Constant(1.0f)}; },
       "the max over the rows of a batch: the values of all batches are added up, and this sum depends on how large "
       "they are; give sums over rows, such as ReduceSum(x, {0}), and their number of rows as count"},
      {[](const Features& f) { return Metric{.total = ReduceSum(f["value"]), .count = ReduceMean(f["value"])}; },
       "the count of metric \"own\" is "},
      {[](const Features& f) {
         Tensor mean = Reshape(BatchMoments(Reshape(f["value"], {kBatch, 1})).mean, {});
         return Metric{.total = mean * f.graph()->StepScalar("replica_example_count", DType::kFloat32),
                       .count = f.graph()->StepScalar("example_count", DType::kFloat32)};
       },
       "which every replica computes from its own rows; take CrossReplicaSum of it"},
      {[](const Features& f) {
         return Metric{.total = ReduceSum(f["value"]),
                       .count = f.graph()->StepScalar("replica_example_count", DType::kFloat32)};
       },
       "the count of metric \"own\" is "},
      {[](const Features& f) {
         Tensor sum = ReduceSum(f["value"]);
         return Metric{.total = Greater(sum, sum), .count = sum};
       },
       "of type bool, which sums do not fit into; Cast it to DType::kFloat64"},
      {[](const Features& f) {
         return metrics::Mean(BatchMoments(Reshape(f["value"], {kBatch, 1})).mean);
       },
       "which every replica computes from its own rows"},
  };
  for (const Case& c : cases) {
    Estimator estimator(
        [&](const Features& features, const Tensor&, Mode, const Params&) {
          return EstimatorSpec::Eval(ReduceMean(features["value"]), {{"own", c.metric(features)}});
        },
        Config(ModelDir()));
    const absl::Status status = estimator.Evaluate(NumbersInput(8, 4)).status();
    EXPECT_EQ(ExitCodeFor(status), kExitCompileError) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(c.text));
    EXPECT_THAT(std::string(status.message()), HasSubstr("estimator_evaluate_test.cc:"));
  }
}

TEST(Evaluate, ClassesAndProbabilitiesThatAreNoneAreErrorsOfTheMetric) {
  Estimator estimator(
      [](const Features& features, const Tensor&, Mode, const Params&) {
        return EstimatorSpec::Eval(
            ReduceMean(features["value"]),
            {{"confusion", metrics::ConfusionMatrix(features["a"], features["b"], {.num_classes = 4})}});
      },
      Config(ModelDir("classes")));
  EXPECT_THAT(
      std::string(estimator.Evaluate(NumbersInput(10, 4)).status().message()),
      HasSubstr("metric \"confusion\": ConfusionMatrix: 2 examples have a label or prediction that is not one of "
                "the 4 classes 0 to 3"));
  Estimator curve(
      [](const Features& features, const Tensor&, Mode, const Params&) {
        return EstimatorSpec::Eval(ReduceMean(features["value"]),
                                   {{"auc", metrics::AUC(features["a"], features["value"])}});
      },
      Config(ModelDir("curve")));
  EXPECT_THAT(std::string(curve.Evaluate(NumbersInput(10, 4)).status().message()),
              HasSubstr("metric \"auc\": AUC: 8 predictions are not in [0, 1]; of logits take the Sigmoid"));
}

// A variable that training does not have: its first value is no trained one.
TEST(Evaluate, AVariableOfTheEvaluationAloneIsWarnedAbout) {
  auto model = [](const Features& features, const Tensor& labels, Mode mode, const Params&) {
    Tensor y = layers::Dense(features["x"], {.units = 1});
    if (mode == Mode::kEval) y = layers::Dense(y, {.units = 1, .name = "added"});
    Tensor loss = losses::MeanSquaredError(labels, y);
    if (mode == Mode::kEval) return EstimatorSpec::Eval(loss);
    return EstimatorSpec::Train(loss, optimizers::SGD({.learning_rate = 0.1}).Minimize(loss));
  };
  RunConfig config = Config(ModelDir());
  config.save_checkpoints_steps = 0;
  Estimator estimator(model, config);
  ASSERT_EQ(estimator.Train(LineInput(), {.steps = 1}), absl::OkStatus());
  LogCapture log;
  ASSERT_TRUE(estimator.Evaluate(LineInput(64, 8, 1)).ok());
  EXPECT_TRUE(log.Contains("added/kernel, added/bias"));
  EXPECT_TRUE(log.Contains("training does not have"));
}

// Each mode gets its variables from the checkpoint, whatever another one has loaded of it before.
TEST(Predict, HasVariablesOfTheCheckpointThatTheEvaluationBeforeDidNotHave) {
  auto model = [](const Features& features, const Tensor& labels, Mode mode, const Params&) {
    Tensor a = layers::Dense(features["x"], {.units = 1, .name = "a"});
    if (mode == Mode::kEval) return EstimatorSpec::Eval(losses::MeanSquaredError(labels, a));
    Tensor b = layers::Dense(features["x"], {.units = 1, .name = "b"});
    if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"y", b}});
    Tensor loss = losses::MeanSquaredError(labels, a) + losses::MeanSquaredError(labels, b);
    return EstimatorSpec::Train(loss, optimizers::SGD({.learning_rate = 0.1}).Minimize(loss));
  };
  RunConfig config = Config(ModelDir());
  config.save_checkpoints_steps = 10;
  Estimator trained(model, config);
  ASSERT_EQ(trained.Train(LineInput(), {.steps = 20}), absl::OkStatus());
  const auto predict = [](Estimator& estimator) {
    float first = 0;
    const absl::Status status = estimator.Predict(LineInput(8, 8, 1), [&](const NamedTensors& prediction) {
      first = prediction.at("y").data<float>()[0];
      return false;
    });
    EXPECT_EQ(status, absl::OkStatus());
    return first;
  };
  Estimator alone(model, config), behind(model, config);
  const float want = predict(alone);
  ASSERT_TRUE(behind.Evaluate(LineInput(64, 8, 1)).ok());
  EXPECT_EQ(predict(behind), want);
  // Nor are two checkpoints mixed: what an evaluation of an older one has left is not the newest one's.
  Estimator mixed(model, config);
  const std::string older = config.model_dir + "/model.ckpt-10";
  ASSERT_TRUE(mixed.Evaluate(LineInput(64, 8, 1), {.checkpoint_path = older}).ok());
  EXPECT_EQ(predict(mixed), want);
  const absl::StatusOr<EvalResult> evaluated = mixed.Evaluate(LineInput(64, 8, 1));
  ASSERT_TRUE(evaluated.ok()) << evaluated.status();
  EXPECT_EQ((*evaluated)["loss"], (*behind.Evaluate(LineInput(64, 8, 1)))["loss"]);
}

TEST(Evaluate, AnEmptyInputIsAnError) {
  Estimator estimator(NumbersModel, Config(ModelDir()));
  EXPECT_THAT(std::string(estimator.Evaluate(NumbersInput(0, 4)).status().message()), HasSubstr("no examples"));
}

TEST(Predict, YieldsOneRowForEachExampleInOrder) {
  for (int replicas : {1, 2}) {
    Estimator estimator(LineModel, Config(ModelDir(std::to_string(replicas)), replicas));
    ASSERT_EQ(estimator.Train(LineInput(), {.steps = 600}), absl::OkStatus());
    std::vector<float> y;
    auto collect = [&y](const NamedTensors& prediction) {
      EXPECT_EQ(prediction.at("y").shape(), Shape{1});
      y.push_back(prediction.at("y").data<float>()[0]);
      return true;
    };
    ASSERT_EQ(estimator.Predict(LineInput(20, 8, 1), collect), absl::OkStatus());
    ASSERT_EQ(y.size(), 20);
    for (int i = 0; i < 20; ++i) EXPECT_NEAR(y[i], 3.0 * (i % 7) / 7 - 2.0 * (i % 11) / 11 + 1, 0.1) << i;
    int64_t calls = 0;
    ASSERT_EQ(estimator.Predict(LineInput(20, 8, 1), [&](const NamedTensors&) { return ++calls < 3; }),
              absl::OkStatus());
    EXPECT_EQ(calls, 3);
  }
}

// Resident memory of this process in bytes.
int64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t total = 0, resident = 0;
  statm >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

TEST(Evaluate, AHundredAlternationsCompileOnceAndKeepTheMemory) {
  RunConfig config = Config(ModelDir());
  config.log_step_count_steps = 0;
  config.compile_cache = false;
  Estimator estimator(LineModel, config);
  LogCapture log;
  const int64_t compiled = CompileCount();
  int64_t after_warm_up = 0;
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(estimator.Train(LineInput(), {.steps = 2}), absl::OkStatus());
    auto result = estimator.Evaluate(LineInput(64, 8, 1));
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->global_step(), 2 * (i + 1));
    if (i == 20) after_warm_up = ResidentBytes();
  }
  EXPECT_EQ(CompileCount() - compiled, 2);
  EXPECT_EQ(estimator.programs_built(), 2);
#ifndef TANDEM_SANITIZE_ADDRESS  // which keeps freed memory
  EXPECT_LT(ResidentBytes(), after_warm_up * 1.01 + (1 << 20));
#else
  (void)after_warm_up;
#endif
}

}  // namespace
}  // namespace tandem

// Mistakes in evaluations are found before anything is trained.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "base/exit_code.h"
#include "base/logging.h"
#include "estimator/continuous_eval.h"
#include "estimator/early_stopping.h"
#include "estimator/evaluation/reduce_on_plateau.h"
#include "estimator/exporter.h"
#include "estimator/test_models.h"
#include "estimator/train_and_evaluate.h"

namespace tandem {
namespace {

using namespace test;  // NOLINT: this file's vocabulary
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A job of 30 steps, evaluated at the end.
struct Job {
  ModelFn model = LineModel;
  RunConfig config;
  TrainSpec train{.input_fn = LineInput(), .max_steps = 30};
  EvalSpec eval{.input_fn = LineInput(16, 8, 1)};
};

// LineModel whose mode eval has these metrics.
ModelFn Evaluating(std::function<MetricsByName(const Tensor& labels)> metrics) {
  return [metrics](const Features& features, const Tensor& labels, Mode mode, const Params& params) {
    EstimatorSpec spec = LineModel(features, labels, mode, params);
    if (mode == Mode::kEval) spec.metrics = metrics(labels);
    return spec;
  };
}

InputFn PointsOfWidth(int64_t width) {
  return [width](const InputContext&) -> absl::StatusOr<Dataset> {
    return Dataset::FromTensorSlices({{"x", HostTensor::Zeros(DType::kFloat32, {16, width})},
                                      {"label", HostTensor::Zeros(DType::kFloat32, {16, 1})}})
        .Batch(8);
  };
}

// What the job is refused with, before its first step.
std::string Refused(const std::string& name, const std::function<void(Job&)>& make_mistake) {
  LogCapture log;
  Job job;
  job.config = Config(ModelDir(name));
  job.config.save_checkpoints_steps = 10;
  make_mistake(job);
  Estimator estimator(job.model, job.config);
  const auto result = TrainAndEvaluate(estimator, job.train, job.eval);
  EXPECT_FALSE(result.ok()) << name;
  EXPECT_THAT(CheckpointNames(job.config.model_dir), IsEmpty()) << name;
  EXPECT_FALSE(estimator.last_train_result().has_value()) << name;
  return std::string(result.status().message());
}

TEST(EvaluationCheckTest, TheModel) {
  EXPECT_THAT(
      Refused("reserved",
              [](Job& job) {
                job.model = Evaluating([](const Tensor& y) { return MetricsByName{{"loss", metrics::Mean(y)}}; });
              }),
      HasSubstr("model_fn, mode eval, EstimatorSpec at ./estimator/test_models.h:"));
  EXPECT_THAT(Refused("own metric",
                      [](Job& job) {
                        job.model = Evaluating([](const Tensor& y) {
                          return MetricsByName{{"mean", Metric{.total = y, .count = ReduceSum(y)}}};
                        });
                      }),
              HasSubstr("the total of metric \"mean\" must be a scalar"));
  EXPECT_THAT(Refused("spec of mode train",
                      [](Job& job) {
                        job.model = [](const Features& f, const Tensor& labels, Mode, const Params& params) {
                          return LineModel(f, labels, Mode::kTrain, params);
                        };
                      }),
              HasSubstr("it is a spec for mode train; return EstimatorSpec::Eval(loss, metrics) in this mode"));
}

TEST(EvaluationCheckTest, TheInput) {
  const std::string width = Refused("width", [](Job& job) { job.eval.input_fn = PointsOfWidth(3); });
  EXPECT_THAT(width, HasSubstr("model_fn, mode eval: variable \"dense/kernel\" at ./estimator/test_models.h:"));
  EXPECT_THAT(width, HasSubstr("is float32[3,1], and float32[2,1] in mode train: component \"x\" of the input is "
                               "float32[b,3] here and float32[b,2] there; give every input_fn examples of the same "
                               "shape"));
  EXPECT_THAT(
      Refused("component",
              [](Job& job) {
                job.eval.input_fn = [](const InputContext&) -> absl::StatusOr<Dataset> {
                  return Dataset::FromTensorSlices({{"xs", HostTensor::Zeros(DType::kFloat32, {8, 2})}}).Batch(8);
                };
              }),
      HasSubstr("the input has no feature \"x\"; it has xs"));
  EXPECT_THAT(Refused("no end", [](Job& job) { job.eval.input_fn = LineInput(); }),
              HasSubstr("input_fn, mode eval: the dataset never ends"));
  EXPECT_THAT(Refused("hook", [](Job& job) { job.eval.hooks = {nullptr}; }), HasSubstr("hook 0 of 1 is null"));
}

TEST(EvaluationCheckTest, WhatGoesByMetrics) {
  const std::string near = "the evaluation has no metric \"mean_yy\"; did you mean \"mean_y\"? It has loss, mean_y";
  const auto kMax = MetricDirection::kMax;
  EXPECT_EQ(
      Refused("keep_best", [&](Job& job) { job.config.keep_best = KeepBest{.metric = "mean_yy", .direction = kMax}; }),
      "RunConfig.keep_best: " + near);
  EXPECT_EQ(Refused("exporter",
                    [&](Job& job) {
                      const std::vector<ComponentSpec> features = {{"x", DType::kFloat32, {kBatch, 2}}};
                      job.eval.exporters = {
                          BestExporter("best", {.features = features}, {.metric = "mean_yy", .direction = kMax})};
                    }),
            "BestExporter \"best\": " + near);
  EXPECT_EQ(
      Refused("plateau",
              [&](Job& job) { job.train.reduce_on_plateau = ReduceOnPlateau{.metric = "mean_yy", .direction = kMax}; }),
      "ReduceOnPlateau: " + near);
}

// A hook knows only of the evaluations that the job makes.
TEST(EvaluationCheckTest, EarlyStopping) {
  LogCapture log;
  RunConfig config = Config(ModelDir());
  Estimator estimator(LineModel, config);
  const EvalSpec eval{.input_fn = LineInput(16, 8, 1)};
  const auto run = [&](EarlyStoppingOptions options) {
    const auto hook = StopIfNoIncrease(estimator, "mean_yy", 100, std::move(options));
    return TrainAndEvaluate(estimator, {.input_fn = LineInput(), .max_steps = 30, .hooks = {hook}}, eval).status();
  };
  EXPECT_EQ(std::string(run({}).message()),
            "StopIfNoIncrease::Begin: the evaluation has no metric \"mean_yy\"; did you mean \"mean_y\"? It has loss, "
            "mean_y");
  EXPECT_THAT(CheckpointNames(config.model_dir), IsEmpty());
  EXPECT_EQ(run({.evaluation = "by_hand"}), absl::OkStatus());
}

// It need not wait for a checkpoint.
TEST(EvaluationCheckTest, AnEvaluatorOfItsOwn) {
  LogCapture log;
  RunConfig config = Config(ModelDir());
  config.keep_best = KeepBest{.metric = "mean_x", .direction = MetricDirection::kMax};
  Estimator estimator(LineModel, config);
  const auto result =
      ContinuousEval(estimator, {.input_fn = LineInput(16, 8, 1), .start_delay_secs = 0}, {.timeout_secs = 0.1});
  EXPECT_EQ(ExitCodeFor(result.status()), kExitUsage);
  EXPECT_THAT(std::string(result.status().message()), HasSubstr("did you mean \"mean_y\"?"));
}

// Mode eval is built once, for the check and all evaluations, and not at all where nothing is evaluated.
TEST(EvaluationCheckTest, ModelFnIsCalledOnceForModeEval) {
  LogCapture log;
  int calls = 0;
  const ModelFn counting = [&](const Features& features, const Tensor& labels, Mode mode, const Params& params) {
    calls += mode == Mode::kEval;
    return LineModel(features, labels, mode, params);
  };
  RunConfig config = Config(ModelDir());
  config.save_checkpoints_steps = 10;
  Estimator estimator(counting, config);
  ASSERT_EQ(estimator.Train(LineInput(), {.max_steps = 5}), absl::OkStatus());
  EXPECT_EQ(calls, 0);
  const EvalSpec eval{.input_fn = LineInput(16, 8, 1), .throttle_secs = 0};
  ASSERT_TRUE(TrainAndEvaluate(estimator, {.input_fn = LineInput(), .max_steps = 30}, eval).ok());
  EXPECT_GT(estimator.evaluations(), 1);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace tandem

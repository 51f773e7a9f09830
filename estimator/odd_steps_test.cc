// Steps without examples, and steps whose numbers leave the range of floats.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "base/logging.h"
#include "estimator/test_models.h"
#include "frontends/summary.h"

namespace tandem {
namespace {

using namespace test;  // NOLINT: this file's vocabulary
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// 64 points in batches of 8, of which those in [begin, end) are filtered away behind Batch.
InputFn Filtered(int64_t begin, int64_t end, int64_t epochs = 2) {
  return [=](const InputContext& context) -> absl::StatusOr<Dataset> {
    std::vector<float> x, y, keep;
    for (int64_t i = 0; i < 64; ++i) {
      const float a = static_cast<float>(i % 7) / 7, b = static_cast<float>(i % 11) / 11;
      x.insert(x.end(), {a, b});
      y.push_back(3 * a - 2 * b + 1);
      keep.push_back(i < begin || i >= end);
    }
    Dataset batches = Dataset::FromTensorSlices({{"x", HostTensor::FromVector({64, 2}, x)},
                                                 {"label", HostTensor::FromVector({64, 1}, y)},
                                                 {"keep", HostTensor::FromVector({64}, keep)}})
                          .Repeat(epochs)
                          .Batch(8);
    return batches.Map(
        [](const Element& batch) -> absl::StatusOr<Element> {
          std::vector<float> kept_x, kept_y;
          for (int64_t row = 0; row < batch.components[0].shape()[0]; ++row) {
            if (batch.components[2].data<float>()[row] == 0) continue;
            const float* point = batch.components[0].data<float>() + 2 * row;
            kept_x.insert(kept_x.end(), {point[0], point[1]});
            kept_y.push_back(batch.components[1].data<float>()[row]);
          }
          const int64_t rows = static_cast<int64_t>(kept_y.size());
          return Element{{HostTensor::FromVector({rows, 2}, kept_x), HostTensor::FromVector({rows, 1}, kept_y)}};
        },
        {.spec = {{"x", DType::kFloat32, {kBatch, 2}}, {"label", DType::kFloat32, {kBatch, 1}}}});
  };
}

// The same points without those in [begin, end): they are never there.
InputFn Without(int64_t begin, int64_t end, int64_t epochs = 2) {
  return [=](const InputContext& context) -> absl::StatusOr<Dataset> {
    std::vector<float> x, y;
    for (int64_t i = 0; i < 64; ++i) {
      if (i >= begin && i < end) continue;
      const float a = static_cast<float>(i % 7) / 7, b = static_cast<float>(i % 11) / 11;
      x.insert(x.end(), {a, b});
      y.push_back(3 * a - 2 * b + 1);
    }
    const int64_t n = static_cast<int64_t>(y.size());
    return Dataset::FromTensorSlices(
               {{"x", HostTensor::FromVector({n, 2}, x)}, {"label", HostTensor::FromVector({n, 1}, y)}})
        .Repeat(epochs)
        .Batch(8);
  };
}

TEST(OddSteps, ARoundWithoutExamplesIsNoStep) {
  for (int replicas : {1, 2}) {
    LogCapture log;
    Estimator filtered(LineModel, Config(ModelDir("filtered"), replicas));
    Estimator without(LineModel, Config(ModelDir("without"), replicas));
    auto steps = std::make_shared<StepHook>([](RunContext&, const RunValues& values) {
      EXPECT_GT(values.examples, 0);
      EXPECT_TRUE(values.finite);
    });
    ASSERT_EQ(filtered.Train(Filtered(16, 48), {.hooks = {steps}}), absl::OkStatus());
    ASSERT_EQ(without.Train(Without(16, 48)), absl::OkStatus());
    EXPECT_EQ(filtered.last_train_result()->global_step, 8 / replicas);
    EXPECT_EQ(steps->calls, 8 / replicas);
    EXPECT_TRUE(log.Contains("has no examples on any replica"));
    for (const char* name : {"dense/kernel", "dense/kernel/Adam"}) {
      auto a = filtered.GetVariableValue(name), b = without.GetVariableValue(name);
      ASSERT_TRUE(a.ok() && b.ok()) << a.status() << b.status();
      EXPECT_TRUE(a->BitEqual(*b)) << name;
    }
    auto evaluated = filtered.Evaluate(Filtered(16, 48, 1)), expected = filtered.Evaluate(Without(16, 48, 1));
    ASSERT_TRUE(evaluated.ok() && expected.ok()) << evaluated.status() << expected.status();
    EXPECT_EQ((*evaluated)["loss"], (*expected)["loss"]);
  }
}

TEST(OddSteps, AnInputWithoutAnyExampleEnds) {
  Estimator estimator(LineModel, Config(ModelDir()));
  ASSERT_EQ(estimator.Train(Filtered(0, 64)), absl::OkStatus());
  EXPECT_EQ(estimator.last_train_result()->global_step, 0);
  const absl::Status endless = estimator.Train(Filtered(0, 64, -1));
  EXPECT_EQ(ExitCodeFor(endless), kExitUsage);
  EXPECT_THAT(std::string(endless.message()), HasSubstr("without any example"));
}

// Loss and gradients are finite, what the optimizer makes of them is not.
EstimatorSpec Overflowing(const Features& features, const Tensor& labels, Mode mode, const Params& params) {
  Tensor loss = losses::MeanSquaredError(labels, layers::Dense(features["x"], {.units = 1}));
  if (mode == Mode::kEval) return EstimatorSpec::Eval(loss);
  return EstimatorSpec::Train(
      loss, optimizers::GradientDescent({.learning_rate = params.Number("learning_rate", 0.1)}).Minimize(loss));
}

TEST(OddSteps, AnUpdateThatOverflowsIsNotSaved) {
  for (int64_t every : {1, 10}) {
    const std::string dir = ModelDir(std::to_string(every));
    RunConfig config = Config(dir);
    config.save_checkpoints_steps = every;
    {
      Estimator good(Overflowing, config);
      ASSERT_EQ(good.Train(LineInput(), {.steps = 2}), absl::OkStatus());
    }
    Estimator bad(Overflowing, config, {{"learning_rate", 3e38}});
    const absl::Status status = bad.Train(LineInput(), {.steps = 1});
    EXPECT_EQ(ExitCodeFor(status), kExitInternal) << status;
    const std::string message(status.message());
    EXPECT_THAT(message, HasSubstr("the checkpoint of step 3 is not saved: dense/"));
    EXPECT_THAT(message, HasSubstr("inf"));
    EXPECT_THAT(message, HasSubstr("lower the learning rate"));
    EXPECT_EQ(CheckpointNames(dir).back(), "model.ckpt-2");
    // What is saved goes on.
    Estimator again(Overflowing, config);
    ASSERT_EQ(again.Train(LineInput(), {.steps = 1}), absl::OkStatus());
    EXPECT_EQ(again.last_train_result()->global_step, 3);
  }
}

// Inf is told from NaN, and a gradient from the loss; hooks see no tensor without a value.
TEST(OddSteps, WhatIsNotFiniteIsNamed) {
  struct Case {
    std::vector<float> x;  // of the second step
    const char* message;
  };
  for (const Case& c : {Case{{1, 0}, "loss = 0 and an update that is not finite"}, Case{{1, INFINITY}, "loss = Inf"},
                        Case{{1, -1}, "loss = NaN"}}) {
    auto model = [](const Features& features, const Tensor&, Mode, const Params&) {
      VariableSpec spec;
      spec.name = "w";
      spec.initializer = {Initializer::Kind::kConstant, 1, 0};
      // At x = 0 the loss is 0 and its derivative infinite.
      Tensor loss = ReduceSum(Sqrt(Mul(features["x"], features.graph()->Variable(spec))));
      return EstimatorSpec::Train(loss, optimizers::SGD({.learning_rate = 0.1}).Minimize(loss));
    };
    auto input = [&c](const InputContext&) -> absl::StatusOr<Dataset> {
      return Dataset::FromTensorSlices({{"x", HostTensor::FromVector<float>({2}, c.x)}}).Batch(1);
    };
    auto hook = std::make_shared<StepHook>([](RunContext&, const RunValues& values) {
      for (const auto& [name, tensor] : values.tensors) EXPECT_FALSE(tensor.empty()) << name;
      EXPECT_TRUE(values.Has("loss"));
    });
    Estimator estimator(model, Config(ModelDir()));
    const absl::Status status = estimator.Train(input, {.hooks = {hook}});
    EXPECT_EQ(ExitCodeFor(status), kExitInternal);
    EXPECT_THAT(std::string(status.message()), HasSubstr(c.message));
    EXPECT_EQ(hook->calls, 2);
  }
}

// A summary that is infinite in each step, and a metric that is NaN in some.
EstimatorSpec Watching(const Features& features, const Tensor& labels, Mode mode, const Params& params) {
  EstimatorSpec spec = LineModel(features, labels, mode, params);
  const Tensor negative = Neg(Square(features["x"]));
  summary::Scalar("log", ReduceMean(Log(Relu(negative))));
  spec.metrics["ratio"] = metrics::Mean(ReduceMean(Sqrt(negative - 1.0f), {1}));
  return spec;
}

TEST(OddSteps, WhatIsOnlyWatchedEndsNoTraining) {
  for (int replicas : {1, 2}) {
    LogCapture log;
    const std::string watched = ModelDir("watched"), plain = ModelDir("plain");
    RunConfig config = Config(watched, replicas);
    config.log_step_count_steps = config.save_summary_steps = 2;
    Estimator estimator(Watching, config);
    const auto hook = std::make_shared<StepHook>(
        [](RunContext&, const RunValues& values) {
          EXPECT_EQ(values.Number("summary:scalar:0:log/Reshape"), -INFINITY);
        },
        std::vector<std::string>{"summary:scalar:0:log/Reshape"});
    ASSERT_EQ(estimator.Train(LineInput(), {.max_steps = 6, .hooks = {hook}}), absl::OkStatus());
    EXPECT_EQ(estimator.last_train_result()->global_step, 6);
    EXPECT_EQ(hook->calls, 6);
    Estimator without(LineModel, Config(plain, replicas));
    ASSERT_EQ(without.Train(LineInput(), {.max_steps = 6}), absl::OkStatus());
    EXPECT_TRUE(estimator.GetVariableValue("dense/kernel")->BitEqual(*without.GetVariableValue("dense/kernel")));
    const std::string warnings = log.Text(LogSeverity::kWarning);
    for (const char* told : {"The summary \"log\" at estimator/odd_steps_test.cc:",
                             "The total of the metric \"ratio\" at estimator/odd_steps_test.cc:"}) {
      EXPECT_THAT(warnings, HasSubstr(told));
      EXPECT_EQ(warnings.find(told), warnings.rfind(told)) << "once";
    }
    EXPECT_THAT(warnings, HasSubstr("is -infinite in step 0. It is only watched: it is recorded as it is, and"));
    EXPECT_TRUE(log.Contains("ratio = nan") || log.Contains("ratio = -nan")) << "as it is";
  }
}

// It does not take the blame for a loss that is no number.
TEST(OddSteps, WhatIsOnlyWatchedIsNotTheOrigin) {
  int line = 0;
  const ModelFn model = [&line](const Features& features, const Tensor& labels, Mode, const Params& params) {
    summary::Scalar("log", ReduceMean(Log(Relu(Neg(Square(features["x"]))))));
    Tensor y = layers::Dense(features["x"], {.units = 1});
    line = __LINE__ + 1;
    Tensor loss = ReduceMean(Sqrt(Neg(Square(y)) - 1.0f));
    return EstimatorSpec::Train(loss, optimizers::SGD({.learning_rate = 0.1}).Minimize(loss));
  };
  LogCapture log;
  Estimator estimator(model, Config(ModelDir()));
  const std::string message(estimator.Train(LineInput(), {.max_steps = 2}).message());
  EXPECT_THAT(message, HasSubstr("NaN loss during training"));
  EXPECT_THAT(message, HasSubstr(absl::StrCat("odd_steps_test.cc:", line)));
}

TEST(OddSteps, ASpecWithoutATrainOpIsAnError) {
  Estimator estimator(
      [](const Features& features, const Tensor& labels, Mode, const Params&) {
        Tensor loss = losses::MeanSquaredError(labels, layers::Dense(features["x"], {.units = 1}));
        return EstimatorSpec::Train(loss, TrainOp{});
      },
      Config(ModelDir()));
  const absl::Status status = estimator.Train(LineInput(), {.steps = 1});
  EXPECT_EQ(ExitCodeFor(status), kExitCompileError);
  EXPECT_THAT(std::string(status.message()), HasSubstr("missing train op"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("odd_steps_test.cc:"));
}

TEST(OddSteps, AStrategyForOneProcessInAClusterIsAnError) {
  setenv("TF_CONFIG", R"({"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 1}})", 1);
  for (const DistributionStrategy& strategy : {MirroredStrategy({"cpu:0"}), OneDeviceStrategy("cpu:0")}) {
    RunConfig config = Config(ModelDir());
    config.train_distribute = strategy;
    const absl::Status status = Estimator(LineModel, config).Train(LineInput(), {.steps = 1});
    EXPECT_EQ(ExitCodeFor(status), kExitUsage);
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("worker 1, rank 1 of 2, rank 0 at a:1, by TF_CONFIG: " + strategy.name +
                          " is for one process; use MultiWorkerMirroredStrategy"));
  }
  unsetenv("TF_CONFIG");
  SetLogTag("");
}

TEST(OddSteps, NcclBetweenCpusIsAnError) {
  setenv("TF_CONFIG", R"({"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 1}})", 1);
  RunConfig config = Config(ModelDir());
  config.train_distribute = MultiWorkerMirroredStrategy({"cpu:0", "cpu:1"});
  config.communication = Communication::kNccl;
  const absl::Status status = Estimator(LineModel, config).Train(LineInput(), {.steps = 1});
  EXPECT_EQ(ExitCodeFor(status), kExitUsage);
  EXPECT_EQ(status.message(),
            "cluster: worker 1, rank 1 of 2, rank 0 at a:1, by TF_CONFIG: communication nccl is for GPUs, and "
            "the devices are cpu:0,cpu:1; use auto");
  unsetenv("TF_CONFIG");
  SetLogTag("");
}

TEST(OddSteps, AClusterThatCannotBeIsAnError) {
  setenv("TF_CONFIG", R"({"cluster": {"worker": ["a:1", "b:1"]}})", 1);
  Estimator estimator(LineModel, Config(ModelDir()));
  const absl::Status status = estimator.Train(LineInput(), {.steps = 1});
  unsetenv("TF_CONFIG");
  EXPECT_EQ(ExitCodeFor(status), kExitUsage);
  EXPECT_THAT(std::string(status.message()), HasSubstr("TF_CONFIG: task is missing"));
}

// The step behind it finds a loss that is no number: the cause is named, not the consequence.
TEST(OddSteps, AnOverflowIsReportedBeforeItsConsequence) {
  RunConfig config = Config(ModelDir());
  config.save_checkpoints_steps = 1;
  Estimator estimator(Overflowing, config, {{"learning_rate", 3e38}});
  const absl::Status status = estimator.Train(LineInput(), {.steps = 10});
  EXPECT_THAT(std::string(status.message()), HasSubstr("the checkpoint of step 1 is not saved"));
  EXPECT_THAT(CheckpointNames(config.model_dir), ElementsAre("model.ckpt-0"));
}

}  // namespace
}  // namespace tandem

// Workers with an input of their own each (AutoShard::kOff), as real processes, against the formulas of a linear model
// and against runs without an interruption.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <iostream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "estimator/test_models.h"
#include "estimator/test_workers.h"
#include "estimator/train_and_evaluate.h"

namespace tandem {
namespace {

using namespace test;  // NOLINT: this file's vocabulary

constexpr int64_t kBatch = 4;
constexpr double kRate = 0.1;

// Runs `work` as two workers with an input of their own each. Whether it ended well in both.
bool AsWorkersWithInputs(const std::string& dir, int devices,
                         const std::function<absl::Status(const RunConfig&)>& work) {
  return AsWorkers(2, [&](int, RunConfig config) {
    SetMinLogSeverity(LogSeverity::kWarning);
    config.model_dir = dir;
    config.auto_shard = AutoShard::kOff;
    config.train_distribute->devices.resize(devices);
    config.save_checkpoints_steps = 2;
    const absl::Status status = work(config);
    if (!status.ok()) std::cerr << status << "\n";
    return status.ok();
  });
}

// y = w x + b by gradient descent on the mean squared error.
EstimatorSpec Model(const Features& features, const Tensor& labels, Mode mode, const Params&) {
  Tensor y = layers::Dense(features["x"], {.units = 1});
  Tensor loss = losses::MeanSquaredError(labels, y);
  if (mode == Mode::kEval) return EstimatorSpec::Eval(loss, {{"mean_label", metrics::Mean(labels)}});
  return EstimatorSpec::Train(loss, optimizers::SGD({.learning_rate = kRate}).Minimize(loss));
}

// Every third point of `n` belongs to worker 0, and the others to worker 1: inputs of very different lengths.
std::vector<int64_t> PointsOf(int64_t n, int worker) {
  std::vector<int64_t> points;
  for (int64_t i = 0; i < n; ++i) {
    if ((i % 3 == 0) == (worker == 0)) points.push_back(i);
  }
  return points;
}
float X(int64_t i) { return static_cast<float>(i % 13) / 13; }
float Y(int64_t i) { return 2 * X(i) - 0.5f + static_cast<float>(i % 3); }

InputFn UnevenInput(int64_t n, int64_t epochs = 1, int64_t shuffle = 0) {
  return [=](const InputContext& context) -> absl::StatusOr<Dataset> {
    EXPECT_EQ(context.num_input_pipelines, 2);
    std::vector<float> x, y;
    for (int64_t i : PointsOf(n, context.input_pipeline_id)) {
      x.push_back(X(i));
      y.push_back(Y(i));
    }
    const auto rows = static_cast<int64_t>(x.size());
    Dataset points = Dataset::FromTensorSlices(
        {{"x", HostTensor::FromVector({rows, 1}, x)}, {"label", HostTensor::FromVector({rows, 1}, y)}});
    if (shuffle > 0) points = points.Shuffle(shuffle, {.seed = 7});
    return points.Repeat(epochs).Batch(kBatch).Prefetch(2);
  };
}

// The points of both, as one input.
InputFn UnevenInputOfOne(int64_t n) {
  return [=](const InputContext& context) -> absl::StatusOr<Dataset> {
    EXPECT_EQ(context.num_input_pipelines, 1);
    std::vector<float> x, y;
    for (int64_t i = 0; i < n; ++i) {
      x.push_back(X(i));
      y.push_back(Y(i));
    }
    return Dataset::FromTensorSlices(
               {{"x", HostTensor::FromVector({n, 1}, x)}, {"label", HostTensor::FromVector({n, 1}, y)}})
        .Batch(kBatch);
  };
}

// Weights after one pass in which every step takes the next batch of each worker that has one; the number of steps.
struct Expected {
  double w = 0, b = 0;
  int steps = 0;
};
Expected TrainByHand(int64_t n, int devices) {
  Expected e;
  const std::vector<int64_t> points[] = {PointsOf(n, 0), PointsOf(n, 1)};
  const size_t round = kBatch * devices;
  for (size_t at = 0; at < points[0].size() || at < points[1].size(); at += round, ++e.steps) {
    double dw = 0, db = 0, count = 0;
    for (const auto& mine : points) {
      for (size_t i = at; i < std::min(at + round, mine.size()); ++i, ++count) {
        const double error = e.w * X(mine[i]) + e.b - Y(mine[i]);
        dw += 2 * error * X(mine[i]);
        db += 2 * error;
      }
    }
    e.w -= kRate * dw / count;
    e.b -= kRate * db / count;
  }
  return e;
}

ModelFn FromZero() {
  return [](const Features& features, const Tensor& labels, Mode mode, const Params&) {
    Tensor y = layers::Dense(features["x"], {.units = 1, .kernel_initializer = initializers::Zeros()});
    Tensor loss = losses::MeanSquaredError(labels, y);
    if (mode == Mode::kEval) return EstimatorSpec::Eval(loss);
    return EstimatorSpec::Train(loss, optimizers::SGD({.learning_rate = kRate}).Minimize(loss));
  };
}

TEST(WorkersInput, AWorkerWithoutExamplesWaitsForTheOthers) {
  for (int devices : {1, 2}) {
    const std::string dir = ModelDir(absl::StrCat(devices));
    const Expected expected = TrainByHand(61, devices);
    EXPECT_TRUE(AsWorkersWithInputs(
        dir, devices, [](const RunConfig& config) { return Estimator(FromZero(), config).Train(UnevenInput(61)); }));
    Estimator reader(FromZero(), Config(dir));
    const auto kernel = reader.GetVariableValue("dense/kernel"), bias = reader.GetVariableValue("dense/bias");
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    EXPECT_NEAR(kernel->data<float>()[0], expected.w, 1e-5);
    EXPECT_NEAR(bias->data<float>()[0], expected.b, 1e-5);
    EXPECT_EQ(BaseName(**reader.LatestCheckpoint()), absl::StrCat("model.ckpt-", expected.steps));
  }
}

TEST(WorkersInput, AnEvaluationCountsEveryExampleOfAllWorkers) {
  const int64_t n = 47;
  double mean = 0;
  for (int64_t i = 0; i < n; ++i) mean += Y(i) / static_cast<double>(n);
  EXPECT_TRUE(AsWorkersWithInputs(ModelDir("evaluated"), 1, [&](const RunConfig& config) -> absl::Status {
    Estimator estimator(Model, config);
    const auto result = TrainAndEvaluate(estimator, {.input_fn = UnevenInput(n, -1), .max_steps = 5},
                                         {.input_fn = UnevenInput(n), .throttle_secs = 0});
    if (!result.ok()) return result.status();
    const double found = result->metrics.at("mean_label");
    return std::abs(found - mean) < 1e-6 ? absl::OkStatus()
                                         : absl::InternalError(absl::StrCat("mean ", found, " instead of ", mean));
  }));
}

// The name of the newest checkpoint, and the bytes of its variables.
std::string Weights(const std::string& dir) {
  const auto latest = CheckpointManager(Env::Default(), dir).LatestCheckpoint();
  EXPECT_TRUE(latest.ok() && latest->has_value()) << latest.status();
  const auto bytes = Env::Default()->ReadFile(**latest + "/variables.safetensors");
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  return BaseName(**latest) + *bytes;
}

TEST(WorkersInput, ARunThatWasStoppedGoesOnAtTheOwnPositionOfEachWorker) {
  const auto run = [](const std::string& dir, int64_t stop) {
    return AsWorkersWithInputs(dir, 2, [stop](const RunConfig& config) {
      HookList hooks;
      if (stop > 0 && config.cluster->rank == 0) {  // of the chief alone: all stop
        hooks.push_back(std::make_shared<StepHook>([stop](RunContext& context, const RunValues&) {
          if (context.global_step() == stop) context.RequestStop();
        }));
      }
      return Estimator(Model, config).Train(UnevenInput(61, /*epochs=*/3, /*shuffle=*/20), {.hooks = hooks});
    });
  };
  const std::string whole = ModelDir("whole"), parts = ModelDir("parts");
  ASSERT_TRUE(run(whole, 0));
  for (int64_t stop : {3, 7, 12, 0}) ASSERT_TRUE(run(parts, stop)) << stop;  // worker 0 has ended before the last
  EXPECT_EQ(Weights(whole), Weights(parts));
}

TEST(WorkersInput, AfterTheEndOfAllInputsTheyBeginAgain) {
  const auto run = [](const std::string& dir, int trainings) {
    return AsWorkersWithInputs(dir, 1, [trainings](const RunConfig& config) {
      Estimator estimator(Model, config);
      absl::Status status;
      for (int i = 0; i < trainings && status.ok(); ++i) status = estimator.Train(UnevenInput(25));
      return status;
    });
  };
  const std::string at_once = ModelDir("at_once"), in_processes = ModelDir("in_processes");
  ASSERT_TRUE(run(at_once, 2));
  ASSERT_TRUE(run(in_processes, 1));
  ASSERT_TRUE(run(in_processes, 1));
  EXPECT_EQ(Weights(at_once), Weights(in_processes));
}

// All workers, with one input or their own, take the end of an interrupted job for its end.
TEST(WorkersInput, AJobThatFailedInItsLastEvaluationKeepsTheEnd) {
  for (const AutoShard sharing : {AutoShard::kOff, AutoShard::kBatch}) {
    const std::string dir = ModelDir(std::string(Name(sharing)));
    const int64_t last = sharing == AutoShard::kOff ? 8 : 4;
    const auto run = [&](bool fails, int64_t steps) {
      return AsWorkersWithInputs(dir, 1, [=](RunConfig config) -> absl::Status {
        config.auto_shard = sharing;
        Estimator estimator(LineModel, config);
        const auto fail = std::make_shared<StepHook>([=](RunContext& context, const RunValues&) {
          if (fails && context.global_step() == last) context.Fail(absl::InternalError("a failure"));
        });
        const absl::Status status =
            TrainAndEvaluate(estimator, {.input_fn = LineInput(64, 8, 1)},
                             {.input_fn = LineInput(64, 8, 1), .hooks = {fail}, .throttle_secs = 0})
                .status();
        if (fails) return status.ok() ? absl::InternalError("it did not fail") : absl::OkStatus();
        TD_RETURN_IF_ERROR(status);
        const int64_t made = estimator.last_train_result()->steps;
        return made == steps ? absl::OkStatus() : absl::InternalError(absl::StrCat(made, " steps"));
      });
    };
    EXPECT_TRUE(run(/*fails=*/true, 0));
    EXPECT_EQ(CheckpointNames(dir).back(), absl::StrCat("model.ckpt-", last));
    EXPECT_TRUE(run(/*fails=*/false, 0));
    EXPECT_TRUE(run(/*fails=*/false, last));  // a job that is done is another pass
  }
}

TEST(WorkersInput, OneProcessStartsTheInputAgain) {
  const std::string dir = ModelDir("alone");
  ASSERT_TRUE(AsWorkersWithInputs(dir, 1, [](const RunConfig& config) {
    return Estimator(Model, config).Train(UnevenInput(61, -1), {.max_steps = 4});
  }));
  LogCapture log;
  Estimator alone(Model, Config(dir));
  const InputFn input = [](const InputContext& context) -> absl::StatusOr<Dataset> {
    EXPECT_EQ(context.num_input_pipelines, 1);
    return UnevenInput(61, -1)(InputContext{.num_input_pipelines = 2});
  };
  ASSERT_EQ(alone.Train(input, {.max_steps = 6}), absl::OkStatus());
  EXPECT_TRUE(log.Contains(
      "The input starts from its beginning: the checkpoint has the positions of workers with an input of their own "
      "each (auto_shard: off or file)"));
}

// Seven CSV files of x and label, of different lengths.
std::vector<std::string> TableFiles() {
  const std::string dir = ModelDir("tables");
  std::vector<std::string> files;
  for (int f = 0; f < 7; ++f) {
    std::string text = "x,label\n";
    for (int64_t i = 0; i < 5 + 3 * f; ++i) absl::StrAppend(&text, X(i + 20 * f), ",", Y(i + 20 * f), "\n");
    files.push_back(JoinPath(dir, absl::StrCat("part-", f, ".csv")));
    EXPECT_TRUE(Env::Default()->WriteFile(files.back(), {text}).ok());
  }
  return files;
}

Dataset Table(const std::vector<std::string>& files, int64_t epochs) {
  return Dataset::Csv(files, {{"x", DType::kFloat32}, {"label", DType::kFloat32}})
      .Shuffle(9, {.seed = 3})
      .Repeat(epochs)
      .Batch(kBatch)
      .Map(
          [](const Element& in) -> absl::StatusOr<Element> {
            const int64_t rows = in.components[0].shape()[0];
            return Element{{in.components[0].Reshaped({rows, 1}), in.components[1].Reshaped({rows, 1})}};
          },
          {.spec = {{"x", DType::kFloat32, {-1, 1}}, {"label", DType::kFloat32, {-1, 1}}}})
      .Prefetch(2);
}

// Files that are dealt out are those that an input_fn could have chosen itself; runs may be stopped in between.
TEST(WorkersInput, FilesAreDealtOut) {
  const std::vector<std::string> files = TableFiles();
  const InputFn dealt = [&](const InputContext& context) -> absl::StatusOr<Dataset> {
    EXPECT_EQ(context.num_input_pipelines, 1);
    return Table(files, 3);
  };
  const InputFn chosen = [&](const InputContext& context) -> absl::StatusOr<Dataset> {
    EXPECT_EQ(context.num_input_pipelines, 2);
    std::vector<std::string> mine;
    for (size_t f = context.input_pipeline_id; f < files.size(); f += 2) mine.push_back(files[f]);
    return Table(mine, 3);
  };
  const auto run = [](const std::string& dir, AutoShard auto_shard, const InputFn& input, std::vector<int64_t> stops) {
    for (int64_t stop : stops) {
      EXPECT_TRUE(AsWorkersWithInputs(dir, 2, [&](RunConfig config) -> absl::Status {
        config.auto_shard = auto_shard;
        TrainOptions options;
        if (stop > 0) options.max_steps = stop;
        Estimator estimator(Model, config);
        TD_RETURN_IF_ERROR(estimator.Train(input, options));
        // All examples, each once, whoever reads them.
        if (auto_shard == AutoShard::kOff || stop > 0) return absl::OkStatus();
        TD_ASSIGN_OR_RETURN(const EvalResult result, estimator.Evaluate(UnevenInputOfOne(47)));
        double mean = 0;
        for (int64_t i = 0; i < 47; ++i) mean += Y(i) / 47;
        const double found = result.metrics.at("mean_label");
        if (std::abs(found - mean) < 1e-6) return absl::OkStatus();
        return absl::InternalError(absl::StrCat("mean ", found, " instead of ", mean));
      }));
    }
  };
  const std::string by_files = ModelDir("by_files"), by_hand = ModelDir("by_hand"), parts = ModelDir("file_parts");
  run(by_files, AutoShard::kFile, dealt, {0});
  run(by_hand, AutoShard::kOff, chosen, {0});
  run(parts, AutoShard::kFile, dealt, {4, 9, 0});
  EXPECT_EQ(Weights(by_files), Weights(by_hand));
  EXPECT_EQ(Weights(by_files), Weights(parts));
}

// Nor one that was made before, whatever input_fn makes besides.
TEST(WorkersInput, AnInputThatReadsNoFilesCannotBeDealtOut) {
  const std::vector<std::string> files = TableFiles();
  const Dataset before = Table(files, 1);
  const InputFn as_before = [&](const InputContext&) -> absl::StatusOr<Dataset> {
    (void)Table(files, 1);
    return before;
  };
  const InputFn in_part = [&](const InputContext&) -> absl::StatusOr<Dataset> {
    return Table(files, 1).Concatenate(before);
  };
  for (const InputFn& input : {UnevenInputOfOne(61), as_before, in_part})
    EXPECT_TRUE(AsWorkersWithInputs(ModelDir("no_files"), 1, [&](RunConfig config) {
      config.auto_shard = AutoShard::kFile;
      const absl::Status status = Estimator(Model, config).Train(input, {.max_steps = 6});
      return absl::StrContains(status.message(), "RunConfig.auto_shard is file, and a source of the dataset is not of ")
                 ? absl::OkStatus()
                 : absl::InternalError(absl::StrCat("not named: ", status.ToString()));
    }));
}

TEST(WorkersInput, AnErrorOfOneInputEndsAll) {
  EXPECT_TRUE(AsWorkersWithInputs(ModelDir("broken"), 1, [](const RunConfig& config) {
    const InputFn broken = [](const InputContext& context) -> absl::StatusOr<Dataset> {
      if (context.input_pipeline_id == 1) return absl::NotFoundError("no file b");
      return UnevenInput(61, -1)(context);
    };
    const absl::Status status = Estimator(Model, config).Train(broken, {.max_steps = 6});
    return !status.ok() && absl::StrContains(status.message(), "no file b")
               ? absl::OkStatus()
               : absl::InternalError(absl::StrCat("not named: ", status.ToString()));
  }));
}

}  // namespace
}  // namespace tandem

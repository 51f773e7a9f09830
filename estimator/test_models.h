// Small models and inputs for the Estimator's tests: they run through the real compiler and runtime.
#ifndef TANDEM_ESTIMATOR_TEST_MODELS_H_
#define TANDEM_ESTIMATOR_TEST_MODELS_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/env.h"
#include "estimator/checkpoint/checkpoint_manager.h"
#include "estimator/estimator.h"
#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/metrics.h"
#include "frontends/optimizers.h"
#include "graph/ops.h"

namespace tandem::test {

// Makes a fresh, empty folder for this test.
inline std::string ModelDir(const std::string& name = "model") {
  const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
  const std::string dir = ::testing::TempDir() + "/" + info->test_suite_name() + "." + info->name() + "." + name;
  if (Env::Default()->Exists(dir)) {
    EXPECT_TRUE(Env::Default()->DeleteRecursively(dir).ok());
  }
  EXPECT_TRUE(Env::Default()->CreateDirs(dir).ok());
  return dir;
}

inline RunConfig Config(const std::string& model_dir, int replicas = 1) {
  RunConfig config{.model_dir = model_dir};
  std::vector<std::string> devices;
  for (int i = 0; i < replicas; ++i) devices.push_back("cpu:" + std::to_string(i));
  config.train_distribute = MirroredStrategy(devices);
  config.threads = 2;
  config.handle_signals = true;  // as in a program that RunProgram runs
  return config;
}

// y = 3 x0 - 2 x1 + 1 at `n` points, times `factor`.
inline Dataset LinePoints(int64_t n, float factor = 1) {
  std::vector<float> x, y;
  for (int64_t i = 0; i < n; ++i) {
    const float a = static_cast<float>(i % 7) / 7, b = static_cast<float>(i % 11) / 11;
    x.insert(x.end(), {a, b});
    y.push_back(factor * (3 * a - 2 * b + 1));
  }
  return Dataset::FromTensorSlices(
      {{"x", HostTensor::FromVector({n, 2}, x)}, {"label", HostTensor::FromVector({n, 1}, y)}});
}

inline InputFn LineInput(int64_t n = 64, int64_t batch = 8, int64_t epochs = -1, int64_t shuffle = 0) {
  return [=](const InputContext&) -> absl::StatusOr<Dataset> {
    Dataset points = LinePoints(n);
    if (shuffle > 0) points = points.Shuffle(shuffle, {.seed = 5});
    return points.Repeat(epochs).Batch(batch).Prefetch(2);
  };
}

// A model of one dense unit with squared error and Adam (so that there are slots).
inline EstimatorSpec LineModel(const Features& features, const Tensor& labels, Mode mode, const Params& params) {
  Tensor y = layers::Dense(features["x"], {.units = 1});
  if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"y", y}});
  Tensor loss = losses::MeanSquaredError(labels, y);
  if (mode == Mode::kEval) return EstimatorSpec::Eval(loss, {{"mean_y", metrics::Mean(y)}});
  return EstimatorSpec::Train(loss,
                              optimizers::Adam({.learning_rate = params.Number("learning_rate", 0.05)}).Minimize(loss));
}

// Range(n) as float32 "value", with "a" = value mod 5 and "b" = value mod 3 as int32.
inline InputFn NumbersInput(int64_t n, int64_t batch) {
  return [=](const InputContext&) -> absl::StatusOr<Dataset> {
    std::vector<float> value;
    std::vector<int32_t> a, b;
    for (int64_t i = 0; i < n; ++i) {
      value.push_back(static_cast<float>(i));
      a.push_back(i % 5);
      b.push_back(i % 3);
    }
    return Dataset::FromTensorSlices({{"value", HostTensor::FromVector({n}, value)},
                                      {"a", HostTensor::FromVector({n}, a)},
                                      {"b", HostTensor::FromVector({n}, b)}})
        .Batch(batch);
  };
}

// Loss: the mean of "value". Metrics: the same as a metric, and the accuracy of a against b.
inline EstimatorSpec NumbersModel(const Features& features, const Tensor& labels, Mode mode, const Params& params) {
  Tensor value = features["value"];
  return EstimatorSpec::Eval(ReduceMean(value), {{"mean", metrics::Mean(value)},
                                                 {"accuracy", metrics::Accuracy(features["a"], features["b"])}});
}

// Calls a function in AfterRun and remembers what it fetched.
class StepHook : public SessionRunHook {
 public:
  explicit StepHook(std::function<void(RunContext&, const RunValues&)> fn = nullptr,
                    std::vector<std::string> fetches = {})
      : fn_(std::move(fn)), fetches_(std::move(fetches)) {}
  std::string name() const override { return "StepHook"; }
  absl::Status Begin(HookContext& context) override {
    for (const std::string& f : fetches_) context.Fetch(f);
    return absl::OkStatus();
  }
  std::vector<std::string> BeforeRun(RunContext&) override { return fetches_; }
  absl::Status AfterRun(RunContext& context, const RunValues& values) override {
    ++calls;
    last = values;
    if (fn_) fn_(context, values);
    return absl::OkStatus();
  }
  int calls = 0;
  RunValues last;

 private:
  std::function<void(RunContext&, const RunValues&)> fn_;
  std::vector<std::string> fetches_;
};

// Names of the checkpoints in `dir`, by step.
inline std::vector<std::string> CheckpointNames(const std::string& dir) {
  std::vector<std::string> names;
  auto paths = CheckpointManager(Env::Default(), dir).ListCheckpoints();
  EXPECT_TRUE(paths.ok()) << paths.status();
  if (!paths.ok()) return names;
  for (const std::string& path : *paths) names.push_back(BaseName(path));
  return names;
}

}  // namespace tandem::test

#endif  // TANDEM_ESTIMATOR_TEST_MODELS_H_

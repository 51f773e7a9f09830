// A run that goes on with another number of devices at the same global batch has the bits of one that did not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "base/logging.h"
#include "estimator/test_models.h"

namespace tandem {
namespace {

using namespace test;  // NOLINT: this file's vocabulary

constexpr int64_t kExamples = 52, kSteps = 24;

// A shuffled, endless input, in batches whose number of examples depends on the devices.
struct Pipeline {
  const char* name;
  int64_t prefetch = 0;
  bool map_batches = false;  // Batch before Map
  int64_t global_batch = 8;
};

// Rows of (i, i mod 5), whose label is i / 50.
Dataset Examples() {
  std::vector<float> x, y;
  for (int64_t i = 0; i < kExamples; ++i) {
    x.insert(x.end(), {static_cast<float>(i), static_cast<float>(i % 5)});
    y.push_back(static_cast<float>(i) / 50);
  }
  return Dataset::FromTensorSlices(
             {{"x", HostTensor::FromVector({kExamples, 2}, x)}, {"label", HostTensor::FromVector({kExamples, 1}, y)}})
      .Shuffle(20, {.seed = 11})
      .Repeat();
}

InputFn Input(const Pipeline& pipeline) {
  return [pipeline](const InputContext& context) -> absl::StatusOr<Dataset> {
    Dataset dataset = Examples().Batch(pipeline.global_batch / context.num_replicas_in_sync);
    if (pipeline.map_batches) {
      dataset = dataset.Map([](const Element& batch) -> absl::StatusOr<Element> { return batch; },
                            {.num_parallel_calls = 2, .spec = dataset.spec()});
    }
    return pipeline.prefetch > 0 ? dataset.Prefetch(pipeline.prefetch) : dataset;
  };
}

// Dropout, so that random numbers take part; two layers, Adam's slots.
EstimatorSpec Model(const Features& features, const Tensor& labels, Mode mode, const Params&) {
  Tensor h =
      layers::Dense(Mul(features["x"], features["x"].graph()->Constant(0.02f)), {.units = 16, .activation = Tanh});
  h = layers::Dropout(h, {.rate = 0.25, .training = mode == Mode::kTrain});
  Tensor loss = losses::MeanSquaredError(labels, layers::Dense(h, {.units = 1}));
  return EstimatorSpec::Train(loss, optimizers::Adam({.learning_rate = 0.05}).Minimize(loss));
}

// Trains to `max_steps` on `replicas` devices in an Estimator of its own; the examples of its steps are appended.
absl::Status Train(const std::string& dir, int replicas, int64_t max_steps, const Pipeline& pipeline,
                   std::vector<std::vector<int64_t>>* rounds) {
  RunConfig config = Config(dir, replicas);
  config.save_checkpoints_steps = 5;
  config.seed = 3;
  auto hook = std::make_shared<StepHook>(
      [rounds](RunContext&, const RunValues& values) {
        const HostTensor& x = values.tensors.at("x");
        std::vector<int64_t> round;
        for (int64_t row = 0; row < x.shape()[0]; ++row)
          round.push_back(static_cast<int64_t>(x.data<float>()[2 * row]));
        rounds->push_back(std::move(round));
      },
      std::vector<std::string>{"x"});
  Estimator estimator(Model, config);
  return estimator.Train(Input(pipeline), {.max_steps = max_steps, .hooks = {hook}});
}

// The bytes of all variables and slots.
std::string Values(const std::string& dir, int64_t step) {
  std::string bytes;
  for (const char* file : {"variables", "slots"}) {
    const std::string path = absl::StrCat(dir, "/model.ckpt-", step, "/", file, ".safetensors");
    auto content = Env::Default()->ReadFile(path);
    EXPECT_TRUE(content.ok()) << content.status();
    if (content.ok()) bytes += *content;
  }
  return bytes;
}

class DevicesResumeTest : public ::testing::TestWithParam<Pipeline> {};

TEST_P(DevicesResumeTest, OneToTwoToFourDevicesIsTheSameRun) {
  SetMinLogSeverity(LogSeverity::kWarning);
  // What each step should see: the examples in the order that they have without any batches.
  std::vector<std::vector<int64_t>> expected(kSteps);
  auto iterator = Examples().MakeIterator();
  ASSERT_TRUE(iterator.ok());
  for (std::vector<int64_t>& round : expected) {
    for (int64_t row = 0; row < GetParam().global_batch; ++row) {
      Element element;
      bool end = false;
      ASSERT_TRUE((*iterator)->GetNext(&element, &end).ok() && !end);
      round.push_back(static_cast<int64_t>(element.components[0].data<float>()[0]));
    }
  }

  const std::string whole = ModelDir("whole"), parts = ModelDir("parts");
  std::vector<std::vector<int64_t>> whole_rounds, parts_rounds;
  ASSERT_EQ(Train(whole, 1, kSteps, GetParam(), &whole_rounds), absl::OkStatus());
  LogCapture log;
  int64_t stop = 0;
  for (int replicas : {1, 2, 4, 1, 4, 2, 8, 1}) {
    if (GetParam().global_batch % replicas != 0) replicas = 4;
    stop += 3;
    ASSERT_EQ(Train(parts, replicas, stop, GetParam(), &parts_rounds), absl::OkStatus()) << replicas;
  }
  ASSERT_EQ(stop, kSteps);
  EXPECT_EQ(whole_rounds, expected);
  EXPECT_EQ(parts_rounds, expected);
  EXPECT_EQ(Values(whole, kSteps), Values(parts, kSteps));
  EXPECT_FALSE(log.Contains("The input starts from its beginning"));
}

INSTANTIATE_TEST_SUITE_P(Pipelines, DevicesResumeTest,
                         ::testing::Values(Pipeline{"plain"}, Pipeline{"prefetched", 5},
                                           Pipeline{"mapped", 3, /*map_batches=*/true}, Pipeline{"of_12", 0, false, 12},
                                           Pipeline{"of_100", 0, false, 100}, Pipeline{"of_160", 0, false, 160}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tandem

#include "tools/testing/trained_model.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/metrics.h"
#include "frontends/optimizers.h"
#include "graph/ops.h"
#include "runtime/format/index.h"
#include "tools/dump/find_executable.h"

namespace tandem::tool_test {
namespace {

constexpr int64_t kExamples = 32;
constexpr int kConvLine = __LINE__ + 5;

}  // namespace

EstimatorSpec ModelFn(const Features& features, const Tensor& labels, Mode mode, const Params& params) {
  Tensor x = layers::Conv2D(features["image"], {.filters = 4, .kernel_size = 3, .activation = Relu});
  x = layers::Flatten(layers::MaxPooling2D(x, {.pool_size = 2}));
  if (params.Number("norm", 0) > 0) x = layers::BatchNormalization(x, {.training = mode == Mode::kTrain});
  x = layers::Dropout(x, {.rate = 0.25, .training = mode == Mode::kTrain});
  Tensor logits = layers::Dense(x, {.units = 10});
  if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"logits", logits}});
  Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, logits);
  if (mode == Mode::kEval) {
    return EstimatorSpec::Eval(loss, {{"accuracy", metrics::Accuracy(labels, ArgMax(logits, -1))}});
  }
  return EstimatorSpec::Train(loss, optimizers::Momentum({.learning_rate = 0.1, .momentum = 0.9}).Minimize(loss));
}

std::string ConvolutionPlace() { return absl::StrCat("trained_model.cc:", kConvLine); }

absl::StatusOr<Dataset> Images(const InputContext&) {
  std::vector<float> image;
  std::vector<int64_t> label;
  for (int64_t i = 0; i < kExamples; ++i) {
    label.push_back(i % 10);
    for (int64_t p = 0; p < 8 * 8; ++p) image.push_back(static_cast<float>((p * 7 + i * 13) % 17) / 17);
  }
  return Dataset::FromTensorSlices({{"image", HostTensor::FromVector({kExamples, 8, 8, 1}, image)},
                                    {"label", HostTensor::FromVector({kExamples}, label)}})
      .Repeat()
      .Batch(8);
}

std::string ModelDir(const std::vector<std::string>& devices, bool norm) {
  const std::string dir = ::testing::TempDir() + "/model_" + std::to_string(devices.size()) + (norm ? "_norm" : "");
  if (Env::Default()->Exists(dir)) return dir;
  RunConfig config{.model_dir = dir, .seed = 3};
  config.train_distribute = MirroredStrategy(devices);
  config.threads = 2;
  Estimator estimator(ModelFn, config, {{"norm", norm ? 1.0 : 0.0}});
  const absl::Status trained = estimator.Train(Images, {.steps = 2});
  EXPECT_TRUE(trained.ok()) << trained;
  const auto result = estimator.Evaluate(Images, {.steps = 2});
  EXPECT_TRUE(result.ok()) << result.status();
  return dir;
}

std::string TwoDevices() { return ModelDir({"cpu:0", "cpu:1"}); }

std::string DamagedFile(size_t offset_from_end) {
  const auto path = FindExecutable(TwoDevices(), "train");
  EXPECT_TRUE(path.ok()) << path.status();
  std::string bytes = Env::Default()->ReadFile(*path).value_or("");
  EXPECT_GT(bytes.size(), offset_from_end);
  bytes[bytes.size() - offset_from_end] ^= 1;
  const std::string copy = ::testing::TempDir() + "/damaged.tdx";
  EXPECT_TRUE(Env::Default()->WriteFile(copy, {bytes}).ok());
  return copy;
}

std::string ChangedFile(const std::string& name,
                        const std::function<void(format::Index&, std::vector<SegmentData>&)>& change) {
  const auto path = FindExecutable(TwoDevices(), "train");
  EXPECT_TRUE(path.ok()) << path.status();
  const auto executable = Executable::Load(*path);
  EXPECT_TRUE(executable.ok()) << executable.status();
  format::Index index = (*executable)->index();
  std::vector<SegmentData> segments;
  for (size_t i = 0; i < index.segments.size(); ++i) {
    const format::Segment& s = index.segments[i];
    segments.push_back({s.kind, s.name, std::string((*executable)->segment(static_cast<int>(i)))});
  }
  change(index, segments);
  const std::string copy = ::testing::TempDir() + "/" + name;
  EXPECT_TRUE(Env::Default()->WriteFile(copy, {BuildExecutable(std::move(index), segments)}).ok());
  return copy;
}

}  // namespace tandem::tool_test

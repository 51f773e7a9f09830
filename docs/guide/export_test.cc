// Compiles and runs the code blocks of export.md.
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "tandem/base/env.h"
#include "tandem/base/status_macros.h"
#include "tandem/data/dataset.h"
#include "tandem/estimator/estimator.h"
#include "tandem/estimator/onnx/export_onnx.h"
#include "tandem/estimator/serving/model.h"
#include "tandem/estimator/stablehlo/export_stablehlo.h"
#include "tandem/estimator/train_and_evaluate.h"
#include "tandem/frontends/layers.h"
#include "tandem/frontends/losses.h"
#include "tandem/frontends/metrics.h"
#include "tandem/frontends/optimizers.h"
#include "tandem/graph/ops.h"

namespace tandem {
namespace {

#include "docs/guide/export_test_blocks.inc"

EstimatorSpec ModelFn(const Features& features, const Tensor& labels, Mode mode, const Params& params) {
  Tensor logits = layers::Dense(layers::Flatten(features["image"]), {.units = 10});
  if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"logits", logits}});
  Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, logits);
  if (mode == Mode::kEval) {
    return EstimatorSpec::Eval(loss, {{"accuracy", metrics::Accuracy(labels, ArgMax(logits, -1))}});
  }
  return EstimatorSpec::Train(loss, optimizers::GradientDescent({.learning_rate = 0.1}).Minimize(loss));
}

HostTensor Images(int64_t n) {
  HostTensor images(DType::kFloat32, {n, 28, 28, 1});
  for (int64_t i = 0; i < images.num_elements(); ++i) images.data<float>()[i] = static_cast<float>(i % 17) / 17;
  return images;
}

absl::StatusOr<Dataset> Input(const InputContext&) {
  return Dataset::FromTensorSlices({{"image", Images(20)}, {"label", HostTensor::Zeros(DType::kInt32, {20})}}).Batch(8);
}

TEST(ExportGuide, EveryBlockDoesWhatItSays) {
  const std::string folder = testing::TempDir() + "/model";
  Env::Default()->DeleteRecursively(folder).IgnoreError();
  Estimator estimator(ModelFn, {.model_dir = folder, .threads = 1});
  const auto result = TrainAndEvaluate(estimator, {.input_fn = Input}, Evaluation(Input));
  ASSERT_TRUE(result.ok()) << result.status();
  for (const char* name : {"best", "latest", "final"}) EXPECT_TRUE(HasExport(folder + "/export/" + name)) << name;
  const auto path = Export(estimator, folder);
  ASSERT_TRUE(path.ok()) << path.status();
  const absl::Status onnx = ToOnnx(folder);
  ASSERT_TRUE(onnx.ok()) << onnx;
  EXPECT_TRUE(Env::Default()->Exists(folder + "/model.onnx"));
  const absl::Status stablehlo = ToStableHlo(folder);
  ASSERT_TRUE(stablehlo.ok()) << stablehlo;
  EXPECT_TRUE(Env::Default()->Exists(folder + "/model.mlir"));
  const auto logits = Logits(folder, Images(3));
  ASSERT_TRUE(logits.ok()) << logits.status();
  EXPECT_EQ(logits->shape(), (Shape{3, 10}));
  int64_t row = 0;
  const absl::Status predicted = estimator.Predict(Input, [&](const NamedTensors& p) {
    for (int64_t i = 0; i < 10; ++i) {
      // Sums of 784 products, by another batch size: in another order.
      const float exported = logits->data<float>()[row * 10 + i];
      EXPECT_NEAR(p.at("logits").data<float>()[i], exported, 1e-5 * std::max(1.0f, std::abs(exported)));
    }
    return ++row < 3;
  });
  EXPECT_TRUE(predicted.ok()) << predicted;
}

}  // namespace
}  // namespace tandem

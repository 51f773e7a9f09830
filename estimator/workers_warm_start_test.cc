// Workers that warm-start begin with the chief's values, whatever their own files say.
#include <gtest/gtest.h>

#include <iostream>

#include "absl/strings/str_cat.h"
#include "estimator/checkpoint/safetensors.h"
#include "estimator/test_workers.h"

namespace tandem {
namespace {

using namespace test;  // NOLINT: this file's vocabulary

// The file of a rank has `rank + 1` in each of two rows; the model has a third one, which keeps its initialiser.
TEST(WorkersWarmStart, TheChiefsValuesCount) {
  const ModelFn model = [](const Features& features, const Tensor& labels, Mode mode, const Params&) {
    Tensor table = features.graph()->Variable(
        {.name = "table", .shape = {3, 1}, .initializer = {Initializer::Kind::kConstant, 10}});
    Tensor y = Mul(ReduceSum(features["x"], {1}, true), 0.0) + ReduceSum(table);
    if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"y", y}});
    Tensor loss = losses::MeanSquaredError(labels, y);
    return EstimatorSpec::Train(loss, optimizers::SGD({.learning_rate = 0.0}).Minimize(loss));
  };
  EXPECT_TRUE(AsWorkers(2, [&](int rank, RunConfig config) {
    const std::string path = absl::StrCat(config.model_dir, "/weights-", rank, ".safetensors");
    const float value = static_cast<float>(rank + 1);
    absl::Status status =
        WriteSafetensors(Env::Default(), path, {{"rows", HostTensor::FromVector<float>({2, 1}, {value, value})}});
    config.warm_start_from = WarmStartSettings{.path = path,
                                               .var_name_to_prev_var_name = {{"table", "rows"}},
                                               .on_shape_mismatch = ShapeMismatch::kCopyOverlap};
    Estimator estimator(model, config);
    if (status.ok()) status = estimator.Train(LineInput(64, 4), {.steps = 2});
    float y = 0;
    if (status.ok()) {
      status = estimator.Predict(LineInput(4, 4, 1), [&](const NamedTensors& p) {
        y = p.at("y").data<float>()[0];
        return false;
      });
    }
    if (!status.ok() || y != 1 + 1 + 10) std::cerr << status << ", y = " << y << "\n";
    return status.ok() && y == 1 + 1 + 10;
  }));
}

}  // namespace
}  // namespace tandem

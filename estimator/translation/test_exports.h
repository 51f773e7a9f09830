// Exported models for tests of translations.
#ifndef TANDEM_ESTIMATOR_TRANSLATION_TEST_EXPORTS_H_
#define TANDEM_ESTIMATOR_TRANSLATION_TEST_EXPORTS_H_

#include <string>

#include "base/env.h"
#include "estimator/test_models.h"
#include "gtest/gtest.h"

namespace tandem::test {

inline EstimatorSpec SpecOfPrediction(const Tensor& prediction, const Tensor& labels, Mode mode) {
  if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"line", prediction}});
  const Tensor loss = losses::MeanSquaredError(labels, prediction);
  if (mode == Mode::kEval) return EstimatorSpec::Eval(loss);
  return EstimatorSpec::Train(loss, optimizers::GradientDescent({.learning_rate = 0.1}).Minimize(loss));
}

inline EstimatorSpec WideLineModel(const Features& features, const Tensor& labels, Mode mode, const Params&) {
  const Tensor hidden = layers::Dense(features["x"], {.units = 1000, .activation = Relu});
  return SpecOfPrediction(layers::Dense(hidden, {.units = 1}), labels, mode);
}

// With a dropout in predictions too. Errors name this line.
inline EstimatorSpec RandomModel(const Features& features, const Tensor& labels, Mode mode, const Params&) {
  const Tensor x = layers::Dropout(features["x"], {.rate = 0.5, .training = true});
  return SpecOfPrediction(layers::Dense(x, {.units = 1}), labels, mode);
}

// With a constant that the program's text names only.
inline EstimatorSpec ConstantModel(const Features& features, const Tensor& labels, Mode mode, const Params&) {
  constexpr int64_t kColumns = 3000;
  HostTensor numbers(DType::kFloat32, {2, kColumns});
  for (int64_t i = 0; i < 2 * kColumns; ++i) numbers.data<float>()[i] = static_cast<float>(i % 7) / 1000;
  const Tensor projected = MatMul(features["x"], features.graph()->Constant(numbers));
  return SpecOfPrediction(layers::Dense(projected, {.units = 1}), labels, mode);
}

// Trains and exports a model whose feature is x [b, 2]. Returns a folder with the exports in `exports` and an empty
// folder `out`.
inline std::string TrainedAndExported(ModelFn model_fn, Precision precision = Precision::kFloat32) {
  const std::string dir = ModelDir();
  RunConfig config = Config(dir);
  config.precision = precision;
  Estimator estimator(model_fn, config);
  absl::Status status = estimator.Train(LineInput(), {.steps = 2});
  EXPECT_TRUE(status.ok()) << status;
  const auto path = estimator.ExportModel(dir + "/exports", {.features = {{"x", DType::kFloat32, {kBatch, 2}}}});
  EXPECT_TRUE(path.ok()) << path.status();
  EXPECT_TRUE(Env::Default()->CreateDirs(dir + "/out").ok());
  return dir;
}

// Returns the content of a file; "" if it cannot be read.
inline std::string ContentOf(const std::string& path) { return Env::Default()->ReadFile(path).value_or(""); }

}  // namespace tandem::test

#endif  // TANDEM_ESTIMATOR_TRANSLATION_TEST_EXPORTS_H_

// make_model MODEL_DIR: trains a small model of two inputs, evaluates it and exports it to MODEL_DIR/exports, for the
// test of the Python package.
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "base/program.h"
#include "base/status_macros.h"
#include "estimator/estimator.h"
#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/optimizers.h"
#include "graph/ops.h"

namespace tandem {
namespace {

EstimatorSpec ModelFn(const Features& features, const Tensor& labels, Mode mode, const Params&) {
  Tensor of_id = layers::Embedding(features["id"], {.input_dim = 7, .output_dim = 3});
  Tensor y = layers::Dense(Concat({features["x"], of_id}, 1), {.units = 1});
  if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"y", y}, {"positive", Greater(y, 0.0)}});
  Tensor loss = losses::MeanSquaredError(labels, y);
  if (mode == Mode::kEval) return EstimatorSpec::Eval(loss);
  return EstimatorSpec::Train(loss, optimizers::Adam({.learning_rate = 0.01}).Minimize(loss));
}

absl::StatusOr<Dataset> Input(const InputContext&) {
  std::vector<float> x(64);
  std::vector<int32_t> ids;
  for (int i = 0; i < 32; ++i) {
    x[2 * i] = static_cast<float>(i) / 32;
    ids.push_back(i % 7);
  }
  return Dataset::FromTensorSlices({{"x", HostTensor::FromVector({32, 2}, x)},
                                    {"id", HostTensor::FromVector({32}, ids)},
                                    {"label", HostTensor::FromVector({32, 1}, std::vector<float>(32, 1))}})
      .Batch(8);
}

absl::Status Run(const std::vector<std::string>& arguments) {
  if (arguments.size() != 1) return absl::InvalidArgumentError("usage: make_model MODEL_DIR");
  Estimator estimator(ModelFn, RunConfig{.model_dir = arguments[0]});
  TD_RETURN_IF_ERROR(estimator.Train(Input, {.max_steps = 4}));
  TD_ASSIGN_OR_RETURN(const EvalResult result, estimator.Evaluate(Input));
  const ServingInput serving{.features = {{"x", DType::kFloat32, {kBatch, 2}}, {"id", DType::kInt32, {kBatch}}}};
  return estimator.ExportModel(JoinPath(arguments[0], "exports"), serving, {.metrics = {{"loss", result["loss"]}}})
      .status();
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  return tandem::RunProgram(argc, argv, "makes a model for the test of the Python package", tandem::Run);
}

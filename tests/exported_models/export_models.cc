// export_models [--full] DIR NAME...: exports models with random weights to DIR/NAME, for tests of what they are
// translated to.
// Without names it prints all of them.
#include <cstdio>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/program.h"
#include "base/status_macros.h"
#include "estimator/estimator.h"
#include "frontends/layers.h"
#include "frontends/optimizers.h"
#include "graph/ops.h"
#include "tests/exported_models/models.h"

ABSL_FLAG(bool, full, false, "Images and sequences as large as the benchmarks have them; without: small ones.");

namespace tandem::exported_models {
namespace {

// The weights are assigned, so that a step trains another layer that no prediction needs.
ModelFn ModelFnOf(const TestModel& model) {
  return [model](const Features& features, const Tensor&, Mode mode, const Params&) -> EstimatorSpec {
    TensorsByName inputs;
    for (const ComponentSpec& feature : model.features) inputs[feature.name] = features[feature.name];
    const TensorsByName predictions = model.predict(inputs);
    if (mode == Mode::kPredict) return EstimatorSpec::Predict(predictions);
    const Tensor& first = inputs.begin()->second;
    const Tensor flat = layers::Flatten(Cast(first, DType::kFloat32));
    const Tensor loss = ReduceMean(Square(layers::Dense(flat, {.units = 1, .name = "trained"})));
    if (mode == Mode::kEval) return EstimatorSpec::Eval(loss);
    return EstimatorSpec::Train(loss, optimizers::GradientDescent({.learning_rate = 0.01}).Minimize(loss));
  };
}

InputFn InputOf(const TestModel& model) {
  return [model](const InputContext&) -> absl::StatusOr<Dataset> {
    std::vector<std::pair<std::string, HostTensor>> components;
    for (const ComponentSpec& feature : model.features) {
      Shape shape = feature.shape;
      shape[0] = 2;
      components.push_back({feature.name, HostTensor::Zeros(feature.dtype, shape)});
    }
    components.push_back({"label", HostTensor::Zeros(DType::kFloat32, {2})});
    return Dataset::FromTensorSlices(components).Batch(2);
  };
}

// Vectors, which are biases and what normalizations have, begin as zeros and ones: they get numbers that can be wrong.
HostTensor Shaken(const std::string& name, const HostTensor& value, std::mt19937& random) {
  if (value.dtype() != DType::kFloat32 || value.rank() > 2) return value;
  const bool positive = absl::EndsWith(name, "variance") || absl::EndsWith(name, "gamma");
  if (value.rank() == 2 && !absl::EndsWith(name, "bias")) return value;
  std::uniform_real_distribution<float> uniform(positive ? 0.5f : -0.5f, positive ? 1.5f : 0.5f);
  HostTensor shaken(value.dtype(), value.shape());
  for (int64_t i = 0; i < shaken.num_elements(); ++i) shaken.data<float>()[i] = uniform(random);
  return shaken;
}

absl::Status Export(const TestModel& model, const std::string& dir) {
  Estimator estimator(ModelFnOf(model), RunConfig{.model_dir = dir + "/model", .seed = 1});
  TD_RETURN_IF_ERROR(estimator.Train(InputOf(model), {.steps = 1}));
  TD_ASSIGN_OR_RETURN(NamedTensors variables, estimator.ReadVariables());
  std::mt19937 random(7);
  for (auto& [name, value] : variables) value = Shaken(name, value, random);
  TD_RETURN_IF_ERROR(estimator.AssignVariables(variables));
  TD_ASSIGN_OR_RETURN(const std::string path, estimator.ExportModel(dir, {.features = model.features}));
  std::printf("%s\n", path.c_str());
  return absl::OkStatus();
}

absl::Status Run(const std::vector<std::string>& arguments) {
  const std::vector<TestModel> models = TestModels(absl::GetFlag(FLAGS_full));
  if (arguments.empty()) {
    for (const TestModel& model : models) std::printf("%s\n", model.name.c_str());
  }
  for (size_t i = 1; i < arguments.size(); ++i) {
    bool known = false;
    for (const TestModel& model : models) {
      if (model.name != arguments[i]) continue;
      known = true;
      TD_RETURN_IF_ERROR(Export(model, arguments[0] + "/" + model.name));
    }
    if (!known) return absl::InvalidArgumentError(absl::StrCat("there is no model ", arguments[i]));
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace tandem::exported_models

int main(int argc, char** argv) {
  return tandem::RunProgram(argc, argv, "exports models for tests of translations (DIR NAME...)",
                            tandem::exported_models::Run);
}

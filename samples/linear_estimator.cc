// The smallest model: one dense unit, squared error, gradient descent, under a distribution strategy. It learns
// y = 10 x + 5 from 1,000 points.
#include <cstdio>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tandem/base/program.h"
#include "tandem/base/status_macros.h"
#include "tandem/estimator/estimator.h"
#include "tandem/estimator/flags/run_config_flags.h"
#include "tandem/estimator/train_and_evaluate.h"
#include "tandem/frontends/layers.h"
#include "tandem/frontends/losses.h"
#include "tandem/frontends/optimizers.h"
#include "tandem/graph/ops.h"

ABSL_FLAG(std::string, model_dir, "", "Folder for checkpoints and compiled programs. Empty: a temporary folder.");
ABSL_FLAG(std::string, devices, "auto", tandem::kDevicesHelp);
ABSL_FLAG(int64_t, batch_size, 10, "Points per replica and step.");
ABSL_FLAG(int64_t, epochs, 10, "Passes over the points.");
ABSL_FLAG(double, learning_rate, 0.2, "Learning rate of gradient descent.");

namespace tandem {
namespace {

constexpr int64_t kPoints = 1000;

EstimatorSpec ModelFn(const Features& features, const Tensor& labels, Mode mode, const Params& params) {
  Tensor y = layers::Dense(features["x"], {.units = 1});
  if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"y", y}});
  Tensor loss = losses::MeanSquaredError(labels, y);
  if (mode == Mode::kEval) return EstimatorSpec::Eval(loss);
  return EstimatorSpec::Train(
      loss, optimizers::GradientDescent({.learning_rate = params.Number("learning_rate", 0.2)}).Minimize(loss));
}

Dataset Points() {
  std::vector<float> x, y;
  for (int64_t i = 0; i < kPoints; ++i) {
    x.push_back(static_cast<float>(i % 100) / 100);
    y.push_back(10 * x.back() + 5);
  }
  return Dataset::FromTensorSlices(
      {{"x", HostTensor::FromVector({kPoints, 1}, x)}, {"label", HostTensor::FromVector({kPoints, 1}, y)}});
}

absl::StatusOr<Dataset> TrainInput(const InputContext& context) {
  return Points().Shuffle(kPoints).Repeat(absl::GetFlag(FLAGS_epochs)).Batch(absl::GetFlag(FLAGS_batch_size));
}

absl::StatusOr<Dataset> EvalInput(const InputContext& context) {
  return Points().Batch(absl::GetFlag(FLAGS_batch_size));
}

absl::Status Run() {
  if (const double rate = absl::GetFlag(FLAGS_learning_rate); !(rate > 0)) {
    return absl::InvalidArgumentError(absl::StrCat("--learning_rate must be positive, got ", rate));
  }
  RunConfig config{.model_dir = absl::GetFlag(FLAGS_model_dir),
                   .train_distribute = DevicesFromFlag(absl::GetFlag(FLAGS_devices))};
  TD_RETURN_IF_ERROR(ApplyRunConfigFlags(&config));
  Estimator estimator(ModelFn, config, {{"learning_rate", absl::GetFlag(FLAGS_learning_rate)}});
  TD_ASSIGN_OR_RETURN(const EvalResult result,
                      TrainAndEvaluate(estimator, {.input_fn = TrainInput}, {.input_fn = EvalInput}));
  // In a cluster, only the tasks that evaluate print the result.
  if (!(estimator.is_chief() || estimator.is_evaluator()) || result.empty()) return absl::OkStatus();
  TD_ASSIGN_OR_RETURN(const HostTensor kernel, estimator.GetVariableValue("dense/kernel"));
  TD_ASSIGN_OR_RETURN(const HostTensor bias, estimator.GetVariableValue("dense/bias"));
  std::printf("%s\ny = %.4f x + %.4f\n", result.ToString().c_str(), kernel.data<float>()[0], bias.data<float>()[0]);
  return absl::OkStatus();
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  return tandem::RunProgram(argc, argv, "fits a line with gradient descent on several devices.", tandem::Run);
}

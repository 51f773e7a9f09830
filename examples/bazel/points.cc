// Learns y = 10 x + 5 from a thousand points.
#include <cstdio>
#include <vector>

#include "tandem/tandem.h"

namespace {

using namespace tandem;

EstimatorSpec ModelFn(const Features& features, const Tensor& labels, Mode mode, const Params&) {
  Tensor y = layers::Dense(features["x"], {.units = 1});
  if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"y", y}});
  Tensor loss = losses::MeanSquaredError(labels, y);
  if (mode == Mode::kEval) return EstimatorSpec::Eval(loss);
  return EstimatorSpec::Train(loss, optimizers::GradientDescent({.learning_rate = 0.2}).Minimize(loss));
}

absl::StatusOr<Dataset> Points(const InputContext&) {
  std::vector<float> x, y;
  for (int i = 0; i < 1000; ++i) {
    x.push_back(static_cast<float>(i % 100) / 100);
    y.push_back(10 * x.back() + 5);
  }
  return Dataset::FromTensorSlices(
             {{"x", HostTensor::FromVector({1000, 1}, x)}, {"label", HostTensor::FromVector({1000, 1}, y)}})
      .Shuffle(1000)
      .Repeat(10)
      .Batch(10);
}

absl::Status Run() {
  Estimator estimator(ModelFn, RunConfig{});
  TD_RETURN_IF_ERROR(estimator.Train(Points));
  TD_ASSIGN_OR_RETURN(const HostTensor kernel, estimator.GetVariableValue("dense/kernel"));
  TD_ASSIGN_OR_RETURN(const HostTensor bias, estimator.GetVariableValue("dense/bias"));
  std::printf("y = %.2f x + %.2f\n", kernel.data<float>()[0], bias.data<float>()[0]);
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) { return tandem::RunProgram(argc, argv, "learns y = 10 x + 5.", Run); }

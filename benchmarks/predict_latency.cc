// Measures what a prediction of one example costs above the compiled program itself: it calls a Session, a Predictor,
// and Estimator::Predict with an input of one example, one after another in turns, with weights in memory.
//
//   bazel build //benchmarks:predict_latency && bazel-bin/benchmarks/predict_latency
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "base/median.h"
#include "base/program.h"
#include "base/status_macros.h"
#include "estimator/estimator.h"
#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/optimizers.h"
#include "graph/ops.h"
#include "runtime/device_classes/device_classes.h"
#include "runtime/format/index.h"
#include "runtime/session/session.h"
#include "samples/networks.h"
#include "tools/dump/find_executable.h"

ABSL_FLAG(int64_t, calls, 2000, "measured calls of each kind");
ABSL_FLAG(int, threads, 0, "of each kind; 0: one for each core");

namespace tandem {
namespace {

using Clock = std::chrono::steady_clock;

EstimatorSpec LinearModel(const Features& features, const Tensor& labels, Mode mode, const Params&) {
  Tensor y = networks::Linear(features["x"]);
  if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"y", y}});
  Tensor loss = losses::MeanSquaredError(labels, y);
  return EstimatorSpec::Train(loss, optimizers::GradientDescent({.learning_rate = 0.01}).Minimize(loss));
}

EstimatorSpec ConvnetModel(const Features& features, const Tensor& labels, Mode mode, const Params&) {
  Tensor y = networks::ZalandoConvnet(features["x"], {.logits = true});
  if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"y", y}});
  Tensor loss = losses::MeanSquaredError(labels, y);
  return EstimatorSpec::Train(loss, optimizers::GradientDescent({.learning_rate = 0.01}).Minimize(loss));
}

struct Model {
  std::string name;
  ModelFn model_fn;
  Shape example;  // shape of the input "x" for one example
  int64_t outputs;
};

// Makes a session of the program that the Estimator has compiled, with the Estimator's weights.
absl::StatusOr<std::unique_ptr<Session>> SessionAlone(Estimator& estimator, int threads, const HostTensor& x,
                                                      StepInputs* inputs) {
  TD_ASSIGN_OR_RETURN(const std::string path, FindExecutable(estimator.model_dir(), "predict"));
  TD_ASSIGN_OR_RETURN(std::shared_ptr<const Executable> executable, Executable::Load(path));
  auto variables = std::make_shared<VariableStore>(1);
  TD_RETURN_IF_ERROR(CreateSessionVariables(*executable, *variables));
  for (const auto& v : executable->index().variables) {
    TD_ASSIGN_OR_RETURN(const HostTensor value, estimator.GetVariableValue(v.name));
    TD_RETURN_IF_ERROR(variables->Assign(v.name, value));
  }
  inputs->inputs = {{x}};
  for (const auto& scalar : executable->index().scalars) inputs->scalars[scalar.name] = 0;
  Session::Options options;
  TD_ASSIGN_OR_RETURN(options.pool, ThreadPool::Create(threads));
  return CreateSession(std::move(executable), std::move(variables), std::move(options));
}

double Quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(q * static_cast<double>(values.size() - 1))];
}

absl::Status Measure(const Model& model) {
  const std::string dir = absl::StrCat("/tmp/predict_latency_", getpid(), "_", model.name);
  const int threads =
      absl::GetFlag(FLAGS_threads) > 0 ? absl::GetFlag(FLAGS_threads) : static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  Estimator estimator(model.model_fn, RunConfig{.model_dir = dir, .threads = threads});
  Shape shape = model.example, spec = model.example;
  shape.insert(shape.begin(), 1);
  spec.insert(spec.begin(), kBatch);
  const HostTensor x = HostTensor::Zeros(DType::kFloat32, shape);
  const auto train = [&](const InputContext&) -> absl::StatusOr<Dataset> {
    return Dataset::FromTensorSlices({{"x", x}, {"label", HostTensor::Zeros(DType::kFloat32, {1, model.outputs})}})
        .Batch(1);
  };
  TD_RETURN_IF_ERROR(estimator.Train(train, {.steps = 1}));
  TD_ASSIGN_OR_RETURN(auto predictor, estimator.MakePredictor({{"x", DType::kFloat32, spec}}));
  StepInputs inputs;
  TD_ASSIGN_OR_RETURN(auto session, SessionAlone(estimator, threads, x, &inputs));
  const auto one = [&](const InputContext&) -> absl::StatusOr<Dataset> {
    return Dataset::FromTensorSlices({{"x", x}}).Batch(1);
  };
  const std::vector<std::pair<const char*, std::function<absl::Status()>>> kinds = {
      {"program alone", [&] { return session->Run(inputs, {0}).status(); }},
      {"Predictor",
       [&] {
         return predictor->Predict({{"x", x}}).status();
       }},
      {"Estimator::Predict", [&] { return estimator.Predict(one, [](const NamedTensors&) { return true; }); }}};
  std::vector<std::vector<double>> microseconds(kinds.size()), above(kinds.size());
  const int64_t calls = absl::GetFlag(FLAGS_calls), warm_up = std::min<int64_t>(200, calls);
  for (int64_t i = -warm_up; i < calls; ++i) {
    double alone = 0;
    for (size_t k = 0; k < kinds.size(); ++k) {
      // An unmeasured call loads code and data into the caches, as in a busy server.
      TD_RETURN_IF_ERROR(kinds[k].second());
      const Clock::time_point begin = Clock::now();
      TD_RETURN_IF_ERROR(kinds[k].second());
      const double time = std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
      if (k == 0) alone = time;
      if (i < 0) continue;
      microseconds[k].push_back(time);
      above[k].push_back(time - alone);
    }
  }
  std::printf("%s, one example, %d threads, %lld calls of each kind in turns:\n", model.name.c_str(), threads,
              static_cast<long long>(calls));
  for (size_t k = 0; k < kinds.size(); ++k) {
    std::printf("  %-20s median %8.1f us, 99 %% %8.1f us, above the program (median of pairs) %8.1f us\n",
                kinds[k].first, Median(microseconds[k]), Quantile(microseconds[k], 0.99), Median(above[k]));
  }
  return Env::Default()->DeleteRecursively(dir);
}

absl::Status Run() {
  for (const Model& model :
       {Model{"linear", LinearModel, {2}, 1}, Model{"fashion_mnist", ConvnetModel, {28, 28, 1}, 10}}) {
    TD_RETURN_IF_ERROR(Measure(model));
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  return tandem::RunProgram(argc, argv, "predict_latency: what a prediction takes above its program", tandem::Run);
}

// Steps a second of a training in a cluster, for benchmarks/workers and benchmarks/peers/parameter_servers, which start
// its tasks: each is this program with the TF_CONFIG of its task. The chief prints "global steps/s: N", of all workers
// together, from --warm_up to --max_steps.
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "base/program.h"
#include "base/status_macros.h"
#include "estimator/estimator.h"
#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/optimizers.h"
#include "graph/ops.h"

ABSL_FLAG(std::string, model, "linear", "linear (batch 10) or mlp (784-1024-1024-1024-10, batch 64, momentum)");
ABSL_FLAG(int64_t, warm_up, 200, "steps before the measured ones");
ABSL_FLAG(int64_t, max_steps, 5000, "the last step");
ABSL_FLAG(std::string, strategy, "parameter_server", "or multi_worker, or mirrored");
ABSL_FLAG(int, devices, 1, "of each worker");
ABSL_FLAG(std::string, communication, "auto", "of workers together: auto, shared_memory, tcp or ring");
ABSL_FLAG(int, threads, 1, "of each task");
ABSL_FLAG(std::string, model_dir, "", "for compiled programs; empty: a temporary one");

namespace tandem {
namespace {

EstimatorSpec LinearModel(const Features& features, const Tensor& labels, Mode, const Params&) {
  const Tensor loss = losses::MeanSquaredError(labels, layers::Dense(features["x"], {.units = 1}));
  return EstimatorSpec::Train(loss, optimizers::GradientDescent({.learning_rate = 0.2}).Minimize(loss));
}

EstimatorSpec MlpModel(const Features& features, const Tensor& labels, Mode, const Params&) {
  Tensor h = features["x"];
  for (int i = 0; i < 3; ++i) h = layers::Dense(h, {.units = 1024, .activation = Relu});
  const Tensor loss =
      losses::SparseCategoricalCrossentropy(labels, layers::Dense(h, {.units = 10}), {.from_logits = true});
  return EstimatorSpec::Train(loss, optimizers::Momentum({.learning_rate = 0.01, .momentum = 0.9}).Minimize(loss));
}

InputFn Input(bool mlp) {
  return [mlp](const InputContext&) -> absl::StatusOr<Dataset> {
    const int64_t rows = mlp ? 2048 : 1000, width = mlp ? 784 : 1;
    std::mt19937 random(1);
    std::uniform_real_distribution<float> uniform(0, 1);
    std::vector<float> x(rows * width);
    for (float& value : x) value = uniform(random);
    if (mlp) {
      std::vector<int32_t> label(rows);
      for (int64_t i = 0; i < rows; ++i) label[i] = static_cast<int32_t>(i % 10);
      return Dataset::FromTensorSlices(
                 {{"x", HostTensor::FromVector({rows, width}, x)}, {"label", HostTensor::FromVector({rows}, label)}})
          .Repeat()
          .Batch(64);
    }
    std::vector<float> y(rows);
    for (int64_t i = 0; i < rows; ++i) y[i] = 10 * x[i] + 5;
    return Dataset::FromTensorSlices(
               {{"x", HostTensor::FromVector({rows, 1}, x)}, {"label", HostTensor::FromVector({rows, 1}, y)}})
        .Repeat()
        .Batch(10);
  };
}

class Rate : public SessionRunHook {
 public:
  std::string name() const override { return "Rate"; }
  absl::Status AfterRun(RunContext& context, const RunValues&) override {
    last_ = context.global_step();
    end_ = Clock::now();
    if (first_ < 0 && last_ >= absl::GetFlag(FLAGS_warm_up)) {
      first_ = last_;
      begin_ = end_;
    }
    return absl::OkStatus();
  }
  void Print() const {
    const double seconds = std::chrono::duration<double>(end_ - begin_).count();
    std::printf("global steps/s: %.6g\n", static_cast<double>(last_ - first_) / seconds);
  }

 private:
  using Clock = std::chrono::steady_clock;
  int64_t first_ = -1, last_ = 0;
  Clock::time_point begin_, end_;
};

absl::StatusOr<DistributionStrategy> Strategy() {
  std::vector<std::string> devices;
  for (int i = 0; i < absl::GetFlag(FLAGS_devices); ++i) devices.push_back(absl::StrCat("cpu:", i));
  const std::string name = absl::GetFlag(FLAGS_strategy);
  if (name == "parameter_server") return ParameterServerStrategy(devices);
  if (name == "multi_worker") return MultiWorkerMirroredStrategy(devices);
  if (name == "mirrored") return MirroredStrategy(devices);
  return absl::InvalidArgumentError(
      absl::StrCat("--strategy=", name, " is unknown; use parameter_server, multi_worker or mirrored"));
}

absl::Status Run() {
  const std::string model = absl::GetFlag(FLAGS_model);
  if (model != "linear" && model != "mlp") {
    return absl::InvalidArgumentError(absl::StrCat("--model=", model, " is unknown; use linear or mlp"));
  }
  RunConfig config{.model_dir = absl::GetFlag(FLAGS_model_dir)};
  config.save_checkpoints_secs = 0;
  config.save_summary_steps = 0;
  config.log_step_count_steps = 0;
  TD_ASSIGN_OR_RETURN(config.train_distribute, Strategy());
  TD_ASSIGN_OR_RETURN(config.communication, CommunicationFromName(absl::GetFlag(FLAGS_communication)));
  config.threads = absl::GetFlag(FLAGS_threads);
  Estimator estimator(model == "mlp" ? MlpModel : LinearModel, config);
  const auto rate = std::make_shared<Rate>();
  TD_RETURN_IF_ERROR(
      estimator.Train(Input(model == "mlp"), {.max_steps = absl::GetFlag(FLAGS_max_steps), .hooks = {rate}}));
  TD_ASSIGN_OR_RETURN(const std::optional<Cluster> cluster, config.ResolvedCluster());
  if (!cluster.has_value() || cluster->is_chief()) rate->Print();
  return absl::OkStatus();
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  return tandem::RunProgram(argc, argv, "measures a training in a cluster.", tandem::Run);
}

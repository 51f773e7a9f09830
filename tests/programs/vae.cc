// A variational autoencoder: noise in the graph, and a weight of the divergence that a hook raises from 0 to 1.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "base/env.h"
#include "base/program.h"
#include "base/status_macros.h"
#include "estimator/config/strategy.h"
#include "estimator/estimator.h"
#include "estimator/train_and_evaluate.h"
#include "frontends/layers.h"
#include "frontends/metrics.h"
#include "frontends/optimizers.h"
#include "graph/ops.h"

ABSL_FLAG(std::string, data_dir, "", "Folder with train-images and test-images, IDX files.");
ABSL_FLAG(std::string, model_dir, "", "Folder for checkpoints.");
ABSL_FLAG(std::string, devices, "cpu:0", "Devices that share each batch, separated by commas.");

namespace tandem {
namespace {

constexpr int64_t kLatent = 4;

// [b, kLatent] to pictures [b, 12, 12, 1].
Tensor Decode(const Tensor& code) {
  Tensor x = Reshape(layers::Dense(code, {.units = 6 * 6 * 8, .activation = Relu}), {kBatch, 6, 6, 8});
  x = layers::UpSampling2D(x);
  x = layers::Conv2D(x, {.filters = 8, .kernel_size = 3, .padding = Padding::kSame, .activation = Relu});
  return layers::Conv2D(x, {.filters = 1, .kernel_size = 3, .padding = Padding::kSame, .activation = Sigmoid});
}

EstimatorSpec ModelFn(const Features& features, const Tensor&, Mode mode, const Params&) {
  GraphBuilder* const graph = features.graph();
  const Tensor image = features["image"];  // [b, 12, 12, 1]
  const Tensor y = layers::Conv2D(image, {.filters = 8, .kernel_size = 3, .strides = 2, .activation = Relu});
  const Tensor hidden = layers::Dense(layers::Flatten(y), {.units = 32, .activation = Relu});
  const Tensor mean = layers::Dense(hidden, {.units = kLatent});
  const Tensor log_variance = layers::Dense(hidden, {.units = kLatent});
  const Tensor noise = RandomNormal(graph, {kBatch, kLatent});
  const Tensor decoded = Decode(mode == Mode::kPredict ? mean : mean + Exp(log_variance / 2.0) * noise);
  if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"code", mean}, {"image", decoded}});
  const Tensor error = ReduceMean(ReduceSum(Square(decoded - image), {1, 2, 3})) * 10.0;
  const Tensor divergence = ReduceMean(ReduceSum(Exp(log_variance) + Square(mean) - 1.0 - log_variance, {1})) / 2.0;
  if (mode == Mode::kEval) {
    return EstimatorSpec::Eval(error + divergence,
                               {{"error", metrics::Mean(error)}, {"divergence", metrics::Mean(divergence)}});
  }
  const Tensor loss = error + divergence * graph->StepScalar("divergence_weight", DType::kFloat32, 0.0);
  return EstimatorSpec::Train(loss, optimizers::Adam({.learning_rate = 0.003}).Minimize(loss));
}

class Anneal : public SessionRunHook {
 public:
  std::string name() const override { return "Anneal"; }
  std::vector<std::string> BeforeRun(RunContext& context) override {
    const double weight = std::min(1.0, static_cast<double>(context.global_step()) / 200);
    context.Fail(context.SetStepScalar("divergence_weight", weight));
    return {};
  }
};

Dataset Pictures(const std::string& file) {
  return Dataset::Idx({JoinPath(absl::GetFlag(FLAGS_data_dir), file)}, {.name = "image"});
}

absl::Status Run() {
  const DistributionStrategy strategy = StrategyFromFlag(absl::GetFlag(FLAGS_devices));
  const int64_t batch = 64 / strategy.num_replicas();
  const InputFn train_input = [=](const InputContext&) {
    return Pictures("train-images").Shuffle(1024).Repeat().Batch(batch);
  };
  const InputFn eval_input = [=](const InputContext&) { return Pictures("test-images").Batch(batch); };
  Estimator estimator(
      ModelFn,
      {.model_dir = absl::GetFlag(FLAGS_model_dir), .save_checkpoints_steps = 100, .train_distribute = strategy});
  const TrainSpec train{.input_fn = train_input, .max_steps = 400, .hooks = {std::make_shared<Anneal>()}};
  TD_ASSIGN_OR_RETURN(const EvalResult result, TrainAndEvaluate(estimator, train, {.input_fn = eval_input}));
  std::printf("%s\n", result.ToString().c_str());
  return absl::OkStatus();
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  return tandem::RunProgram(argc, argv, "learns to draw pictures from few numbers.", tandem::Run);
}

// A training whose model_fn has every kind of summary, for summaries_test.py, which computes from the same input what
// event files must hold.
//
//   show_all MODEL_DIR DEVICES STEPS
//
// Example i of 24 has x[i][j] = sin(3 i + j) for j in 0..3 and the picture p[i][y][x][0] = (5 i + 3 y + x) % 17 / 16 of
// 3 x 2 pixels; its label is i % 3. Batches have 4 examples, those of evaluation 5: the last one is short. Stdout gets,
// as JSON lines, the kernel before each step and the evaluation's loss.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/host_tensor.h"
#include "estimator/train_and_evaluate.h"
#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/optimizers.h"
#include "frontends/summary.h"
#include "graph/ops.h"

namespace tandem {
namespace {

Dataset Examples() {
  constexpr int64_t kCount = 24;
  std::vector<float> x, picture;
  std::vector<uint8_t> colours;
  std::vector<int32_t> label;
  for (int64_t i = 0; i < kCount; ++i) {
    for (int j = 0; j < 4; ++j) x.push_back(static_cast<float>(std::sin(3.0 * static_cast<double>(i) + j)));
    for (int64_t pixel = 0; pixel < 6; ++pixel) {
      const int64_t value = (5 * i + 3 * (pixel / 2) + pixel % 2) % 17;
      picture.push_back(static_cast<float>(value) / 16);
      for (int c = 0; c < 3; ++c) colours.push_back(static_cast<uint8_t>(value + 80 * c));
    }
    label.push_back(static_cast<int32_t>(i % 3));
  }
  return Dataset::FromTensorSlices({{"x", HostTensor::FromVector({kCount, 4}, x)},
                                    {"picture", HostTensor::FromVector({kCount, 3, 2, 1}, picture)},
                                    {"colours", HostTensor::FromVector({kCount, 3, 2, 3}, colours)},
                                    {"label", HostTensor::FromVector({kCount}, label)}});
}

EstimatorSpec ModelFn(const Features& features, const Tensor& labels, Mode mode, const Params&) {
  Tensor x = features["x"];
  Tensor logits = layers::Dense(x, {.units = 3, .name = "head"});
  summary::Image("in", features["picture"], {.max_outputs = 2});
  summary::Histogram("pixels", features["picture"]);
  summary::Image("in/colours", features["colours"], {.max_outputs = 1});
  summary::Text(features.graph(), "note", "a **bold** try");
  if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"logits", logits}});
  summary::Histogram("x", x);
  summary::Histogram("labels", labels);
  summary::Scalar("mean_x", ReduceMean(x));
  summary::Scalar("examples", ReduceSum(Cast(labels, DType::kFloat32) * 0.0 + 1.0));
  Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, logits);
  if (mode == Mode::kEval) return EstimatorSpec::Eval(loss);
  const std::vector<Tensor> variables = features.graph()->trainable_variables();
  summary::Histogram("kernel", variables[0]);
  features.graph()->Output("kernel_before", variables[0]);
  optimizers::SGD({.learning_rate = schedules::ExponentialDecay(
                       {.initial_learning_rate = 0.5, .decay_steps = 10, .decay_rate = 0.9})})
      .Minimize(loss, {.var_list = {variables[0]}});
  return EstimatorSpec::Train(loss,
                              optimizers::SGD({.learning_rate = 0.25}).Minimize(loss, {.var_list = {variables[1]}}));
}

// Prints the kernel before each step.
class PrintKernel : public SessionRunHook {
 public:
  absl::Status Begin(HookContext& context) override {
    context.Fetch("kernel_before");
    return absl::OkStatus();
  }
  std::vector<std::string> BeforeRun(RunContext&) override { return {"kernel_before"}; }
  absl::Status AfterRun(RunContext& context, const RunValues& values) override {
    std::printf("{\"step\": %lld, \"kernel\": [", static_cast<long long>(context.global_step()));
    const char* separator = "";
    for (float value : values.tensors.at("kernel_before").values<float>()) {
      std::printf("%s%.17g", separator, value);
      separator = ", ";
    }
    std::printf("]}\n");
    return absl::OkStatus();
  }
};

int Run(const std::string& model_dir, int devices, int64_t steps) {
  RunConfig config{.model_dir = model_dir, .seed = 3, .save_checkpoints_steps = 5, .save_summary_steps = 10};
  std::vector<std::string> names;
  for (int i = 0; i < devices; ++i) names.push_back("cpu:" + std::to_string(i));
  config.train_distribute = MirroredStrategy(names);
  config.threads = 2;
  Estimator estimator(ModelFn, config, {{"units", 3}, {"rate", 0.25}, {"name", "a|b"}, {"relu", false}});
  const auto train = [](const InputContext&) -> absl::StatusOr<Dataset> { return Examples().Repeat(-1).Batch(4); };
  const auto eval = [](const InputContext&) -> absl::StatusOr<Dataset> { return Examples().Batch(5); };
  const absl::StatusOr<EvalResult> result =
      TrainAndEvaluate(estimator, {.input_fn = train, .max_steps = steps, .hooks = {std::make_shared<PrintKernel>()}},
                       {.input_fn = eval, .throttle_secs = 1e6});
  if (!result.ok()) {
    std::fprintf(stderr, "%s\n", result.status().ToString().c_str());
    return 1;
  }
  std::printf("{\"eval_loss\": %.17g}\n", (*result)["loss"]);
  return 0;
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: show_all MODEL_DIR DEVICES STEPS\n");
    return 2;
  }
  return tandem::Run(argv[1], std::atoi(argv[2]), std::atoi(argv[3]));
}

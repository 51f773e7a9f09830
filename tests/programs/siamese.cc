// Which two views are of one thing: both go through one tower, and each has to find the other among all of its batch.
#include <cstdio>
#include <string>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "base/program.h"
#include "base/status_macros.h"
#include "estimator/config/strategy.h"
#include "estimator/estimator.h"
#include "estimator/train_and_evaluate.h"
#include "frontends/initializers.h"
#include "frontends/losses.h"
#include "frontends/metrics.h"
#include "frontends/optimizers.h"
#include "graph/ops.h"

ABSL_FLAG(std::string, data_dir, "", "Folder with train-left, train-right, test-left and test-right, IDX files.");
ABSL_FLAG(std::string, model_dir, "", "Folder for checkpoints.");
ABSL_FLAG(std::string, devices, "cpu:0", "Devices that share each batch, separated by commas.");

namespace tandem {
namespace {

constexpr int64_t kGlobalBatch = 64, kUnits = 32, kSize = 8;

// The network of both sides, whose variables are made once.
struct Tower {
  Tower(GraphBuilder* graph, int64_t inputs)
      : hidden(Matrix(graph, "tower/hidden", inputs, kUnits)), output(Matrix(graph, "tower/output", kUnits, kSize)) {}
  static Tensor Matrix(GraphBuilder* graph, const std::string& name, int64_t rows, int64_t columns) {
    const Shape shape = {rows, columns};
    return graph->Variable({.name = name, .shape = shape, .initializer = initializers::GlorotUniform()(shape)});
  }
  // [b, inputs] to [b, kSize], of length 1.
  Tensor operator()(const Tensor& x) const {
    const Tensor y = MatMul(Tanh(MatMul(x, hidden)), output);
    return y / Norm(y, {1}, 2, true);
  }

  Tensor hidden, output;
};

EstimatorSpec ModelFn(const Features& features, const Tensor&, Mode mode, const Params& params) {
  const Tower tower(features.graph(), features["left"].shape()[1]);
  const Tensor left = tower(features["left"]);
  if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"embedding", left}});
  const Tensor right = tower(features["right"]);
  const int64_t rows = params.Int("batch", 0) * params.num_replicas();
  const Tensor missing = (1.0 - BatchMask(features.graph(), rows)) * -1e9;
  const Tensor to_right = PairwiseProducts(left, right, rows) / 0.1 + missing;
  const Tensor to_left = PairwiseProducts(right, left, rows) / 0.1 + missing;
  const Tensor own = Iota(features.graph(), {kBatch}, 0, DType::kInt64);
  const Tensor loss =
      (losses::SparseSoftmaxCrossEntropy(own, to_right) + losses::SparseSoftmaxCrossEntropy(own, to_left)) / 2.0;
  if (mode == Mode::kEval) return EstimatorSpec::Eval(loss, {{"found", metrics::Accuracy(own, to_right)}});
  return EstimatorSpec::Train(loss, optimizers::Adam({.learning_rate = 0.01}).Minimize(loss));
}

Dataset Views(const std::string& split) {
  const std::string path = JoinPath(absl::GetFlag(FLAGS_data_dir), split);
  return Dataset::Zip({Dataset::Idx({absl::StrCat(path, "-left")}, {.name = "left"}),
                       Dataset::Idx({absl::StrCat(path, "-right")}, {.name = "right"})});
}

absl::Status Run() {
  const DistributionStrategy strategy = StrategyFromFlag(absl::GetFlag(FLAGS_devices));
  const int64_t batch = kGlobalBatch / strategy.num_replicas();
  const InputFn train_input = [=](const InputContext&) { return Views("train").Shuffle(2048).Repeat().Batch(batch); };
  const InputFn eval_input = [=](const InputContext&) { return Views("test").Batch(batch); };
  Estimator estimator(ModelFn, {.model_dir = absl::GetFlag(FLAGS_model_dir), .train_distribute = strategy},
                      {{"batch", batch}});
  TD_ASSIGN_OR_RETURN(const EvalResult result, TrainAndEvaluate(estimator, {.input_fn = train_input, .max_steps = 400},
                                                                {.input_fn = eval_input}));
  std::printf("%s\n", result.ToString().c_str());
  return absl::OkStatus();
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  return tandem::RunProgram(argc, argv, "learns which views are of one thing.", tandem::Run);
}

// A loop of one's own around the steps: it prints each layer's norm of the gradient, evaluates, and saves what is the
// best so far.
#include <cstdio>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "base/program.h"
#include "base/status_macros.h"
#include "estimator/estimator.h"
#include "estimator/monitored_training_session.h"
#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/metrics.h"
#include "frontends/optimizers.h"
#include "graph/ops.h"

ABSL_FLAG(std::string, data_dir, "", "Folder with train-images, train-labels, test-images and test-labels, IDX files.");
ABSL_FLAG(std::string, model_dir, "", "Folder for checkpoints.");

namespace tandem {
namespace {

EstimatorSpec ModelFn(const Features& features, const Tensor& labels, Mode mode, const Params&) {
  Tensor x = layers::Conv2D(features["image"], {.filters = 8, .kernel_size = 5, .activation = Relu, .name = "conv"});
  x = layers::Dense(layers::Flatten(x), {.units = 32, .activation = Relu, .name = "hidden"});
  const Tensor logits = layers::Dense(x, {.units = 4, .name = "scores"});
  if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"class", ArgMax(logits, -1)}});
  const Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, logits);
  if (mode == Mode::kEval) return EstimatorSpec::Eval(loss, {{"accuracy", metrics::Accuracy(labels, logits)}});
  const Optimizer adam = optimizers::Adam({.learning_rate = 0.002});
  const std::vector<GradientAndVariable> gradients = adam.ComputeGradients(loss);
  for (const GradientAndVariable& g : gradients) x.graph()->Output(absl::StrCat("norm/", g.name), Norm(g.gradient));
  return EstimatorSpec::Train(loss, adam.ApplyGradients(gradients));
}

Dataset Pictures(const std::string& split) {
  const std::string path = JoinPath(absl::GetFlag(FLAGS_data_dir), split);
  return Dataset::Zip({Dataset::Idx({absl::StrCat(path, "-images")}, {.name = "image"}),
                       Dataset::Idx({absl::StrCat(path, "-labels")}, {.name = "label"})});
}

absl::Status Run() {
  const InputFn train_input = [](const InputContext&) { return Pictures("train").Shuffle(1200).Repeat().Batch(64); };
  const InputFn eval_input = [](const InputContext&) { return Pictures("test").Batch(64); };
  const std::vector<std::string> norms = {"norm/conv/kernel", "norm/hidden/kernel", "norm/scores/kernel"};
  Estimator estimator(ModelFn, {.model_dir = absl::GetFlag(FLAGS_model_dir)});
  TD_ASSIGN_OR_RETURN(const auto session,
                      MonitoredTrainingSession::Start(estimator, train_input, {.max_steps = 300}, norms));
  double best = estimator.best() ? estimator.best()->loss : 1e9;
  while (!session->ShouldStop()) {
    TD_ASSIGN_OR_RETURN(const RunValues values, session->Run());
    if (session->global_step() % 50 != 0) continue;
    std::printf("step %d: loss %.4f", static_cast<int>(session->global_step()), values.Number("loss"));
    for (const std::string& norm : norms) std::printf(", %s %.4f", norm.c_str(), values.Number(norm));
    TD_ASSIGN_OR_RETURN(const EvalResult result, estimator.Evaluate(eval_input));
    std::printf(", %s\n", result.ToString().c_str());
    if (result["loss"] >= best) continue;
    best = result["loss"];
    TD_RETURN_IF_ERROR(session->Save());
  }
  return session->Close();
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  return tandem::RunProgram(argc, argv, "trains with a loop of its own.", tandem::Run);
}

// A small network learns from a large one, whose weights are taken over under another name and stay as they are.
#include <cstdio>
#include <string>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "base/program.h"
#include "base/status_macros.h"
#include "estimator/estimator.h"
#include "estimator/train_and_evaluate.h"
#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/metrics.h"
#include "frontends/optimizers.h"
#include "graph/ops.h"

ABSL_FLAG(std::string, data_dir, "", "Folder with train-images, train-labels, test-images and test-labels, IDX files.");
ABSL_FLAG(std::string, model_dir, "", "Folder for folders teacher and student with checkpoints.");

namespace tandem {
namespace {

constexpr double kTemperature = 4;

// Scores of pictures [b, h, w, 1], [b, 4].
Tensor Convnet(const Tensor& image, int64_t filters) {
  Tensor x = layers::Conv2D(image, {.filters = filters, .kernel_size = 5, .activation = Relu});
  x = layers::MaxPooling2D(x);
  x = layers::Dense(layers::Flatten(x), {.units = 4 * filters, .activation = Relu});
  return layers::Dense(x, {.units = 4});
}

EstimatorSpec Spec(const Tensor& labels, const Tensor& logits, const Tensor& loss, Mode mode,
                   const Optimizer& optimizer) {
  const Metric accuracy = metrics::Accuracy(labels, logits);
  if (mode == Mode::kEval) return EstimatorSpec::Eval(loss, {{"accuracy", accuracy}});
  return EstimatorSpec::Train(loss, optimizer.Minimize(loss), {{"accuracy", accuracy}});
}

EstimatorSpec Teacher(const Features& features, const Tensor& labels, Mode mode, const Params&) {
  const Tensor logits = Convnet(features["image"], 8);
  if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"class", ArgMax(logits, -1)}});
  return Spec(labels, logits, losses::SparseSoftmaxCrossEntropy(labels, logits), mode,
              optimizers::Adam({.learning_rate = 0.003}));
}

// Its loss knows no labels, only what the teacher says.
EstimatorSpec Student(const Features& features, const Tensor& labels, Mode mode, const Params&) {
  const Tensor logits = Convnet(features["image"], 3);
  if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"class", ArgMax(logits, -1)}});
  Tensor teacher_logits;
  {
    const NameScope scope(features.graph(), "teacher");
    teacher_logits = Convnet(features["image"], 8);
  }
  const Tensor soft = Softmax(teacher_logits / kTemperature);
  const Tensor loss = losses::SoftmaxCrossEntropy(soft, logits / kTemperature) * (kTemperature * kTemperature);
  return Spec(labels, logits, loss, mode,
              optimizers::Adam({.learning_rate = 0.003}).WithGroup({.variables = "teacher/.*", .frozen = true}));
}

Dataset Pictures(const std::string& split) {
  const std::string path = JoinPath(absl::GetFlag(FLAGS_data_dir), split);
  return Dataset::Zip({Dataset::Idx({absl::StrCat(path, "-images")}, {.name = "image"}),
                       Dataset::Idx({absl::StrCat(path, "-labels")}, {.name = "label"})});
}

absl::StatusOr<EvalResult> TrainModel(const ModelFn& model_fn, const RunConfig& config) {
  const InputFn train_input = [](const InputContext&) { return Pictures("train").Shuffle(1200).Repeat().Batch(64); };
  const InputFn eval_input = [](const InputContext&) { return Pictures("test").Batch(64); };
  Estimator estimator(model_fn, config);
  return TrainAndEvaluate(estimator, {.input_fn = train_input, .max_steps = 300}, {.input_fn = eval_input});
}

absl::Status Run() {
  const RunConfig teacher{.model_dir = JoinPath(absl::GetFlag(FLAGS_model_dir), "teacher")};
  TD_ASSIGN_OR_RETURN(const EvalResult taught, TrainModel(Teacher, teacher));
  RunConfig student{.model_dir = JoinPath(absl::GetFlag(FLAGS_model_dir), "student")};
  student.warm_start_from = WarmStartSettings{
      .path = teacher.model_dir, .vars_to_warm_start = "teacher/.*", .var_name_replacements = {{"^teacher/", ""}}};
  TD_ASSIGN_OR_RETURN(const EvalResult learned, TrainModel(Student, student));
  std::printf("teacher: %s\nstudent: %s\n", taught.ToString().c_str(), learned.ToString().c_str());
  return absl::OkStatus();
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  return tandem::RunProgram(argc, argv, "has a small network learn from a large one.", tandem::Run);
}

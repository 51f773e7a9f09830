// The tutorial "Multi-worker training with Estimator" in one process: an input_fn that shards, a model_fn for three
// modes, gradient descent, and TrainAndEvaluate. Trains on Fashion-MNIST unless --data_dir names MNIST's files.
#include <cstdio>
#include <memory>
#include <string>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "base/flags.h"
#include "base/program.h"
#include "base/status_macros.h"
#include "data/fashion_mnist.h"
#include "estimator/estimator.h"
#include "estimator/train_and_evaluate.h"
#include "frontends/activations.h"
#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/metrics.h"
#include "frontends/optimizers.h"
#include "graph/ops.h"
#include "samples/common_flags.h"
#include "samples/eval_flags.h"
#include "samples/exporters.h"

ABSL_FLAG(std::string, data_dir, tandem::kFashionMnistDir,
          "Folder with train-images-idx3-ubyte and its three companions, plain or .gz.");
ABSL_FLAG(std::string, model_dir, "", "Folder for checkpoints and compiled programs. Empty: a temporary folder.");
ABSL_FLAG(int64_t, batch_size, 64, "Images per step.");
ABSL_FLAG(int64_t, max_steps, 1000, "Train until this global step.");
ABSL_FLAG(double, learning_rate, 1e-4, "Learning rate of gradient descent.");
ABSL_FLAG(bool, export, false, tandem::kExportHelp);

namespace tandem {
namespace {

constexpr int kBufferSize = 10000;

EstimatorSpec ModelFn(const Features& features, const Tensor& labels, Mode mode, const Params& params) {
  Tensor x = layers::Conv2D(features["image"], {.filters = 32, .kernel_size = 3, .activation = Relu});
  x = layers::MaxPool2D(x);
  x = layers::Dense(layers::Flatten(x), {.units = 64, .activation = Relu});
  Tensor logits = layers::Dense(x, {.units = 10});
  if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"logits", logits}});
  // The mean over the examples of the global batch. (The tutorial writes sum * 1/64, which halves the loss of a last
  // batch that is half full.)
  Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, logits);
  if (mode == Mode::kEval) {
    return EstimatorSpec::Eval(loss, {{"accuracy", metrics::Accuracy(labels, ArgMax(logits, -1))}});
  }
  return EstimatorSpec::Train(
      loss, optimizers::GradientDescent({.learning_rate = params.Number("learning_rate", 1e-4)}).Minimize(loss));
}

absl::StatusOr<Dataset> Images(FashionMnistSplit split) {
  TD_ASSIGN_OR_RETURN(const LabelledImages raw, LoadFashionMnistSplit(split, absl::GetFlag(FLAGS_data_dir)));
  TD_ASSIGN_OR_RETURN(const HostTensor images, ScaledImages(raw.images));
  TD_ASSIGN_OR_RETURN(const HostTensor labels, Int32Labels(raw.labels));
  return Dataset::FromTensorSlices({{"image", images}, {"label", labels}});
}

absl::StatusOr<Dataset> TrainInput(const InputContext& context) {
  TD_ASSIGN_OR_RETURN(const Dataset images, Images(FashionMnistSplit::kTrain));
  return images.Shard(context.num_input_pipelines, context.input_pipeline_id)
      .Shuffle(kBufferSize)
      .Repeat()
      .Batch(absl::GetFlag(FLAGS_batch_size))
      .Prefetch();
}

absl::StatusOr<Dataset> EvalInput(const InputContext& context) {
  TD_ASSIGN_OR_RETURN(const Dataset images, Images(FashionMnistSplit::kTest));
  return images.Batch(absl::GetFlag(FLAGS_batch_size)).Prefetch();
}

absl::Status Run() {
  if (const double rate = absl::GetFlag(FLAGS_learning_rate); !(rate > 0)) {
    return absl::InvalidArgumentError(absl::StrCat("--learning_rate must be positive, got ", rate));
  }
  RunConfig config{.model_dir = absl::GetFlag(FLAGS_model_dir)};
  TD_RETURN_IF_ERROR(ApplyCommonFlags(&config));
  Estimator estimator(ModelFn, config, {{"learning_rate", absl::GetFlag(FLAGS_learning_rate)}});
  EvalSpec eval{.input_fn = EvalInput};
  ApplyEvalFlags(&eval);
  if (absl::GetFlag(FLAGS_export)) eval.exporters = ExportersOf(EvalInput);
  TD_ASSIGN_OR_RETURN(const EvalResult result, TrainAndEvaluate(estimator,
                                                                {.input_fn = TrainInput,
                                                                 .max_steps = absl::GetFlag(FLAGS_max_steps),
                                                                 .hooks = EarlyStoppingHooks(estimator)},
                                                                eval));
  if (!(estimator.is_chief() || estimator.is_evaluator()) || result.empty()) return absl::OkStatus();
  std::printf("%s\n", result.ToString().c_str());
  return absl::OkStatus();
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  return tandem::RunProgram(argc, argv, "trains a small convnet with gradient descent.", tandem::Run);
}

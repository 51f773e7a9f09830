// The tutorial "Multi-worker training with Estimator": an input_fn that shards, a model_fn for three modes, gradient
// descent, and TrainAndEvaluate. One process trains alone; those that TF_CONFIG or tandem-launch describe train
// together. Trains on Fashion-MNIST unless --data_dir names MNIST's files.
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "samples/exporters.h"
#include "samples/loss_log.h"
#include "tandem/base/flags.h"
#include "tandem/base/output_file.h"
#include "tandem/base/program.h"
#include "tandem/base/status_macros.h"
#include "tandem/data/fashion_mnist.h"
#include "tandem/estimator/estimator.h"
#include "tandem/estimator/flags/eval_flags.h"
#include "tandem/estimator/flags/run_config_flags.h"
#include "tandem/estimator/train_and_evaluate.h"
#include "tandem/frontends/activations.h"
#include "tandem/frontends/layers.h"
#include "tandem/frontends/losses.h"
#include "tandem/frontends/metrics.h"
#include "tandem/frontends/optimizers.h"
#include "tandem/graph/ops.h"

ABSL_FLAG(std::string, data_dir, tandem::kFashionMnistDir,
          "Folder with train-images-idx3-ubyte and its three companions, plain or .gz.");
ABSL_FLAG(std::string, model_dir, "", "Folder for checkpoints and compiled programs. Empty: a temporary folder.");
ABSL_FLAG(std::string, devices, "cpu:0", tandem::kDevicesHelp);
ABSL_FLAG(int64_t, batch_size, 64, "Images per replica and step.");
ABSL_FLAG(int64_t, shuffle_buffer, 10000, "Images in the shuffle buffer; 0: file order.");
ABSL_FLAG(int64_t, max_steps, 1000, "Train until this global step.");
ABSL_FLAG(double, learning_rate, 1e-4, "Learning rate of gradient descent.");
ABSL_FLAG(int64_t, save_checkpoints_steps, 0, "Steps between checkpoints; 0: one every 600 seconds.");
ABSL_FLAG(std::string, loss_log, "", "Write {\"step\", \"loss\"} as a JSON line for every step to this file.");
ABSL_FLAG(std::string, eval_json, "", "Write accuracy, loss and global_step of the last evaluation to this file.");
ABSL_FLAG(bool, export, false, tandem::kExportHelp);
ABSL_FLAG(int, threads, 0, "Threads in total; 0: one per core. Does not change results.");
ABSL_FLAG(int64_t, seed, 0, "Of the initial weights and of the order of the images.");

namespace tandem {
namespace {

EstimatorSpec ModelFn(const Features& features, const Tensor& labels, Mode mode, const Params& params) {
  Tensor x = layers::Conv2D(features["image"], {.filters = 32, .kernel_size = 3, .activation = Relu});
  x = layers::MaxPooling2D(x);
  x = layers::Dense(layers::Flatten(x), {.units = 64, .activation = Relu});
  Tensor logits = layers::Dense(x, {.units = 10});
  if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"logits", logits}});
  // The loss is the mean over the examples of the global batch. (The tutorial writes sum * 1/64, which halves the loss
  // of a last batch that is half full.)
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
  const Dataset shard = images.Shard(context.num_input_pipelines, context.input_pipeline_id);
  const int64_t buffer = absl::GetFlag(FLAGS_shuffle_buffer);
  const uint64_t seed = static_cast<uint64_t>(absl::GetFlag(FLAGS_seed));
  return (buffer == 0 ? shard : shard.Shuffle(buffer, {.seed = seed}))
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
  for (const auto& [flag, value] :
       {std::make_pair("shuffle_buffer", absl::GetFlag(FLAGS_shuffle_buffer)),
        std::make_pair("save_checkpoints_steps", absl::GetFlag(FLAGS_save_checkpoints_steps))}) {
    if (value < 0) return absl::InvalidArgumentError(absl::StrCat("--", flag, " must not be negative, got ", value));
  }
  RunConfig config{.model_dir = absl::GetFlag(FLAGS_model_dir),
                   .seed = absl::GetFlag(FLAGS_seed),
                   .train_distribute = DevicesFromFlag(absl::GetFlag(FLAGS_devices)),
                   .threads = absl::GetFlag(FLAGS_threads)};
  if (const int64_t steps = absl::GetFlag(FLAGS_save_checkpoints_steps); steps != 0) {
    config.save_checkpoints_steps = steps;
  }
  TD_RETURN_IF_ERROR(ApplyRunConfigFlags(&config));
  const std::string loss_log = absl::GetFlag(FLAGS_loss_log), eval_json = absl::GetFlag(FLAGS_eval_json);
  TD_RETURN_IF_ERROR(CheckOutputFiles(config, {{"--loss_log", loss_log}, {"--eval_json", eval_json}}));
  Estimator estimator(ModelFn, config, {{"learning_rate", absl::GetFlag(FLAGS_learning_rate)}});
  HookList hooks = EarlyStoppingHooks(estimator);
  if (!loss_log.empty() && estimator.is_chief()) hooks.push_back(std::make_shared<LossLog>(loss_log));
  EvalSpec eval{.input_fn = EvalInput};
  ApplyEvalFlags(&eval);
  if (absl::GetFlag(FLAGS_export)) eval.exporters = ExportersOf(EvalInput);
  TD_ASSIGN_OR_RETURN(
      const EvalResult result,
      TrainAndEvaluate(estimator, {.input_fn = TrainInput, .max_steps = absl::GetFlag(FLAGS_max_steps), .hooks = hooks},
                       eval));
  if (!(estimator.is_chief() || estimator.is_evaluator()) || result.empty()) return absl::OkStatus();
  std::printf("%s\n", result.ToString().c_str());
  if (eval_json.empty()) return absl::OkStatus();
  return WriteOutputFile(config.file_env(), "--eval_json", eval_json, absl::StrCat(result.ToJson(), "\n"));
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  return tandem::RunProgram(argc, argv, "trains a small convnet with gradient descent.", tandem::Run);
}

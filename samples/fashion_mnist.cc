// Trains a convnet on Fashion-MNIST with TrainAndEvaluate, on one or several devices.
//
//   bazel-bin/samples/fashion_mnist --model_dir=/tmp/fashion
//
// or from records, as in docs/guide/data.md:
//
//   bazel-bin/samples/fashion_mnist --train_records='/tmp/train-*' --max_steps=1000
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "samples/exporters.h"
#include "samples/fashion_input.h"
#include "samples/loss_log.h"
#include "samples/models.h"
#include "samples/record_input.h"
#include "samples/time_history.h"
#include "tandem/base/env.h"
#include "tandem/base/program.h"
#include "tandem/base/status_macros.h"
#include "tandem/estimator/estimator.h"
#include "tandem/estimator/flags/eval_flags.h"
#include "tandem/estimator/flags/run_config_flags.h"
#include "tandem/estimator/train_and_evaluate.h"

ABSL_FLAG(std::string, model, "zalando", "Which convnet: zalando, mnist or multi_gpu.");
ABSL_FLAG(std::string, data_dir, tandem::kFashionMnistDir,
          "Folder with train-images-idx3-ubyte and its three companions, plain or .gz.");
ABSL_FLAG(std::string, train_records, "",
          "Train on the GZIP TFRecord files that this pattern matches, as tandem-records write makes them, instead of "
          "the training images of --data_dir. Needs --max_steps.");
ABSL_FLAG(std::string, model_dir, "",
          "Folder for checkpoints and compiled programs; training goes on from its latest checkpoint. Empty: a "
          "temporary folder.");
ABSL_FLAG(std::string, devices, "auto", tandem::kDevicesHelp);
ABSL_FLAG(int64_t, batch_size, 64, "Images per replica and step.");
ABSL_FLAG(int64_t, epochs, 5, "Passes over the training images.");
ABSL_FLAG(int64_t, max_steps, 0, "Train until this global step, however many epochs that takes; 0: as --epochs says.");
ABSL_FLAG(int64_t, shuffle_buffer, 5000, "Images in the shuffle buffer; 0: file order.");
ABSL_FLAG(std::string, optimizer, "", "adam, momentum, sgd or rmsprop; empty: the model's usual one.");
ABSL_FLAG(double, learning_rate, 0, "Learning rate; 0: the optimizer's usual one.");
ABSL_FLAG(std::string, learning_rate_schedule, "constant",
          "\"constant\", or \"cosine\": from --learning_rate down to 0 at the last step.");
ABSL_FLAG(int64_t, save_checkpoints_steps, 0, "Steps between checkpoints; 0: one every 600 seconds.");
ABSL_FLAG(double, dropout, -1, "Rate of the dropout layers; -1: the model's own.");
ABSL_FLAG(std::string, init_from, "", "A .safetensors file or checkpoint with initial weights, for a new model_dir.");
ABSL_FLAG(std::string, loss_log, "", "Write {\"step\", \"loss\"} as a JSON line for every step to this file.");
ABSL_FLAG(std::string, eval_json, "", "Write accuracy, loss and global_step of the last evaluation to this file.");
ABSL_FLAG(std::string, eval_examples, "test", "Evaluate on \"test\", or on the first N training images: \"train:N\".");
ABSL_FLAG(bool, export, false, tandem::kExportHelp);
ABSL_FLAG(int, threads, 0, "Threads in total; 0: one per core. Does not change results.");
ABSL_FLAG(int64_t, seed, 0, "Of the initial weights, shuffling and dropout.");

namespace tandem {
namespace {

absl::Status CheckPositive(const char* flag, int64_t value) {
  if (value > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--", flag, " must be positive, got ", value));
}

absl::Status CheckNotNegative(const char* flag, double value) {
  if (value >= 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--", flag, " must not be negative, got ", value));
}

absl::Status CheckNumbers() {
  TD_RETURN_IF_ERROR(CheckPositive("batch_size", absl::GetFlag(FLAGS_batch_size)));
  TD_RETURN_IF_ERROR(CheckPositive("epochs", absl::GetFlag(FLAGS_epochs)));
  TD_RETURN_IF_ERROR(CheckNotNegative("max_steps", absl::GetFlag(FLAGS_max_steps)));
  TD_RETURN_IF_ERROR(CheckNotNegative("shuffle_buffer", absl::GetFlag(FLAGS_shuffle_buffer)));
  TD_RETURN_IF_ERROR(CheckNotNegative("learning_rate", absl::GetFlag(FLAGS_learning_rate)));
  TD_RETURN_IF_ERROR(CheckNotNegative("save_checkpoints_steps", absl::GetFlag(FLAGS_save_checkpoints_steps)));
  const double dropout = absl::GetFlag(FLAGS_dropout);
  if (dropout == -1 || (dropout >= 0 && dropout < 1)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--dropout must be at least 0 and less than 1, or -1, got ", dropout));
}

absl::StatusOr<RunConfig> MakeConfig() {
  RunConfig config{.model_dir = absl::GetFlag(FLAGS_model_dir),
                   .seed = absl::GetFlag(FLAGS_seed),
                   .train_distribute = DevicesFromFlag(absl::GetFlag(FLAGS_devices)),
                   .threads = absl::GetFlag(FLAGS_threads)};
  if (const int64_t steps = absl::GetFlag(FLAGS_save_checkpoints_steps); steps != 0) {
    config.save_checkpoints_steps = steps;
  }
  if (const std::string path = absl::GetFlag(FLAGS_init_from); !path.empty()) {
    config.warm_start_from = WarmStartSettings{.path = path};
  }
  TD_RETURN_IF_ERROR(ApplyRunConfigFlags(&config));
  return config;
}

absl::Status Run() {
  TD_ASSIGN_OR_RETURN(const SampleModel model, SampleModelByName(absl::GetFlag(FLAGS_model)));
  TD_ASSIGN_OR_RETURN(const EvalExamples eval_examples, ParseEvalExamples(absl::GetFlag(FLAGS_eval_examples)));
  const int64_t batch_size = absl::GetFlag(FLAGS_batch_size);
  TD_RETURN_IF_ERROR(CheckNumbers());
  const std::string optimizer =
      absl::GetFlag(FLAGS_optimizer).empty() ? model.optimizer : absl::GetFlag(FLAGS_optimizer);
  TD_RETURN_IF_ERROR(CheckOptimizerName(optimizer));
  const std::string schedule = absl::GetFlag(FLAGS_learning_rate_schedule);
  if (schedule != "constant" && schedule != "cosine") {
    return absl::InvalidArgumentError(
        absl::StrCat("--learning_rate_schedule=", schedule, " is unknown; use constant or cosine"));
  }
  TD_ASSIGN_OR_RETURN(const RunConfig config, MakeConfig());
  TD_RETURN_IF_ERROR(config.Validate());  // wrong settings are reported before the data is read
  TD_RETURN_IF_ERROR(config.CheckDevices());
  TD_RETURN_IF_ERROR(CheckOutputFiles(config, {{"--eval_json", absl::GetFlag(FLAGS_eval_json)},
                                               {"--loss_log", absl::GetFlag(FLAGS_loss_log)},
                                               {"--trace", config.trace}}));

  const std::string data_dir = absl::GetFlag(FLAGS_data_dir);
  auto train_data = std::make_shared<FashionInput>(data_dir, FashionMnistSplit::kTrain, model.one_hot_labels);
  auto eval_data = eval_examples.split == FashionMnistSplit::kTrain
                       ? train_data
                       : std::make_shared<FashionInput>(data_dir, FashionMnistSplit::kTest, model.one_hot_labels);
  int64_t max_steps = absl::GetFlag(FLAGS_max_steps);
  const std::string records = absl::GetFlag(FLAGS_train_records);
  if (max_steps == 0 && !records.empty()) {
    return absl::InvalidArgumentError(
        "--train_records needs --max_steps: how many records there are is known only when they are read");
  }
  if (max_steps == 0) {
    TD_ASSIGN_OR_RETURN(const int64_t examples, train_data->examples());
    TD_ASSIGN_OR_RETURN(const int replicas, config.TotalReplicas());
    max_steps = StepsForEpochs(examples, absl::GetFlag(FLAGS_epochs), batch_size * config.accumulate_batches, replicas);
  }

  Estimator estimator(model.model_fn, config,
                      {{"optimizer", optimizer},
                       {"learning_rate", absl::GetFlag(FLAGS_learning_rate)},
                       {"decay_steps", schedule == "cosine" ? static_cast<double>(max_steps) : 0.0},
                       {"dropout", absl::GetFlag(FLAGS_dropout)}});
  HookList hooks = EarlyStoppingHooks(estimator);
  hooks.push_back(std::make_shared<TimeHistory>());
  if (const std::string path = absl::GetFlag(FLAGS_loss_log); !path.empty() && estimator.is_chief()) {
    hooks.push_back(std::make_shared<LossLog>(path));
  }
  // The input is endless, so that max_steps ends the training, also after a restart in the middle of an epoch.
  const TrainInputOptions train_input{.batch_size = batch_size,
                                      .epochs = -1,
                                      .shuffle_buffer = absl::GetFlag(FLAGS_shuffle_buffer),
                                      .seed = static_cast<uint64_t>(absl::GetFlag(FLAGS_seed))};
  const InputFn eval_input = EvalInputFn(eval_data, batch_size, eval_examples.count);
  EvalSpec eval{.input_fn = eval_input};
  ApplyEvalFlags(&eval);
  if (absl::GetFlag(FLAGS_export)) eval.exporters = ExportersOf(eval_input);
  TD_ASSIGN_OR_RETURN(
      const EvalResult result,
      TrainAndEvaluate(estimator,
                       {.input_fn = records.empty() ? TrainInputFn(train_data, train_input)
                                                    : RecordInputFn(records, model.one_hot_labels, train_input),
                        .max_steps = max_steps,
                        .hooks = hooks},
                       eval));
  const bool tells = estimator.is_chief() || estimator.is_evaluator();
  if (config.compile_only || !tells || result.empty()) return absl::OkStatus();
  std::printf("%s\n", result.ToString().c_str());
  if (const std::string path = absl::GetFlag(FLAGS_eval_json); !path.empty()) {
    TD_RETURN_IF_ERROR(Env::Default()->WriteFileAtomically(path, absl::StrCat(result.ToJson(), "\n")));
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  return tandem::RunProgram(argc, argv, "trains a convnet on Fashion-MNIST with TrainAndEvaluate.", tandem::Run);
}

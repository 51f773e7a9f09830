// Trains a network to tell classes of pictures apart, from JPEG and PNG files in one folder for each class: the second
// part of "Fashion-MNIST with Estimators", whose pictures are of retinas (OCT).
//
//   bazel-bin/tools/tandem-textures /tmp/textures --per_class=500
//   bazel-bin/samples/classify_pictures --data_dir=/tmp/textures --model_dir=/tmp/pictures
//
// or, as in the tutorial, VGG16 with weights that were trained on other pictures, of which all but the last block stay
// as they are:
//
//   bazel-bin/samples/classify_pictures --data_dir=OCT2017 --network=vgg16 --init_from=vgg16.safetensors
#include <cstdio>
#include <string>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "samples/exporters.h"
#include "samples/fashion_input.h"
#include "samples/networks.h"
#include "samples/picture_input.h"
#include "tandem/base/logging.h"
#include "tandem/base/program.h"
#include "tandem/base/status_macros.h"
#include "tandem/estimator/estimator.h"
#include "tandem/estimator/flags/eval_flags.h"
#include "tandem/estimator/flags/run_config_flags.h"
#include "tandem/estimator/train_and_evaluate.h"
#include "tandem/frontends/layers.h"
#include "tandem/frontends/losses.h"
#include "tandem/frontends/metrics.h"
#include "tandem/frontends/optimizers.h"
#include "tandem/graph/ops.h"

ABSL_FLAG(std::string, data_dir, "",
          "Folder with a folder of JPEG or PNG files for each class, of which every tenth is a test picture; or with "
          "folders train and test that have them.");
ABSL_FLAG(std::string, model_dir, "",
          "Folder for checkpoints and compiled programs; training goes on from its latest checkpoint. Empty: a "
          "temporary folder.");
ABSL_FLAG(std::string, network, "small", "small: three convolutions; or vgg16.");
ABSL_FLAG(std::string, init_from, "",
          "A .safetensors file or checkpoint with first weights, for a new model_dir; those of another shape, such as "
          "of another number of classes, keep their initialisers.");
ABSL_FLAG(bool, train_all, false, "Of vgg16: train all layers, not only the last block and the classifier.");
ABSL_FLAG(int64_t, image_size, 224, "Height and width that pictures are resized to; a multiple of 32 for vgg16.");
ABSL_FLAG(std::string, devices, "auto", tandem::kDevicesHelp);
ABSL_FLAG(int64_t, batch_size, 16, "Pictures per replica and step.");
ABSL_FLAG(int64_t, epochs, 10, "Passes over the pictures.");
ABSL_FLAG(int64_t, max_steps, 0, "Train until this global step, however many epochs that takes; 0: as --epochs says.");
ABSL_FLAG(double, learning_rate, 0, "Of Adam; 0: 1e-3, of vgg16 1e-4.");
ABSL_FLAG(int64_t, save_checkpoints_steps, 0, "Steps between checkpoints; 0: one every 600 seconds.");
ABSL_FLAG(bool, export, false, tandem::kExportHelp);
ABSL_FLAG(int, threads, 0, "Threads in total; 0: one per core. Does not change results.");
ABSL_FLAG(int64_t, seed, 0, "Of the first weights and of the order of the pictures.");

namespace tandem {
namespace {

EstimatorSpec ModelFn(const Features& features, const Tensor& labels, Mode mode, const Params& params) {
  const networks::NetworkOptions options{.classes = static_cast<int64_t>(params.Number("classes", 0)),
                                         .training = mode == Mode::kTrain};
  const Tensor image = features["image"];
  const bool vgg16 = params.String("network", "") == "vgg16", train_all = params.Number("train_all", 0) != 0;
  const Tensor logits =
      vgg16 ? networks::Vgg16(image, train_all, options) : networks::SmallPictureConvnet(image, options);
  if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"probabilities", Softmax(logits)}});
  const Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, logits);
  if (mode == Mode::kEval) {
    return EstimatorSpec::Eval(loss, {{"accuracy", metrics::Accuracy(labels, ArgMax(logits, -1))}});
  }
  return EstimatorSpec::Train(loss,
                              optimizers::Adam({.learning_rate = params.Number("learning_rate", 1e-3)}).Minimize(loss));
}

absl::Status CheckFlags() {
  if (absl::GetFlag(FLAGS_data_dir).empty()) {
    return absl::InvalidArgumentError("--data_dir is missing: a folder with a folder of pictures for each class");
  }
  const std::string network = absl::GetFlag(FLAGS_network);
  if (network != "small" && network != "vgg16") {
    return absl::InvalidArgumentError(absl::StrCat("--network=", network, " is unknown; use small or vgg16"));
  }
  const int64_t size = absl::GetFlag(FLAGS_image_size);
  if (size < 32 || size > 4096 || (network == "vgg16" && size % 32 != 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--image_size=", size, " must be from 32 to 4096, and a multiple of 32 for vgg16"));
  }
  for (const auto& [flag, value] : {std::make_pair("batch_size", absl::GetFlag(FLAGS_batch_size)),
                                    std::make_pair("epochs", absl::GetFlag(FLAGS_epochs))}) {
    if (value < 1) return absl::InvalidArgumentError(absl::StrCat("--", flag, " must be positive, got ", value));
  }
  if (const double rate = absl::GetFlag(FLAGS_learning_rate); !(rate >= 0)) {
    return absl::InvalidArgumentError(absl::StrCat("--learning_rate must not be negative, got ", rate));
  }
  return absl::OkStatus();
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
    config.warm_start_from = WarmStartSettings{.path = path, .on_shape_mismatch = ShapeMismatch::kSkip};
  }
  TD_RETURN_IF_ERROR(ApplyRunConfigFlags(&config));
  TD_RETURN_IF_ERROR(config.Validate());
  TD_RETURN_IF_ERROR(config.CheckDevices());
  return config;
}

absl::Status Run() {
  TD_RETURN_IF_ERROR(CheckFlags());
  TD_ASSIGN_OR_RETURN(const RunConfig config, MakeConfig());
  TD_ASSIGN_OR_RETURN(const PictureFolders pictures, FindPictures(absl::GetFlag(FLAGS_data_dir)));
  const int64_t examples = pictures.train.files.size();
  TD_LOG(INFO) << examples << " pictures to train on and " << pictures.test.files.size() << " to test, of "
               << pictures.classes.size() << " classes: " << absl::StrJoin(pictures.classes, ", ");
  const bool vgg16 = absl::GetFlag(FLAGS_network) == "vgg16";
  PictureInputOptions input{.size = absl::GetFlag(FLAGS_image_size),
                            .pixels = vgg16 ? PicturePixels::kCaffe : PicturePixels::kCentred,
                            .batch_size = absl::GetFlag(FLAGS_batch_size),
                            .seed = static_cast<uint64_t>(absl::GetFlag(FLAGS_seed))};
  const InputFn eval_input = PictureInputFn(pictures.test, input);
  input.training = true;

  int64_t max_steps = absl::GetFlag(FLAGS_max_steps);
  if (max_steps == 0) {
    TD_ASSIGN_OR_RETURN(const int replicas, config.TotalReplicas());
    max_steps =
        StepsForEpochs(examples, absl::GetFlag(FLAGS_epochs), input.batch_size * config.accumulate_batches, replicas);
  }
  double rate = absl::GetFlag(FLAGS_learning_rate);
  if (rate == 0) rate = vgg16 ? 1e-4 : 1e-3;
  Estimator estimator(ModelFn, config,
                      {{"network", absl::GetFlag(FLAGS_network)},
                       {"train_all", absl::GetFlag(FLAGS_train_all) ? 1.0 : 0.0},
                       {"classes", static_cast<double>(pictures.classes.size())},
                       {"learning_rate", rate}});
  EvalSpec eval{.input_fn = eval_input};
  ApplyEvalFlags(&eval);
  if (absl::GetFlag(FLAGS_export)) eval.exporters = ExportersOf(eval_input);
  TD_ASSIGN_OR_RETURN(const EvalResult result, TrainAndEvaluate(estimator,
                                                                {.input_fn = PictureInputFn(pictures.train, input),
                                                                 .max_steps = max_steps,
                                                                 .hooks = EarlyStoppingHooks(estimator)},
                                                                eval));
  const bool tells = estimator.is_chief() || estimator.is_evaluator();
  if (tells && !result.empty()) std::printf("%s\n", result.ToString().c_str());
  return absl::OkStatus();
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  return tandem::RunProgram(argc, argv, "trains a network to tell classes of pictures apart.", tandem::Run);
}

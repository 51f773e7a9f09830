// The second part of the tutorial "Fashion-MNIST with Estimators": VGG16 without its top, with its first blocks frozen,
// is trained by an Estimator on several devices, on pictures of retinas (OCT2017) in folders. Other pictures can be
// used too: tandem-textures makes some. `tandem-plot MODEL_DIR` draws loss and accuracy.
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tandem/base/env.h"
#include "tandem/base/program.h"
#include "tandem/base/status_macros.h"
#include "tandem/data/dataset.h"
#include "tandem/data/image/decode_resize.h"
#include "tandem/estimator/estimator.h"
#include "tandem/estimator/keras/applications.h"
#include "tandem/estimator/keras/model.h"
#include "tandem/frontends/keras/layers.h"
#include "tandem/frontends/keras/optimizers.h"

ABSL_FLAG(std::string, train_files, "OCT2017/train/**/*.jpeg", "Pattern of the pictures to train on.");
ABSL_FLAG(std::string, test_files, "OCT2017/test/**/*.jpeg", "Pattern of the pictures to evaluate on.");
ABSL_FLAG(std::string, labels, "CNV,DME,DRUSEN,NORMAL", "The folders, which are the classes.");
ABSL_FLAG(std::string, weights, "", "Keras' file with the weights of VGG16, such as its notop.h5. Empty: random ones.");
ABSL_FLAG(std::string, model_dir, "", "Folder for checkpoints. Empty: a temporary folder.");
ABSL_FLAG(std::string, devices, "cpu:0", "The devices that train together.");
ABSL_FLAG(int64_t, size, 224, "Height and width that pictures are resized to.");
ABSL_FLAG(int64_t, batch_size, 64, "Pictures per device and step.");
ABSL_FLAG(int64_t, epochs, 1, "Passes over the pictures.");
ABSL_FLAG(double, learning_rate, 1e-3, "Of Adam.");
ABSL_FLAG(int64_t, save_checkpoints_steps, 0, "Steps between checkpoints; 0: one every 600 seconds.");
ABSL_FLAG(int64_t, seed, 0, "Of the first weights and of the order of the pictures.");
ABSL_FLAG(int, trained_layers, 4, "How many of VGG16's last layers are trained.");

namespace tandem {
namespace {

// Loads one file: writes the picture, resized and with the channels that VGG16's weights expect, and the one-hot class
// of its folder.
absl::Status Load(const std::vector<std::string>& labels, const Element& file, absl::Span<const ComponentBuffer> out) {
  const std::string path = file.Get<std::string>("file");
  for (size_t i = 0; i < labels.size(); ++i) {
    out[1].data<float>()[i] = absl::StrContains(path, absl::StrCat("/", labels[i], "/"));
  }
  TD_ASSIGN_OR_RETURN(const std::string bytes, Env::Default()->ReadFile(path));
  TD_RETURN_IF_ERROR(DecodeAndResizeInto(bytes, out[0], {.name = path}));
  keras::applications::PreprocessInput({out[0].data<float>(), static_cast<size_t>(out[0].num_elements())});
  return absl::OkStatus();
}

InputFn Input(const std::string& pattern, bool training) {
  const std::vector<std::string> labels = absl::StrSplit(absl::GetFlag(FLAGS_labels), ',');
  return [=](const InputContext&) -> absl::StatusOr<Dataset> {
    const int64_t size = absl::GetFlag(FLAGS_size), classes = static_cast<int64_t>(labels.size());
    Dataset files = Dataset::ListFiles({pattern});
    if (training) {
      files = files.Shuffle(2048, {.seed = static_cast<uint64_t>(absl::GetFlag(FLAGS_seed))})
                  .Repeat(absl::GetFlag(FLAGS_epochs));
    }
    return files
        .MapInto([=](const Element& file, absl::Span<const ComponentBuffer> out) { return Load(labels, file, out); },
                 {.num_parallel_calls = kAuto,
                  .spec = {{"image", DType::kFloat32, {size, size, 3}}, {"label", DType::kFloat32, {classes}}}})
        .Batch(absl::GetFlag(FLAGS_batch_size))
        .Prefetch();
  };
}

absl::Status Run() {
  keras::utils::SetRandomSeed(static_cast<uint64_t>(absl::GetFlag(FLAGS_seed)));
  const int64_t size = absl::GetFlag(FLAGS_size);
  auto vgg16 = keras::applications::VGG16(
      {.include_top = false, .weights = absl::GetFlag(FLAGS_weights), .input_shape = {size, size, 3}});
  auto output = keras::layers::Flatten()(vgg16.output());
  const std::vector<std::string> labels = absl::StrSplit(absl::GetFlag(FLAGS_labels), ',');
  auto prediction = keras::layers::Dense(static_cast<int64_t>(labels.size()), {.activation = "softmax"})(output);
  keras::Model model(vgg16.input(), prediction);
  for (const keras::Layer& layer : vgg16.layers(0, -absl::GetFlag(FLAGS_trained_layers))) layer.set_trainable(false);
  model.Compile({.optimizer = keras::optimizers::Adam({.learning_rate = absl::GetFlag(FLAGS_learning_rate)}),
                 .loss = "categorical_crossentropy",
                 .metrics = {"accuracy"}});

  RunConfig config{.model_dir = absl::GetFlag(FLAGS_model_dir), .seed = absl::GetFlag(FLAGS_seed)};
  config.save_summary_steps = 5;
  if (const int64_t every = absl::GetFlag(FLAGS_save_checkpoints_steps); every > 0) {
    config.save_checkpoints_steps = every;
    config.save_checkpoints_secs = std::nullopt;
  }
  config.train_distribute = MirroredStrategy(absl::StrSplit(absl::GetFlag(FLAGS_devices), ','));
  Estimator estimator = keras::ModelToEstimator(model, config);
  TD_RETURN_IF_ERROR(estimator.Train(Input(absl::GetFlag(FLAGS_train_files), true)));
  TD_ASSIGN_OR_RETURN(const EvalResult result, estimator.Evaluate(Input(absl::GetFlag(FLAGS_test_files), false)));
  std::printf("%s\n", result.ToString().c_str());
  return absl::OkStatus();
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  return tandem::RunProgram(argc, argv, "Trains the last layers of VGG16 on pictures in folders.", tandem::Run);
}

// Fine-tuning: EfficientNet-Lite0 with ImageNet's weights, a new classifier for the user's folders of pictures, and the
// last blocks trained along with it. tools/keras/lite0_weights fetches the weights; tandem-textures makes pictures.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "tandem/base/env.h"
#include "tandem/base/program.h"
#include "tandem/base/status_macros.h"
#include "tandem/data/dataset.h"
#include "tandem/data/image/decode_resize.h"
#include "tandem/estimator/keras/applications.h"
#include "tandem/estimator/keras/callbacks.h"
#include "tandem/estimator/keras/model.h"
#include "tandem/frontends/keras/layers.h"
#include "tandem/frontends/keras/optimizers.h"

ABSL_FLAG(std::string, train_files, "", "Pattern of the pictures to train on, such as PICTURES/train/*/*.jpeg.");
ABSL_FLAG(std::string, test_files, "", "Pattern of the pictures to evaluate on.");
ABSL_FLAG(std::string, labels, "horizontal,vertical,falling,rising", "The folders, which are the classes.");
ABSL_FLAG(std::string, weights, "", "File of tools/keras/lite0_weights. Empty: random weights.");
ABSL_FLAG(std::string, first_trained, "block14_expand_conv",
          "The first layer that is trained; those before it keep their weights. Empty: all are trained.");
ABSL_FLAG(std::string, devices, "cpu:0", "The devices that train together.");
ABSL_FLAG(int64_t, size, 224, "Height and width that pictures are resized to.");
ABSL_FLAG(int64_t, batch_size, 32, "Pictures per step, of all devices together.");
ABSL_FLAG(int64_t, epochs, 5, "The most passes over the pictures; three without a smaller loss end the training.");
ABSL_FLAG(double, learning_rate, 1e-3, "Of Adam.");
ABSL_FLAG(std::string, directory, "", "Folder that the run is kept in, so that it can go on. Empty: none.");
ABSL_FLAG(std::string, model, "fine_tuned.h5", "The file of the trained model.");

namespace tandem {
namespace {

// Loads one file: writes the picture, resized and with pixels scaled as Lite0 expects, and the index of its folder.
absl::Status Load(const std::vector<std::string>& labels, const Element& file, absl::Span<const ComponentBuffer> out) {
  const std::string path = file.Get<std::string>("file");
  const auto label = std::find_if(labels.begin(), labels.end(), [&](const std::string& name) {
    return absl::StrContains(path, absl::StrCat("/", name, "/"));
  });
  if (label == labels.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " is in none of the folders ", absl::StrJoin(labels, ", "), " (--labels)"));
  }
  out[1].data<int32_t>()[0] = static_cast<int32_t>(label - labels.begin());
  TD_ASSIGN_OR_RETURN(const std::string bytes, Env::Default()->ReadFile(path));
  TD_RETURN_IF_ERROR(DecodeAndResizeInto(bytes, out[0], {.name = path}));
  float* const pixels = out[0].data<float>();
  for (int64_t i = 0; i < out[0].num_elements(); ++i) pixels[i] = (pixels[i] - 127) / 128;
  return absl::OkStatus();
}

Dataset Pictures(const std::string& pattern, const std::vector<std::string>& labels, bool shuffle) {
  const int64_t size = absl::GetFlag(FLAGS_size);
  Dataset files = Dataset::ListFiles({pattern});
  if (shuffle) files = files.Shuffle(10000);
  return files
      .MapInto([=](const Element& file, absl::Span<const ComponentBuffer> out) { return Load(labels, file, out); },
               {.num_parallel_calls = kAuto,
                .spec = {{"image", DType::kFloat32, {size, size, 3}}, {"label", DType::kInt32, {}}}})
      .Batch(absl::GetFlag(FLAGS_batch_size))
      .Prefetch();
}

absl::Status Run() {
  const std::vector<std::string> labels = absl::StrSplit(absl::GetFlag(FLAGS_labels), ',');
  const int64_t size = absl::GetFlag(FLAGS_size);
  keras::StrategyScope scope(MirroredStrategy(absl::StrSplit(absl::GetFlag(FLAGS_devices), ',')));
  keras::Model lite0 = keras::applications::EfficientNetLite0({.include_top = false,
                                                               .weights = absl::GetFlag(FLAGS_weights),
                                                               .input_shape = {size, size, 3},
                                                               .pooling = "avg"});
  TD_RETURN_IF_ERROR(lite0.status());
  if (const std::string first = absl::GetFlag(FLAGS_first_trained); !first.empty()) {
    TD_RETURN_IF_ERROR(lite0.GetLayer(first).status());
    for (const keras::Layer& layer : lite0.layers()) {
      if (layer.name() == first) break;
      layer.set_trainable(false);
    }
  }
  auto prediction = keras::layers::Dense(static_cast<int64_t>(labels.size()),
                                         {.activation = "softmax"})(keras::layers::Dropout(0.2)(lite0.output()));
  keras::Model model(lite0.input(), prediction);
  model.Compile({.optimizer = keras::optimizers::Adam({.learning_rate = absl::GetFlag(FLAGS_learning_rate)}),
                 .loss = "sparse_categorical_crossentropy",
                 .metrics = {"accuracy"}});

  const Dataset test = Pictures(absl::GetFlag(FLAGS_test_files), labels, false);
  const auto stop = keras::callbacks::EarlyStopping({.patience = 3, .restore_best_weights = true});
  TD_RETURN_IF_ERROR(
      model
          .Fit(Pictures(absl::GetFlag(FLAGS_train_files), labels, true), {.epochs = absl::GetFlag(FLAGS_epochs),
                                                                          .verbose = 2,
                                                                          .callbacks = {stop},
                                                                          .validation_data = test,
                                                                          .directory = absl::GetFlag(FLAGS_directory)})
          .status());
  TD_ASSIGN_OR_RETURN(const keras::Logs score, model.Evaluate(test, {.verbose = 0}));
  std::printf("Test accuracy: %g\n", score["accuracy"]);
  return model.Save(absl::GetFlag(FLAGS_model));
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  return tandem::RunProgram(argc, argv, "Trains the last blocks of EfficientNet-Lite0 on pictures in folders.",
                            tandem::Run);
}

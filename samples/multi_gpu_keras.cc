// The tutorial "MNIST on several GPUs with Keras": a Sequential model that is trained on one device, and then on all of
// them, with validation and a line for each epoch, and saved as Keras' HDF5. Trains on Fashion-MNIST unless --data_dir
// names MNIST's files; without GPUs --devices names CPU devices.
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "tandem/base/program.h"
#include "tandem/base/status_macros.h"
#include "tandem/data/fashion_mnist.h"
#include "tandem/estimator/keras/model.h"
#include "tandem/frontends/keras/layers.h"
#include "tandem/frontends/keras/utils.h"

ABSL_FLAG(std::string, data_dir, tandem::kFashionMnistDir,
          "Folder with train-images-idx3-ubyte and its three companions, plain or .gz.");
ABSL_FLAG(std::string, devices, "", "Devices of the second training, such as cpu:0,cpu:1. Empty: all GPUs.");
ABSL_FLAG(int64_t, batch_size, 128, "Images per device and step.");
ABSL_FLAG(int64_t, epochs, 12, "Passes over the training images, of each training.");
ABSL_FLAG(int64_t, examples, 0, "So many training images, and a sixth as many for validation; 0: all.");
ABSL_FLAG(int64_t, seed, 0, "Of first weights, dropout and everything random.");
ABSL_FLAG(bool, single, true, "Whether to train on one device first.");
ABSL_FLAG(std::string, model, "model.h5", "The file of the trained model.");

namespace tandem {
namespace {

using keras::layers::Activation;
using keras::layers::BatchNormalization;
using keras::layers::Conv2D;
using keras::layers::Dense;
using keras::layers::Dropout;
using keras::layers::Flatten;
using keras::layers::MaxPooling2D;

keras::Sequential CreateModel(const Shape& input_shape) {
  keras::Sequential model;
  model.Add(Conv2D(32, {3, 3}, {.padding = "valid", .input_shape = input_shape}));
  model.Add(Activation("relu"));
  model.Add(Conv2D(256, {3, 3}));
  model.Add(Activation("relu"));
  model.Add(BatchNormalization());
  model.Add(Conv2D(128, {3, 3}));
  model.Add(Activation("relu"));
  model.Add(MaxPooling2D({.pool_size = {2, 2}}));
  model.Add(Dropout(0.25));
  model.Add(Flatten());
  model.Add(Dense(128));
  model.Add(Activation("relu"));
  model.Add(Dropout(0.5));
  model.Add(Dense(10));
  model.Add(Activation("softmax"));
  return model;
}

absl::Status Train(const keras::Data& train, const keras::Data& test, const std::vector<std::string>& devices) {
  const int64_t n = std::max<int64_t>(1, static_cast<int64_t>(devices.size()));
  if (n >= 2) std::printf("Using %d devices\n", static_cast<int>(n));
  keras::Model model = CreateModel({28, 28, 1});
  keras::Model parallel_model = n >= 2 ? keras::MultiGpuModel(model, devices) : model;
  parallel_model.Compile({.optimizer = "rmsprop",
                          .loss = "categorical_crossentropy",
                          .metrics = {"accuracy"},
                          .config = {.seed = absl::GetFlag(FLAGS_seed)}});
  const auto start_time = std::chrono::steady_clock::now();
  TD_RETURN_IF_ERROR(parallel_model
                         .Fit(train, {.batch_size = absl::GetFlag(FLAGS_batch_size) * n,
                                      .epochs = absl::GetFlag(FLAGS_epochs),
                                      .verbose = 2,
                                      .validation_data = test})
                         .status());
  TD_ASSIGN_OR_RETURN(const keras::Logs score, parallel_model.Evaluate(test, {.verbose = 0}));
  std::printf("Test score: %g\nTest accuracy: %g\n", score[0], score[1]);
  const std::chrono::duration<double> duration = std::chrono::steady_clock::now() - start_time;
  std::printf("Total Duration (%.3f sec)\n", duration.count());
  // `model` has the trained weights, because parallel_model shares its layers.
  return model.Save(absl::GetFlag(FLAGS_model));
}

// Returns the first `rows` images and one-hot labels, or all if `rows` is 0.
absl::StatusOr<keras::Data> Examples(const LabelledImages& images, int64_t rows) {
  TD_ASSIGN_OR_RETURN(const HostTensor x, ScaledImages(images.images));
  TD_ASSIGN_OR_RETURN(const HostTensor y, keras::utils::ToCategorical(images.labels, 10));
  if (rows <= 0 || rows >= x.shape()[0]) return keras::Data(x, y);
  return keras::Data(keras::utils::Rows(x, 0, rows), keras::utils::Rows(y, 0, rows));
}

absl::Status Run() {
  keras::utils::SetRandomSeed(static_cast<uint64_t>(absl::GetFlag(FLAGS_seed)));
  std::vector<std::string> devices;
  if (const std::string names = absl::GetFlag(FLAGS_devices); !names.empty()) {
    devices = absl::StrSplit(names, ',');
  } else if (devices = AllDevices(); absl::StartsWith(devices[0], "cpu")) {
    devices.clear();
  }
  TD_ASSIGN_OR_RETURN(const FashionMnist mnist, LoadFashionMnist(absl::GetFlag(FLAGS_data_dir)));
  const int64_t examples = absl::GetFlag(FLAGS_examples);
  TD_ASSIGN_OR_RETURN(const keras::Data train, Examples(mnist.train, examples));
  TD_ASSIGN_OR_RETURN(const keras::Data test, Examples(mnist.test, examples / 6));
  if (absl::GetFlag(FLAGS_single)) TD_RETURN_IF_ERROR(Train(train, test, {}));
  return devices.empty() ? absl::OkStatus() : Train(train, test, devices);
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  return tandem::RunProgram(argc, argv, "Trains MNIST's tutorial of several GPUs with Keras' models.", tandem::Run);
}

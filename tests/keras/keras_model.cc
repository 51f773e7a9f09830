// keras_model copy FROM TO: loads a model and saves it.
// keras_model make DIR: trains a model, saves it as DIR/model.h5 and DIR/model.keras, its weights as DIR/w.h5 and
// DIR/w.weights.h5, and what it says as DIR/expected.safetensors: x, y, predictions, loss, accuracy. keras_model steps
// FROM TO COUNT: loads a model, trains COUNT steps on a fixed batch for Dense(2) on 3 inputs, saves it.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "estimator/checkpoint/safetensors.h"
#include "estimator/keras/load_model.h"
#include "estimator/keras/model.h"
#include "frontends/keras/layers.h"
#include "frontends/keras/optimizers.h"

namespace tandem::keras {
namespace {

// sin(a i + b) as numbers of any shape.
HostTensor Waves(Shape shape, double a, double b) {
  HostTensor tensor(DType::kFloat32, std::move(shape));
  for (int64_t i = 0; i < tensor.num_elements(); ++i) tensor.data<float>()[i] = static_cast<float>(std::sin(a * i + b));
  return tensor;
}

HostTensor Scalar(double value) {
  HostTensor tensor(DType::kFloat64, {});
  *tensor.data<double>() = value;
  return tensor;
}

absl::Status Copy(const std::string& from, const std::string& to) {
  TD_ASSIGN_OR_RETURN(const Model model, LoadModel(from));
  return model.Save(to);
}

absl::Status Steps(const std::string& from, const std::string& to, int64_t count) {
  TD_ASSIGN_OR_RETURN(Model model, LoadModel(from));
  const Data batch(Waves({4, 3}, 0.7, 0), Waves({4, 2}, 0.9, 1));
  TD_RETURN_IF_ERROR(model.Fit(batch, {.batch_size = 4, .epochs = count, .verbose = 0}).status());
  return model.Save(to);
}

absl::Status Picture(const std::string& from, const std::string& to) {
  TD_ASSIGN_OR_RETURN(Model model, LoadModel(from));
  HostTensor picture(DType::kFloat32, {1, 64, 64, 1});
  for (int h = 0; h < 64; ++h) {
    for (int w = 0; w < 64; ++w) picture.data<float>()[64 * h + w] = static_cast<float>(std::sin(0.2 * h + 0.1 * w));
  }
  TensorMap predictions;
  TD_ASSIGN_OR_RETURN(predictions["predictions"], model.Predict(picture));
  return WriteSafetensors(Env::Default(), to, predictions);
}

// Branches, a nested model, batch norms and a part that is frozen.
absl::Status Make(const std::string& dir) {
  const KerasTensor images = Input({.shape = {8, 8, 2}, .name = "images"});
  KerasTensor x = layers::Conv2D(4, {3, 3}, {.padding = "same", .activation = "relu"})(images);
  const KerasTensor skip = x;
  x = layers::BatchNormalization()(x);
  x = layers::SeparableConv2D({.filters = 4, .kernel_size = {3, 3}, .padding = "same", .use_bias = false})(x);
  x = layers::Add()({x, skip});
  x = layers::MaxPooling2D()(x);
  x = layers::LeakyReLU()(x);
  Sequential head({layers::Flatten(), layers::Dense(8, {.activation = "tanh"}), layers::Dropout(0.25),
                   layers::LayerNormalization()},
                  "head");
  x = head(x);
  Model model(images, layers::Dense(3, {.activation = "softmax", .kernel_regularizer = L2(1e-3)})(x));
  head.layers()[1].set_trainable(false);
  model.Compile({.optimizer = optimizers::Adam({.learning_rate = 0.01}),
                 .loss = "sparse_categorical_crossentropy",
                 .metrics = {"accuracy"}});
  const HostTensor xs = Waves({24, 8, 8, 2}, 0.37, 0);
  HostTensor ys(DType::kInt32, {24});
  for (int i = 0; i < 24; ++i) ys.data<int32_t>()[i] = i * i % 3;
  const Data data(xs, ys);
  TD_RETURN_IF_ERROR(model.Fit(data, {.batch_size = 8, .epochs = 2, .verbose = 0}).status());
  TD_RETURN_IF_ERROR(model.Save(absl::StrCat(dir, "/model.h5")));
  TD_RETURN_IF_ERROR(model.Save(absl::StrCat(dir, "/model.keras")));
  TD_RETURN_IF_ERROR(model.SaveWeights(absl::StrCat(dir, "/w.h5")));
  TD_RETURN_IF_ERROR(model.SaveWeights(absl::StrCat(dir, "/w.weights.h5")));
  TensorMap expected{{"x", xs}, {"y", ys}};
  TD_ASSIGN_OR_RETURN(expected["predictions"], model.Predict(xs));
  TD_ASSIGN_OR_RETURN(const Logs logs, model.Evaluate(data, {.verbose = 0}));
  expected["loss"] = Scalar(logs["loss"]);
  expected["accuracy"] = Scalar(logs["accuracy"]);
  return WriteSafetensors(Env::Default(), absl::StrCat(dir, "/expected.safetensors"), expected);
}

absl::Status Run(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "";
  if (command == "copy" && argc == 4) return Copy(argv[2], argv[3]);
  if (command == "make" && argc == 3) return Make(argv[2]);
  if (command == "picture" && argc == 4) return Picture(argv[2], argv[3]);
  if (command == "steps" && argc == 5) return Steps(argv[2], argv[3], std::atoi(argv[4]));
  return absl::InvalidArgumentError(
      "usage: keras_model copy FROM TO | make DIR | picture FROM TO | steps FROM TO COUNT");
}

}  // namespace
}  // namespace tandem::keras

int main(int argc, char** argv) {
  const absl::Status status = tandem::keras::Run(argc, argv);
  if (status.ok()) return 0;
  std::fprintf(stderr, "keras_model: %s\n", status.ToString().c_str());
  return 1;
}

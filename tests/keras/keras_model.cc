// Loads, makes, trains and saves models:
//   keras_model copy FROM TO            loads a model and saves it.
//   keras_model picture FROM TO         saves what it predicts for the picture of 64 x 64 that a formula makes.
//   keras_model lite0 WEIGHTS TO FILE...  the logits of EfficientNet-Lite0 for another formula's picture; prints the
//                                       best class of each picture's file and its probability.
//   keras_model make DIR                trains a model, saves it as DIR/model.h5 and DIR/model.keras, its weights as
//                                       DIR/w.h5 and DIR/w.weights.h5, and what it says as DIR/expected.safetensors: x,
//                                       y, predictions, loss, accuracy.
//   keras_model attention DIR           trains a model with attention, saves it as DIR/attention.h5, and what it
//                                       predicts as DIR/attention.safetensors: x, predictions.
//   keras_model fit FROM DATA TO        trains a compiled model without shuffling: DATA.safetensors has "x0", "y0",
//   ...,
//                                       "sample_weight" and the same with "val_", DATA.json the options. TO gets the
//                                       History, the weights, and what it predicts for its inputs.
//   keras_model steps FROM TO COUNT     trains COUNT steps on a fixed batch for Dense(2) on 3 inputs, saves it.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/json_parse.h"
#include "base/status_macros.h"
#include "data/image/crop.h"
#include "data/image/decode_image.h"
#include "data/image/resize.h"
#include "estimator/checkpoint/safetensors.h"
#include "estimator/keras/applications.h"
#include "estimator/keras/load_model.h"
#include "estimator/keras/model.h"
#include "frontends/keras/layers.h"
#include "frontends/keras/optimizers.h"
#include "nlohmann/json.hpp"

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

absl::Status Lite0(const std::string& weights, const std::string& to, absl::Span<char* const> files) {
  constexpr int64_t kSize = 224;
  Model model = applications::EfficientNetLite0({.weights = weights, .classifier_activation = "linear"});
  HostTensor picture(DType::kFloat32, {1, kSize, kSize, 3});
  for (int64_t i = 0; i < picture.num_elements(); ++i) {
    const double h = static_cast<double>(i / 3 / kSize), w = static_cast<double>(i / 3 % kSize);
    picture.data<float>()[i] = static_cast<float>(std::sin(0.05 * h + 0.03 * w + static_cast<double>(i % 3)));
  }
  TensorMap logits;
  TD_ASSIGN_OR_RETURN(logits["logits"], model.Predict(picture));
  for (const char* file : files) {
    TD_ASSIGN_OR_RETURN(const std::string bytes, Env::Default()->ReadFile(file));
    TD_ASSIGN_OR_RETURN(const HostTensor whole, DecodeImage(bytes, {.channels = 3}));
    // As EfficientNet is evaluated: the square in the middle, of 7/8 of the shorter side.
    const int64_t height = whole.shape()[0], width = whole.shape()[1], side = std::min(height, width) * 7 / 8;
    TD_ASSIGN_OR_RETURN(const HostTensor middle, Crop(whole, (height - side) / 2, (width - side) / 2, side, side));
    TD_ASSIGN_OR_RETURN(const HostTensor pixels, Resize(middle, kSize, kSize));
    for (int64_t i = 0; i < picture.num_elements(); ++i) {
      picture.data<float>()[i] = (pixels.data<float>()[i] - 127) / 128;
    }
    TD_ASSIGN_OR_RETURN(HostTensor scores, model.Predict(picture));
    TD_ASSIGN_OR_RETURN(const auto decoded, applications::DecodePredictions(scores, {}, 1));
    double sum = 0;
    for (const float score : scores.values<float>()) sum += std::exp(score - decoded[0][0].score);
    std::printf("%s %d %.3f\n", file, static_cast<int>(decoded[0][0].label), 1 / sum);
  }
  return WriteSafetensors(Env::Default(), to, logits);
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

// Attention to the sequence itself: DIR/attention.h5, and what it predicts.
absl::Status Attention(const std::string& dir) {
  const KerasTensor x = Input({.shape = {3, 4}, .name = "x"});
  const KerasTensor y = layers::MultiHeadAttention({.num_heads = 2, .key_dim = 5, .name = "attention"})({x, x});
  Model model(x, layers::Dense(2)(layers::LayerNormalization()(x + y)), "self");
  model.Compile({.optimizer = "adam", .loss = "mse"});
  TensorMap expected{{"x", Waves({4, 3, 4}, 0.37, 0)}};
  const Data data(expected["x"], Waves({4, 3, 2}, 0.9, 1));
  TD_RETURN_IF_ERROR(model.Fit(data, {.batch_size = 4, .verbose = 0}).status());
  TD_ASSIGN_OR_RETURN(expected["predictions"], model.Predict(expected["x"]));
  TD_RETURN_IF_ERROR(model.Save(absl::StrCat(dir, "/attention.h5")));
  return WriteSafetensors(Env::Default(), absl::StrCat(dir, "/attention.safetensors"), expected);
}

// "x0", "x1", ... of those that there are.
std::vector<HostTensor> Numbered(const TensorMap& tensors, const std::string& prefix) {
  std::vector<HostTensor> list;
  for (int i = 0; tensors.contains(absl::StrCat(prefix, i)); ++i) list.push_back(tensors.at(absl::StrCat(prefix, i)));
  return list;
}

absl::Status FitAndTell(const std::string& from, const std::string& data, const std::string& to) {
  TensorMap given;
  TD_ASSIGN_OR_RETURN(given, ReadSafetensors(Env::Default(), absl::StrCat(data, ".safetensors")));
  TD_ASSIGN_OR_RETURN(const std::string text, Env::Default()->ReadFile(absl::StrCat(data, ".json")));
  const nlohmann::json options = ParseJson(text);
  if (!options.is_object()) return absl::InvalidArgumentError(absl::StrCat(data, ".json is no JSON object"));
  const StrategyScope scope(MirroredStrategy(options["devices"].get<std::vector<std::string>>()));
  TD_ASSIGN_OR_RETURN(Model model, LoadModel(from));
  FitOptions fit{.batch_size = options["batch_size"].get<int64_t>(),
                 .epochs = options["epochs"].get<int64_t>(),
                 .verbose = 0,
                 .shuffle = false};
  const std::vector<HostTensor> xs = Numbered(given, "x");
  const Data train(xs, Numbered(given, "y"), given["sample_weight"]);
  if (given.contains("val_x0")) fit.validation_data = Data(Numbered(given, "val_x"), Numbered(given, "val_y"));
  for (const auto& [label, weight] : options["class_weight"].items()) {
    fit.class_weight[std::atoll(label.c_str())] = weight.get<double>();
  }
  TD_ASSIGN_OR_RETURN(const History history, model.Fit(train, fit));
  TensorMap told;
  for (const auto& [name, values] : history.history) {
    told[absl::StrCat("history/", name)] =
        HostTensor::FromVector<double>({static_cast<int64_t>(values.size())}, values);
  }
  TD_ASSIGN_OR_RETURN(const std::vector<HostTensor> weights, model.GetWeights());
  for (size_t i = 0; i < weights.size(); ++i) told[absl::StrCat("weights/", i)] = weights[i];
  TD_ASSIGN_OR_RETURN(const NamedTensors predictions,
                      model.PredictOutputs(Data(xs, {}), {.batch_size = fit.batch_size}));
  for (const auto& [name, value] : predictions) told[absl::StrCat("predictions/", name)] = value;
  return WriteSafetensors(Env::Default(), to, told);
}

absl::Status Run(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "";
  if (command == "copy" && argc == 4) return Copy(argv[2], argv[3]);
  if (command == "attention" && argc == 3) return Attention(argv[2]);
  if (command == "fit" && argc == 5) return FitAndTell(argv[2], argv[3], argv[4]);
  if (command == "make" && argc == 3) return Make(argv[2]);
  if (command == "picture" && argc == 4) return Picture(argv[2], argv[3]);
  if (command == "lite0" && argc >= 4) return Lite0(argv[2], argv[3], absl::MakeSpan(argv + 4, argc - 4));
  if (command == "steps" && argc == 5) return Steps(argv[2], argv[3], std::atoi(argv[4]));
  return absl::InvalidArgumentError(
      "usage: keras_model copy FROM TO | make DIR | attention DIR | fit FROM DATA TO | picture FROM TO | lite0 WEIGHTS "
      "TO PICTURE... | "
      "steps FROM TO COUNT");
}

}  // namespace
}  // namespace tandem::keras

int main(int argc, char** argv) {
  const absl::Status status = tandem::keras::Run(argc, argv);
  if (status.ok()) return 0;
  std::fprintf(stderr, "keras_model: %s\n", status.ToString().c_str());
  return 1;
}

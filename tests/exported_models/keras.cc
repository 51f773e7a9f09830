// Models of Keras objects: networks of keras::applications, and one with layers that these lack.
#include "estimator/keras/applications.h"
#include "frontends/keras/layers.h"
#include "tests/exported_models/models.h"

namespace tandem::exported_models {
namespace {

// Branches and a nested model.
keras::Model Branches() {
  namespace layers = keras::layers;
  const keras::KerasTensor images = keras::Input({.shape = {9, 8, 2}, .name = "images"});
  keras::KerasTensor x = layers::Conv2D(4, {3, 3}, {.padding = "same", .activation = "relu"})(images);
  const keras::KerasTensor skip = x;
  x = layers::BatchNormalization()(x);
  x = layers::SeparableConv2D({.filters = 4, .kernel_size = {3, 3}, .padding = "same", .use_bias = false})(x);
  x = layers::Add()({x, skip});
  x = layers::Concatenate()({x, layers::ZeroPadding2D({.padding = 1})(layers::Conv2D(3, {3, 3})(x))});
  x = layers::AveragePooling2D()(layers::LeakyReLU()(x));
  const keras::Sequential head({layers::Flatten(), layers::Dense(8, {.activation = "tanh"}), layers::Dropout(0.25),
                                layers::LayerNormalization()},
                               "head");
  return keras::Model(images, layers::Dense(3, {.activation = "softmax"})(head(x)));
}

}  // namespace

void AddKeras(bool full, std::vector<TestModel>& models) {
  const int64_t size = full ? 224 : 32;
  const auto add = [&](const std::string& name, const Shape& image, const keras::Model& model) {
    Shape shape = {kBatch};
    shape.insert(shape.end(), image.begin(), image.end());
    models.push_back({name, {{"image", DType::kFloat32, shape}}, [model](TensorsByName& inputs) -> TensorsByName {
                        return {{"output", model(inputs["image"], {.training = false})}};
                      }});
  };
  const Shape image = {size, size, 3};
  add("keras_branches", {9, 8, 2}, Branches());
  add("keras_lite0", image, keras::applications::EfficientNetLite0({.input_shape = image, .classes = 100}));
  add("keras_resnet50", image, keras::applications::ResNet50({.input_shape = image, .classes = 100}));
}

}  // namespace tandem::exported_models

#include "samples/networks.h"

#include <iterator>

#include "absl/strings/str_cat.h"
#include "tandem/frontends/layers.h"
#include "tandem/frontends/regularizers.h"
#include "tandem/graph/ops.h"

namespace tandem::networks {
namespace {

// The last layer of a network: Dense with options.classes units, and softmax unless the options request logits.
Tensor Classifier(const Tensor& x, const NetworkOptions& options, SourceLocation loc) {
  Tensor logits = layers::Dense(x, {.units = options.classes, .kernel_regularizer = L2(options.l2)}, loc);
  return options.logits || !logits.ok() ? logits : Softmax(logits, loc);
}

Tensor Conv3x3(const Tensor& x, int64_t filters, const NetworkOptions& options, SourceLocation loc) {
  return layers::Conv2D(
      x, {.filters = filters, .kernel_size = 3, .activation = Relu, .kernel_regularizer = L2(options.l2)}, loc);
}

Tensor DenseRelu(const Tensor& x, int64_t units, const NetworkOptions& options, SourceLocation loc) {
  return layers::Dense(x, {.units = units, .activation = Relu, .kernel_regularizer = L2(options.l2)}, loc);
}

}  // namespace

Tensor ZalandoConvnet(const Tensor& image, const NetworkOptions& options, SourceLocation loc) {
  Tensor x = Conv3x3(image, 32, options, loc);
  x = layers::MaxPooling2D(x, {.pool_size = 2}, loc);
  x = Conv3x3(x, 64, options, loc);
  x = layers::MaxPooling2D(x, {.pool_size = 2}, loc);
  x = Conv3x3(x, 64, options, loc);
  x = layers::Flatten(x, loc);
  // The tutorial's model has no dropout. If the options have a rate, dropout is inserted before the classifier.
  x = DenseRelu(x, 64, options, loc);
  if (options.dropout.value_or(0) != 0) {
    x = layers::Dropout(x, {.rate = *options.dropout, .training = options.training}, loc);
  }
  return Classifier(x, options, loc);
}

Tensor MnistConvnet(const Tensor& image, const NetworkOptions& options, SourceLocation loc) {
  Tensor x = Conv3x3(image, 32, options, loc);
  x = layers::MaxPooling2D(x, {.pool_size = 2}, loc);
  x = layers::Flatten(x, loc);
  x = DenseRelu(x, 64, options, loc);
  if (options.dropout.value_or(0) != 0) {
    x = layers::Dropout(x, {.rate = *options.dropout, .training = options.training}, loc);
  }
  return layers::Dense(x, {.units = options.classes, .kernel_regularizer = L2(options.l2)}, loc);
}

Tensor MultiGpuConvnet(const Tensor& image, const NetworkOptions& options, SourceLocation loc) {
  Tensor x = Conv3x3(image, 32, options, loc);
  x = Conv3x3(x, 256, options, loc);
  x = layers::BatchNormalization(x, {.training = options.training}, loc);
  x = Conv3x3(x, 128, options, loc);
  x = layers::MaxPooling2D(x, {.pool_size = 2}, loc);
  x = layers::Dropout(x, {.rate = options.dropout.value_or(0.25), .training = options.training}, loc);
  x = layers::Flatten(x, loc);
  x = DenseRelu(x, 128, options, loc);
  x = layers::Dropout(x, {.rate = options.dropout.value_or(0.5), .training = options.training}, loc);
  return Classifier(x, options, loc);
}

Tensor SmallPictureConvnet(const Tensor& image, const NetworkOptions& options, SourceLocation loc) {
  const auto convolution = [&](const Tensor& x, int64_t filters, int64_t size) {
    return layers::Conv2D(x,
                          {.filters = filters,
                           .kernel_size = size,
                           .padding = Padding::kSame,
                           .activation = Relu,
                           .kernel_regularizer = L2(options.l2)},
                          loc);
  };
  Tensor x = layers::MaxPooling2D(convolution(image, 16, 5), {.pool_size = 4}, loc);
  x = layers::MaxPooling2D(convolution(x, 32, 3), {.pool_size = 2}, loc);
  x = ReduceMean(convolution(x, 64, 3), {1, 2}, /*keep_dims=*/false, loc);
  return layers::Dense(x, {.units = options.classes, .kernel_regularizer = L2(options.l2)}, loc);
}

Tensor Vgg16(const Tensor& image, bool train_all, const NetworkOptions& options, SourceLocation loc) {
  struct Block {
    int convolutions;
    int64_t filters;
  };
  constexpr Block kBlocks[] = {{2, 64}, {2, 128}, {3, 256}, {3, 512}, {3, 512}};
  Tensor x = image;
  int number = 0;
  for (const Block& block : kBlocks) {
    ++number;
    for (int i = 1; i <= block.convolutions; ++i) {
      x = layers::Conv2D(x,
                         {.filters = block.filters,
                          .kernel_size = 3,
                          .padding = Padding::kSame,
                          .activation = Relu,
                          .kernel_regularizer = L2(options.l2),
                          .trainable = train_all || number == std::size(kBlocks),
                          .name = absl::StrCat("block", number, "_conv", i)},
                         loc);
    }
    x = layers::MaxPooling2D(x, {.pool_size = 2}, loc);
  }
  x = layers::Flatten(x, loc);
  return layers::Dense(x, {.units = options.classes, .kernel_regularizer = L2(options.l2), .name = "predictions"}, loc);
}

Tensor Linear(const Tensor& x, const NetworkOptions& options, SourceLocation loc) {
  return layers::Dense(x, {.units = 1, .kernel_regularizer = L2(options.l2)}, loc);
}

}  // namespace tandem::networks

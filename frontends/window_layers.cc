// Convolution and pooling layers.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "frontends/check.h"
#include "frontends/layer_scope.h"
#include "frontends/layers.h"
#include "graph/ops.h"
#include "graph/padding.h"

namespace tandem::layers {
namespace {

// Returns the window options of a convolution or pooling op. Records an error for a window that does not fit into the
// input.
WindowOptions CheckWindow(LayerScope& layer, const Tensor& x, absl::string_view size_option, Size2D window,
                          Size2D strides, Padding padding) {
  WindowOptions options{.strides = {strides.height, strides.width}, .padding = padding};
  if (!layer.ok() || !layer.CheckPositive(size_option, window.height) ||
      !layer.CheckPositive(size_option, window.width) || !layer.CheckPositive("strides", strides.height) ||
      !layer.CheckPositive("strides", strides.width)) {
    return options;
  }
  Shape shape = x.shape();
  if (padding == Padding::kValid && (shape[1] < window.height || shape[2] < window.width)) {
    layer.Fail(absl::StrCat("a window of ", window.height, "x", window.width, " does not fit into the input ",
                            ShapeString(shape), "; make it smaller or use Padding::kSame"));
  }
  return options;
}

// Adds the bias, if the layer has one, and applies the activation.
template <typename Options>
Tensor Finish(LayerScope& layer, Tensor y, const Options& options, SourceLocation loc) {
  if (options.use_bias) {
    Tensor bias =
        layer.Weight("bias", {y.shape().back()}, options.bias_initializer, options.trainable, options.bias_regularizer);
    if (!layer.ok()) return layer.Failed();
    y = Add(y, bias, loc);
  }
  return options.activation(y, loc);
}

// Makes the depthwise convolution of DepthwiseConv2D and SeparableConv2D; records errors.
template <typename Options>
Tensor Depthwise(LayerScope& layer, const Tensor& x, const Options& options, SourceLocation loc) {
  layer.CheckPositive("depth_multiplier", options.depth_multiplier);
  WindowOptions window = CheckWindow(layer, x, "kernel_size", options.kernel_size, options.strides, options.padding);
  if (!layer.ok()) return layer.Failed();
  Tensor kernel =
      layer.Weight("depthwise_kernel",
                   {options.kernel_size.height, options.kernel_size.width, x.shape()[3], options.depth_multiplier},
                   options.depthwise_initializer, options.trainable, options.depthwise_regularizer);
  return layer.ok() ? DepthwiseConv2DOp(x, kernel, window, loc) : layer.Failed();
}

using PoolOp = Tensor (*)(const Tensor&, const std::vector<int64_t>&, const WindowOptions&, SourceLocation);

Tensor Pooling2D(const Tensor& x, const Pooling2DOptions& options, absl::string_view class_name, absl::string_view base,
                 PoolOp op, SourceLocation loc) {
  LayerScope layer(x, class_name, base, options.name, 4, loc);
  if (!layer.ok()) return layer.Failed();
  Size2D strides(options.strides.height == 0 ? options.pool_size.height : options.strides.height,
                 options.strides.width == 0 ? options.pool_size.width : options.strides.width);
  WindowOptions window = CheckWindow(layer, x, "pool_size", options.pool_size, strides, options.padding);
  if (!layer.ok()) return layer.Failed();
  return op(x, {options.pool_size.height, options.pool_size.width}, window, loc);
}

}  // namespace

Tensor Conv2D(const Tensor& x, const Conv2DOptions& options, SourceLocation loc) {
  LayerScope layer(x, "Conv2D", "conv2d", options.name, 4, loc);
  if (!layer.ok()) return layer.Failed();
  layer.CheckPositive("filters", options.filters);
  WindowOptions window = CheckWindow(layer, x, "kernel_size", options.kernel_size, options.strides, options.padding);
  if (!layer.ok()) return layer.Failed();
  Tensor kernel =
      layer.Weight("kernel", {options.kernel_size.height, options.kernel_size.width, x.shape()[3], options.filters},
                   options.kernel_initializer, options.trainable, options.kernel_regularizer);
  if (!layer.ok()) return layer.Failed();
  return Finish(layer, Conv2DOp(x, kernel, window, loc), options, loc);
}

Tensor Conv1D(const Tensor& x, const Conv1DOptions& options, SourceLocation loc) {
  LayerScope layer(x, "Conv1D", "conv1d", options.name, 0, loc);
  if (!layer.ok()) return layer.Failed();
  const Shape shape = x.shape();
  if (shape.size() != 3) {
    return layer.Fail(absl::StrCat("needs an input of shape [b, steps, channels], got ", ShapeString(shape),
                                   shape.size() == 2   ? "; make steps of one channel with ExpandDims(x, 2)"
                                   : shape.size() == 4 ? "; images are for layers::Conv2D"
                                                       : ""));
  }
  if (!layer.CheckPositive("filters", options.filters) || !layer.CheckPositive("kernel_size", options.kernel_size) ||
      !layer.CheckPositive("strides", options.strides)) {
    return layer.Failed();
  }
  if (options.padding == Padding::kValid && shape[1] < options.kernel_size) {
    return layer.Fail(absl::StrCat("a window of ", options.kernel_size, " steps does not fit into the input ",
                                   ShapeString(shape), "; make it smaller or use Padding::kSame"));
  }
  Tensor kernel = layer.Weight("kernel", {options.kernel_size, shape[2], options.filters}, options.kernel_initializer,
                               options.trainable, options.kernel_regularizer);
  if (!layer.ok()) return layer.Failed();
  // The convolution over time treats the input as images of height 1.
  Tensor y = Conv2DOp(ExpandDims(x, 1, loc), ExpandDims(kernel, 0, loc),
                      {.strides = {1, options.strides}, .padding = options.padding}, loc);
  return Finish(layer, Squeeze(y, {1}, loc), options, loc);
}

Tensor DepthwiseConv2D(const Tensor& x, const DepthwiseConv2DOptions& options, SourceLocation loc) {
  LayerScope layer(x, "DepthwiseConv2D", "depthwise_conv2d", options.name, 4, loc);
  if (!layer.ok()) return layer.Failed();
  Tensor y = Depthwise(layer, x, options, loc);
  return layer.ok() ? Finish(layer, y, options, loc) : layer.Failed();
}

Tensor SeparableConv2D(const Tensor& x, const SeparableConv2DOptions& options, SourceLocation loc) {
  LayerScope layer(x, "SeparableConv2D", "separable_conv2d", options.name, 4, loc);
  if (!layer.ok()) return layer.Failed();
  layer.CheckPositive("filters", options.filters);
  Tensor channels = Depthwise(layer, x, options, loc);
  if (!layer.ok()) return layer.Failed();
  Tensor kernel = layer.Weight("pointwise_kernel", {1, 1, channels.shape()[3], options.filters},
                               options.pointwise_initializer, options.trainable, options.pointwise_regularizer);
  if (!layer.ok()) return layer.Failed();
  return Finish(layer, Conv2DOp(channels, kernel, {}, loc), options, loc);
}

Tensor MaxPooling2D(const Tensor& x, const Pooling2DOptions& options, SourceLocation loc) {
  return Pooling2D(x, options, "MaxPooling2D", "max_pooling2d", MaxPool, loc);
}

Tensor AveragePooling2D(const Tensor& x, const Pooling2DOptions& options, SourceLocation loc) {
  return Pooling2D(x, options, "AveragePooling2D", "average_pooling2d", AvgPool, loc);
}

Tensor UpSampling2D(const Tensor& x, const UpSampling2DOptions& options, SourceLocation loc) {
  LayerScope layer(x, "UpSampling2D", "up_sampling2d", options.name, 4, loc);
  if (!layer.ok() || !layer.CheckPositive("size", options.size.height) ||
      !layer.CheckPositive("size", options.size.width)) {
    return layer.Failed();
  }
  return Repeat(Repeat(x, options.size.height, 1, loc), options.size.width, 2, loc);
}

}  // namespace tandem::layers

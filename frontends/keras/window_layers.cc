// Convolutions, pooling, padding and cropping of images.
#include <utility>

#include "absl/strings/str_cat.h"
#include "frontends/keras/layers.h"
#include "frontends/keras/option_layer.h"
#include "frontends/layers.h"
#include "graph/ops.h"

namespace tandem::keras {
namespace layers {

// Lists the fields that all convolutions have, in Keras' order.
template <typename V, typename Options>
void WindowFields(V& v, Options& o) {
  v.Field("kernel_size", o.kernel_size);
  v.Field("strides", o.strides);
  v.Field("padding", o.padding);
  v.Fixed("data_format", "channels_last");
  v.Fixed("dilation_rate", {1, 1});
  v.Fixed("groups", 1);
  v.Field("activation", o.activation);
  v.Field("use_bias", o.use_bias);
}

template <typename V>
void Fields(V& v, Conv2DOptions& o) {
  v.Field("filters", o.filters);
  WindowFields(v, o);
  v.Field("kernel_initializer", o.kernel_initializer);
  v.Field("bias_initializer", o.bias_initializer);
  v.Field("kernel_regularizer", o.kernel_regularizer);
  v.Field("bias_regularizer", o.bias_regularizer);
  v.Fixed("activity_regularizer", nullptr);
  v.Fixed("kernel_constraint", nullptr);
  v.Fixed("bias_constraint", nullptr);
}

template <typename V>
void Fields(V& v, DepthwiseConv2DOptions& o) {
  WindowFields(v, o);
  v.Field("bias_initializer", o.bias_initializer);
  v.Field("bias_regularizer", o.bias_regularizer);
  v.Fixed("activity_regularizer", nullptr);
  v.Fixed("bias_constraint", nullptr);
  v.Field("depth_multiplier", o.depth_multiplier);
  v.Field("depthwise_initializer", o.depthwise_initializer);
  v.Field("depthwise_regularizer", o.depthwise_regularizer);
  v.Fixed("depthwise_constraint", nullptr);
}

template <typename V>
void Fields(V& v, SeparableConv2DOptions& o) {
  v.Field("filters", o.filters);
  WindowFields(v, o);
  // Keras also writes the fields of a single kernel, although this layer has two kernels with other names.
  v.Unused("kernel_initializer",
           PartToJson(initializers::InitializerFn("glorot_uniform").config(), "keras.initializers"));
  v.Field("bias_initializer", o.bias_initializer);
  v.Unused("kernel_regularizer", nullptr);
  v.Field("bias_regularizer", o.bias_regularizer);
  v.Fixed("activity_regularizer", nullptr);
  v.Unused("kernel_constraint", nullptr);
  v.Fixed("bias_constraint", nullptr);
  v.Field("depth_multiplier", o.depth_multiplier);
  v.Field("depthwise_initializer", o.depthwise_initializer);
  v.Field("pointwise_initializer", o.pointwise_initializer);
  v.Field("depthwise_regularizer", o.depthwise_regularizer);
  v.Field("pointwise_regularizer", o.pointwise_regularizer);
  v.Fixed("depthwise_constraint", nullptr);
  v.Fixed("pointwise_constraint", nullptr);
}

template <typename V>
void Fields(V& v, Pooling2DOptions& o) {
  v.Field("pool_size", o.pool_size);
  v.Field("padding", o.padding);
  if (o.strides.height == 0) o.strides.height = o.pool_size.height;
  if (o.strides.width == 0) o.strides.width = o.pool_size.width;
  v.Field("strides", o.strides);
  v.Fixed("data_format", "channels_last");
}

template <typename V>
void Fields(V& v, GlobalPooling2DOptions& o) {
  v.Fixed("data_format", "channels_last");
  v.Field("keepdims", o.keepdims);
}

template <typename V>
void Fields(V& v, UpSampling2DOptions& o) {
  v.Field("size", o.size);
  v.Fixed("data_format", "channels_last");
  v.Fixed("interpolation", "nearest");
}

// Lists the field of padding or cropping, which files write as [[top, bottom], [left, right]].
template <typename V>
void EdgesField(V& v, const char* key, Edges2D& edges) {
  std::vector<std::vector<int64_t>> rows = {{edges.top, edges.bottom}, {edges.left, edges.right}};
  v.Field(key, rows);
  if (rows.size() == 2 && rows[0].size() == 2 && rows[1].size() == 2) {
    edges = Edges2D({rows[0][0], rows[0][1]}, {rows[1][0], rows[1][1]});
  }
}

template <typename V>
void Fields(V& v, ZeroPadding2DOptions& o) {
  EdgesField(v, "padding", o.padding);
  v.Fixed("data_format", "channels_last");
}

template <typename V>
void Fields(V& v, Cropping2DOptions& o) {
  EdgesField(v, "cropping", o.cropping);
  v.Fixed("data_format", "channels_last");
}

}  // namespace layers

namespace {

// True if `padding` has a known name; records an error otherwise.
bool CheckPadding(const char* layer, const PaddingName& padding, CallContext& c) {
  if (padding.unknown().empty()) return true;
  c.graph()->FailAt(layer, absl::StrCat("`padding` is \"", padding.unknown(), "\" and must be \"valid\" or \"same\""),
                    c.loc());
  return false;
}

// True if the input is a batch of images and the edges are valid sizes; records an error otherwise.
bool CheckEdges(const char* layer, const char* option, const layers::Edges2D& e, CallContext& c) {
  if (c.x().rank() != 4) {
    c.graph()->FailAt(
        layer, absl::StrCat("needs an input of shape [b, height, width, channels], got ", ShapeString(c.x().shape())),
        c.loc());
    return false;
  }
  if (e.top >= 0 && e.bottom >= 0 && e.left >= 0 && e.right >= 0) return true;
  c.graph()->FailAt(layer, absl::StrCat("`", option, "` must not be negative"), c.loc());
  return false;
}

Tensor ComputeConv2D(const layers::Conv2DOptions& o, CallContext& c) {
  if (!CheckPadding("Conv2D", o.padding, c)) return c.graph()->Poisoned();
  return tandem::layers::Conv2D(c.x(),
                                {.filters = o.filters,
                                 .kernel_size = o.kernel_size,
                                 .strides = o.strides,
                                 .padding = o.padding.padding(),
                                 .activation = o.activation,
                                 .use_bias = o.use_bias,
                                 .kernel_initializer = o.kernel_initializer,
                                 .bias_initializer = o.bias_initializer,
                                 .kernel_regularizer = o.kernel_regularizer,
                                 .bias_regularizer = o.bias_regularizer},
                                c.loc());
}

Tensor ComputeDepthwise(const layers::DepthwiseConv2DOptions& o, CallContext& c) {
  if (!CheckPadding("DepthwiseConv2D", o.padding, c)) return c.graph()->Poisoned();
  return tandem::layers::DepthwiseConv2D(c.x(),
                                         {.kernel_size = o.kernel_size,
                                          .strides = o.strides,
                                          .padding = o.padding.padding(),
                                          .depth_multiplier = o.depth_multiplier,
                                          .activation = o.activation,
                                          .use_bias = o.use_bias,
                                          .depthwise_initializer = o.depthwise_initializer,
                                          .bias_initializer = o.bias_initializer,
                                          .depthwise_regularizer = o.depthwise_regularizer,
                                          .bias_regularizer = o.bias_regularizer},
                                         c.loc());
}

Tensor ComputeSeparable(const layers::SeparableConv2DOptions& o, CallContext& c) {
  if (!CheckPadding("SeparableConv2D", o.padding, c)) return c.graph()->Poisoned();
  return tandem::layers::SeparableConv2D(c.x(),
                                         {.filters = o.filters,
                                          .kernel_size = o.kernel_size,
                                          .strides = o.strides,
                                          .padding = o.padding.padding(),
                                          .depth_multiplier = o.depth_multiplier,
                                          .activation = o.activation,
                                          .use_bias = o.use_bias,
                                          .depthwise_initializer = o.depthwise_initializer,
                                          .pointwise_initializer = o.pointwise_initializer,
                                          .bias_initializer = o.bias_initializer,
                                          .depthwise_regularizer = o.depthwise_regularizer,
                                          .pointwise_regularizer = o.pointwise_regularizer,
                                          .bias_regularizer = o.bias_regularizer},
                                         c.loc());
}

using PoolingFn = Tensor (*)(const Tensor&, const tandem::layers::Pooling2DOptions&, SourceLocation);

template <PoolingFn pooling>
Tensor ComputePooling(const layers::Pooling2DOptions& o, CallContext& c) {
  if (!CheckPadding("Pooling2D", o.padding, c)) return c.graph()->Poisoned();
  return pooling(c.x(), {.pool_size = o.pool_size, .strides = o.strides, .padding = o.padding.padding()}, c.loc());
}

using ReduceFn = Tensor (*)(const Tensor&, std::vector<int64_t>, bool, SourceLocation);

template <ReduceFn reduce>
Tensor ComputeGlobalPooling(const layers::GlobalPooling2DOptions& o, CallContext& c) {
  if (!CheckEdges("GlobalPooling2D", "", {0}, c)) return c.graph()->Poisoned();
  return reduce(c.x(), {1, 2}, o.keepdims, c.loc());
}

Tensor ComputeUpSampling(const layers::UpSampling2DOptions& o, CallContext& c) {
  return tandem::layers::UpSampling2D(c.x(), {.size = o.size}, c.loc());
}

Tensor ComputeZeroPadding(const layers::ZeroPadding2DOptions& o, CallContext& c) {
  const layers::Edges2D& e = o.padding;
  if (!CheckEdges("ZeroPadding2D", "padding", e, c)) return c.graph()->Poisoned();
  return Pad(c.x(), {0, e.top, e.left, 0}, {0, e.bottom, e.right, 0}, 0, c.loc());
}

Tensor ComputeCropping(const layers::Cropping2DOptions& o, CallContext& c) {
  const layers::Edges2D& e = o.cropping;
  if (!CheckEdges("Cropping2D", "cropping", e, c)) return c.graph()->Poisoned();
  const Shape shape = c.x().shape();
  const int64_t height = shape[1] - e.top - e.bottom, width = shape[2] - e.left - e.right;
  if (height < 1 || width < 1) {
    return c.graph()->FailAt("Cropping2D", absl::StrCat("leaves nothing of the input ", ShapeString(shape)), c.loc());
  }
  return Slice(c.x(), {0, e.top, e.left, 0}, {shape[0], height, width, shape[3]}, c.loc());
}

constexpr LayerKind<layers::Conv2DOptions> kConv2D{"Conv2D", ComputeConv2D};
constexpr LayerKind<layers::DepthwiseConv2DOptions> kDepthwise{"DepthwiseConv2D", ComputeDepthwise};
constexpr LayerKind<layers::SeparableConv2DOptions> kSeparable{"SeparableConv2D", ComputeSeparable};
constexpr LayerKind<layers::Pooling2DOptions> kMaxPooling{"MaxPooling2D", ComputePooling<tandem::layers::MaxPooling2D>};
constexpr LayerKind<layers::Pooling2DOptions> kAveragePooling{"AveragePooling2D",
                                                              ComputePooling<tandem::layers::AveragePooling2D>};
constexpr LayerKind<layers::GlobalPooling2DOptions> kGlobalAverage{"GlobalAveragePooling2D",
                                                                   ComputeGlobalPooling<ReduceMean>};
constexpr LayerKind<layers::GlobalPooling2DOptions> kGlobalMax{"GlobalMaxPooling2D", ComputeGlobalPooling<ReduceMax>};
constexpr LayerKind<layers::UpSampling2DOptions> kUpSampling{"UpSampling2D", ComputeUpSampling};
constexpr LayerKind<layers::ZeroPadding2DOptions> kZeroPadding{"ZeroPadding2D", ComputeZeroPadding};
constexpr LayerKind<layers::Cropping2DOptions> kCropping{"Cropping2D", ComputeCropping};

}  // namespace

std::vector<LayerClass> WindowLayerClasses() {
  return {ClassOf(kConv2D),         ClassOf(kDepthwise),     ClassOf(kSeparable), ClassOf(kMaxPooling),
          ClassOf(kAveragePooling), ClassOf(kGlobalAverage), ClassOf(kGlobalMax), ClassOf(kUpSampling),
          ClassOf(kZeroPadding),    ClassOf(kCropping)};
}

namespace layers {

Conv2D::Conv2D(const Conv2DOptions& options, SourceLocation loc) : Layer(MakeLayer(kConv2D, options, loc)) {}
Conv2D::Conv2D(int64_t filters, Size2D kernel_size, Conv2DOptions rest, SourceLocation loc)
    : Conv2D((rest.filters = filters, rest.kernel_size = kernel_size, std::move(rest)), loc) {}

DepthwiseConv2D::DepthwiseConv2D(const DepthwiseConv2DOptions& options, SourceLocation loc)
    : Layer(MakeLayer(kDepthwise, options, loc)) {}
DepthwiseConv2D::DepthwiseConv2D(Size2D kernel_size, DepthwiseConv2DOptions rest, SourceLocation loc)
    : DepthwiseConv2D((rest.kernel_size = kernel_size, std::move(rest)), loc) {}

SeparableConv2D::SeparableConv2D(const SeparableConv2DOptions& options, SourceLocation loc)
    : Layer(MakeLayer(kSeparable, options, loc)) {}
SeparableConv2D::SeparableConv2D(int64_t filters, Size2D kernel_size, SeparableConv2DOptions rest, SourceLocation loc)
    : SeparableConv2D((rest.filters = filters, rest.kernel_size = kernel_size, std::move(rest)), loc) {}

MaxPooling2D::MaxPooling2D(const Pooling2DOptions& options, SourceLocation loc)
    : Layer(MakeLayer(kMaxPooling, options, loc)) {}
AveragePooling2D::AveragePooling2D(const Pooling2DOptions& options, SourceLocation loc)
    : Layer(MakeLayer(kAveragePooling, options, loc)) {}
GlobalAveragePooling2D::GlobalAveragePooling2D(const GlobalPooling2DOptions& options, SourceLocation loc)
    : Layer(MakeLayer(kGlobalAverage, options, loc)) {}
GlobalMaxPooling2D::GlobalMaxPooling2D(const GlobalPooling2DOptions& options, SourceLocation loc)
    : Layer(MakeLayer(kGlobalMax, options, loc)) {}
UpSampling2D::UpSampling2D(const UpSampling2DOptions& options, SourceLocation loc)
    : Layer(MakeLayer(kUpSampling, options, loc)) {}
ZeroPadding2D::ZeroPadding2D(const ZeroPadding2DOptions& options, SourceLocation loc)
    : Layer(MakeLayer(kZeroPadding, options, loc)) {}
Cropping2D::Cropping2D(const Cropping2DOptions& options, SourceLocation loc)
    : Layer(MakeLayer(kCropping, options, loc)) {}

}  // namespace layers
}  // namespace tandem::keras

// Keras' layers as objects. The functions of frontends/layers.h document their formulas and options; names of layers,
// weights and options, and the defaults, are those of Keras 2.15.
//
//   auto x = keras::layers::Conv2D(32, 3, {.activation = "relu"})(images);
//
// Common options: `.name`, unique in a model; `.trainable`, for layers with weights; `.input_shape`, the shape of one
// example, for layers that may be the first of a Sequential. An invalid option is an error of the call, with its line.
#ifndef TANDEM_FRONTENDS_KERAS_LAYERS_H_
#define TANDEM_FRONTENDS_KERAS_LAYERS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tandem/base/api.h"
#include "tandem/base/source_location.h"
#include "tandem/frontends/activations.h"
#include "tandem/frontends/initializers.h"
#include "tandem/frontends/keras/layer.h"
#include "tandem/frontends/keras/padding_name.h"
#include "tandem/frontends/layers.h"
#include "tandem/frontends/regularizers.h"
#include "tandem/graph/tensor.h"

namespace TANDEM_API tandem {
namespace keras::layers {

using initializers::InitializerFn;
using tandem::layers::Size2D;

#define TD_LOC SourceLocation loc = SourceLocation::Current()

struct DenseOptions {
  int64_t units = 0;  // required
  tandem::Activation activation;
  bool use_bias = true;
  InitializerFn kernel_initializer = "glorot_uniform";
  InitializerFn bias_initializer = "zeros";
  Regularizer kernel_regularizer;
  Regularizer bias_regularizer;
  bool trainable = true;
  std::string name;
  Shape input_shape;
};
// As layers::Dense: [b, ..., in] -> [b, ..., units]. Weights "kernel" [in, units] and "bias" [units].
struct Dense : Layer {
  explicit Dense(const DenseOptions& options, TD_LOC);
  explicit Dense(int64_t units, DenseOptions rest = {}, TD_LOC);
};

struct EmbeddingOptions {
  int64_t input_dim = 0;   // required: number of rows of the table
  int64_t output_dim = 0;  // required: size of a row
  InitializerFn embeddings_initializer = "uniform";
  Regularizer embeddings_regularizer;
  bool trainable = true;
  std::string name;
  Shape input_shape;
};
// As layers::Embedding: rows of the weight "embeddings" by integer index, [b, ...] -> [b, ..., output_dim].
struct Embedding : Layer {
  explicit Embedding(const EmbeddingOptions& options, TD_LOC);
  Embedding(int64_t input_dim, int64_t output_dim, EmbeddingOptions rest = {}, TD_LOC);
};

struct MultiHeadAttentionOptions {
  int64_t num_heads = 0;  // required
  int64_t key_dim = 0;    // required
  int64_t value_dim = 0;  // 0 means key_dim
  double dropout = 0;
  bool use_bias = true;
  InitializerFn kernel_initializer = "glorot_uniform";
  InitializerFn bias_initializer = "zeros";
  Regularizer kernel_regularizer;
  bool trainable = true;
  std::string name;
};
// Self-attention of a sequence: call it on x, or on {x, x} as query and value.
struct MultiHeadAttention : Layer {
  explicit MultiHeadAttention(const MultiHeadAttentionOptions& options, TD_LOC);
};

struct Conv2DOptions {
  int64_t filters = 0;     // required
  Size2D kernel_size = 0;  // required
  Size2D strides = 1;
  PaddingName padding = "valid";
  tandem::Activation activation;
  bool use_bias = true;
  InitializerFn kernel_initializer = "glorot_uniform";
  InitializerFn bias_initializer = "zeros";
  Regularizer kernel_regularizer;
  Regularizer bias_regularizer;
  bool trainable = true;
  std::string name;
  Shape input_shape;
};
// As layers::Conv2D: [b, h, w, c] -> [b, h', w', filters]. Weights "kernel" [kh, kw, c, filters] and "bias".
struct Conv2D : Layer {
  explicit Conv2D(const Conv2DOptions& options, TD_LOC);
  Conv2D(int64_t filters, Size2D kernel_size, Conv2DOptions rest = {}, TD_LOC);
};

struct DepthwiseConv2DOptions {
  Size2D kernel_size = 0;  // required
  Size2D strides = 1;
  PaddingName padding = "valid";
  int64_t depth_multiplier = 1;
  tandem::Activation activation;
  bool use_bias = true;
  InitializerFn depthwise_initializer = "glorot_uniform";
  InitializerFn bias_initializer = "zeros";
  Regularizer depthwise_regularizer;
  Regularizer bias_regularizer;
  bool trainable = true;
  std::string name;
  Shape input_shape;
};
// As layers::DepthwiseConv2D: [b, h, w, c] -> [b, h', w', c x depth_multiplier].
struct DepthwiseConv2D : Layer {
  explicit DepthwiseConv2D(const DepthwiseConv2DOptions& options, TD_LOC);
  explicit DepthwiseConv2D(Size2D kernel_size, DepthwiseConv2DOptions rest = {}, TD_LOC);
};

struct SeparableConv2DOptions {
  int64_t filters = 0;     // required
  Size2D kernel_size = 0;  // required
  Size2D strides = 1;
  PaddingName padding = "valid";
  int64_t depth_multiplier = 1;
  tandem::Activation activation;
  bool use_bias = true;
  InitializerFn depthwise_initializer = "glorot_uniform";
  InitializerFn pointwise_initializer = "glorot_uniform";
  InitializerFn bias_initializer = "zeros";
  Regularizer depthwise_regularizer;
  Regularizer pointwise_regularizer;
  Regularizer bias_regularizer;
  bool trainable = true;
  std::string name;
  Shape input_shape;
};
// As layers::SeparableConv2D: [b, h, w, c] -> [b, h', w', filters].
struct SeparableConv2D : Layer {
  explicit SeparableConv2D(const SeparableConv2DOptions& options, TD_LOC);
  SeparableConv2D(int64_t filters, Size2D kernel_size, SeparableConv2DOptions rest = {}, TD_LOC);
};

struct Pooling2DOptions {
  Size2D pool_size = 2;
  Size2D strides = 0;  // 0 means the pool size
  PaddingName padding = "valid";
  std::string name;
  Shape input_shape;
};
// The largest element of each window: [b, h, w, c] -> [b, h', w', c].
struct MaxPooling2D : Layer {
  explicit MaxPooling2D(const Pooling2DOptions& options = {}, TD_LOC);
};
// The mean of each window, without the padding: [b, h, w, c] -> [b, h', w', c].
struct AveragePooling2D : Layer {
  explicit AveragePooling2D(const Pooling2DOptions& options = {}, TD_LOC);
};

struct GlobalPooling2DOptions {
  bool keepdims = false;  // true gives results [b, 1, 1, c]
  std::string name;
  Shape input_shape;
};
// Averages over all positions: [b, h, w, c] -> [b, c].
struct GlobalAveragePooling2D : Layer {
  explicit GlobalAveragePooling2D(const GlobalPooling2DOptions& options = {}, TD_LOC);
};
// The largest element over all positions: [b, h, w, c] -> [b, c].
struct GlobalMaxPooling2D : Layer {
  explicit GlobalMaxPooling2D(const GlobalPooling2DOptions& options = {}, TD_LOC);
};

struct UpSampling2DOptions {
  Size2D size = 2;
  std::string name;
  Shape input_shape;
};
// Repeats rows and columns: [b, h, w, c] -> [b, h x size, w x size, c].
struct UpSampling2D : Layer {
  explicit UpSampling2D(const UpSampling2DOptions& options = {}, TD_LOC);
};

// Numbers of rows at the top and bottom, and of columns at the left and right. It can be made from one number for all
// edges, from {rows, columns}, or from {{top, bottom}, {left, right}}.
struct Edges2D {
  constexpr Edges2D(int64_t all) : Edges2D(all, all) {}  // NOLINT: implicit
  constexpr Edges2D(int64_t rows, int64_t columns) : Edges2D({rows, rows}, {columns, columns}) {}
  constexpr Edges2D(std::pair<int64_t, int64_t> rows, std::pair<int64_t, int64_t> columns)
      : top(rows.first), bottom(rows.second), left(columns.first), right(columns.second) {}
  int64_t top, bottom, left, right;
};
struct ZeroPadding2DOptions {
  Edges2D padding = 1;
  std::string name;
  Shape input_shape;
};
// [b, h, w, c] -> [b, top + h + bottom, left + w + right, c].
struct ZeroPadding2D : Layer {
  explicit ZeroPadding2D(const ZeroPadding2DOptions& options = {}, TD_LOC);
};
struct Cropping2DOptions {
  Edges2D cropping = 0;
  std::string name;
  Shape input_shape;
};
// [b, h, w, c] -> [b, h - top - bottom, w - left - right, c].
struct Cropping2D : Layer {
  explicit Cropping2D(const Cropping2DOptions& options = {}, TD_LOC);
};

// The options of layers that have no others.
struct NameOptions {
  std::string name;
  Shape input_shape;
};
// Joins all axes after the batch: [b, ...] -> [b, n].
struct Flatten : Layer {
  explicit Flatten(const NameOptions& options = {}, TD_LOC);
};
// Changes the shape of each example to the target shape, which does not include the batch. One size may be -1: it is
// computed from the others.
struct Reshape : Layer {
  explicit Reshape(const Shape& target_shape, const NameOptions& options = {}, TD_LOC);
};
// Reorders the axes of an example, counted from 1: {2, 1} transposes.
struct Permute : Layer {
  explicit Permute(const std::vector<int64_t>& dims, const NameOptions& options = {}, TD_LOC);
};
// Repeats each row n times: [b, c] -> [b, n, c].
struct RepeatVector : Layer {
  explicit RepeatVector(int64_t n, const NameOptions& options = {}, TD_LOC);
};

struct DropoutOptions {
  std::string name;
  Shape input_shape;
};
// In training, zeroes the fraction `rate` of the elements, in [0, 1), and scales the others by 1 / (1 - rate).
struct Dropout : Layer {
  explicit Dropout(double rate, const DropoutOptions& options = {}, TD_LOC);
};
// Drops whole channels of images [b, h, w, c].
struct SpatialDropout2D : Layer {
  explicit SpatialDropout2D(double rate, const DropoutOptions& options = {}, TD_LOC);
};

struct BatchNormalizationOptions {
  int64_t axis = -1;  // must be the last axis, counted from either end
  double momentum = 0.99;
  double epsilon = 1e-3;
  bool center = true;
  bool scale = true;
  bool trainable = true;
  std::string name;
  Shape input_shape;
};
// As layers::BatchNormalization. Weights "gamma", "beta", "moving_mean" and "moving_variance", each [channels].
struct BatchNormalization : Layer {
  explicit BatchNormalization(const BatchNormalizationOptions& options = {}, TD_LOC);
};
struct LayerNormalizationOptions {
  int64_t axis = -1;  // must be the last axis, counted from either end
  double epsilon = 1e-3;
  bool center = true;
  bool scale = true;
  bool trainable = true;
  std::string name;
  Shape input_shape;
};
// As layers::LayerNormalization. Weights "gamma" and "beta", each [channels].
struct LayerNormalization : Layer {
  explicit LayerNormalization(const LayerNormalizationOptions& options = {}, TD_LOC);
};

// Elementwise ops on two or more inputs whose shapes broadcast; Subtract takes exactly two.
struct Add : Layer {
  explicit Add(const NameOptions& options = {}, TD_LOC);
};
// The first input minus the second.
struct Subtract : Layer {
  explicit Subtract(const NameOptions& options = {}, TD_LOC);
};
// The product of all inputs.
struct Multiply : Layer {
  explicit Multiply(const NameOptions& options = {}, TD_LOC);
};
// The mean of all inputs.
struct Average : Layer {
  explicit Average(const NameOptions& options = {}, TD_LOC);
};
// The largest of all inputs, element by element.
struct Maximum : Layer {
  explicit Maximum(const NameOptions& options = {}, TD_LOC);
};
// The smallest of all inputs, element by element.
struct Minimum : Layer {
  explicit Minimum(const NameOptions& options = {}, TD_LOC);
};
struct ConcatenateOptions {
  int64_t axis = -1;  // the axis to join along, which must not be the batch axis
  std::string name;
};
// Joins two or more inputs along an axis.
struct Concatenate : Layer {
  explicit Concatenate(const ConcatenateOptions& options = {}, TD_LOC);
};
struct DotOptions {
  // One axis for both inputs, or one axis for each. Axis 0, the batch, is not allowed.
  std::vector<int64_t> axes = {1};
  // If true, vectors along the axis are first scaled to length 1, so that the result is the cosine.
  bool normalize = false;
  std::string name;
};
// Products of two inputs, summed over one axis of each: [b, n], [b, n] -> [b, 1]; [b, n, k], [b, m, k] with axes {2} ->
// [b, n, m]. Inputs have two or three dimensions.
struct Dot : Layer {
  explicit Dot(const DotOptions& options, TD_LOC);
};

// An activation function as a layer: "relu", Relu, a lambda.
struct Activation : Layer {
  explicit Activation(const tandem::Activation& activation, const NameOptions& options = {}, TD_LOC);
};
struct ReLUOptions {
  std::optional<double> max_value;
  double negative_slope = 0;
  double threshold = 0;
  std::string name;
};
// max_value for x >= max_value, x for threshold <= x, negative_slope (x - threshold) otherwise.
struct ReLU : Layer {
  explicit ReLU(const ReLUOptions& options = {}, TD_LOC);
};
struct LeakyReLUOptions {
  double alpha = 0.3;
  std::string name;
};
// x for x >= 0, alpha x for x < 0.
struct LeakyReLU : Layer {
  explicit LeakyReLU(const LeakyReLUOptions& options = {}, TD_LOC);
};
struct ELUOptions {
  double alpha = 1;
  std::string name;
};
// x for x > 0, alpha (e^x - 1) otherwise.
struct ELU : Layer {
  explicit ELU(const ELUOptions& options = {}, TD_LOC);
};
struct SoftmaxOptions {
  int64_t axis = -1;  // must be the last axis, counted from either end
  std::string name;
};
// exp(x) / sum(exp(x)) over the last axis.
struct Softmax : Layer {
  explicit Softmax(const SoftmaxOptions& options = {}, TD_LOC);
};
// Returns its input.
struct Identity : Layer {
  explicit Identity(const NameOptions& options = {}, TD_LOC);
};
struct RescalingOptions {
  double scale = 1;
  double offset = 0;
  std::string name;
  Shape input_shape;
};
// x scale + offset.
struct Rescaling : Layer {
  explicit Rescaling(const RescalingOptions& options, TD_LOC);
};

// Any user function of tensors as a layer. Layers that the function calls keep their weights from call to call. A
// Lambda cannot be saved in a file.
struct Lambda : Layer {
  explicit Lambda(std::function<Tensor(const Tensor&)> function, const NameOptions& options = {}, TD_LOC);
  explicit Lambda(std::function<Tensor(const std::vector<Tensor>&)> function, const NameOptions& options = {}, TD_LOC);
};

#undef TD_LOC

}  // namespace keras::layers
}  // namespace tandem

#endif  // TANDEM_FRONTENDS_KERAS_LAYERS_H_

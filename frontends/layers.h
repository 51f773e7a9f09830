// Layers with variables, named and computed as in Keras: "conv2d/kernel", "conv2d_1/bias", "dense/kernel",
// "batch_normalization/moving_mean". Images are [b, height, width, channels], convolution kernels HWIO, dense kernels
// [in, out]. A bad argument is recorded in the graph with the caller's file and line, and the result is not ok().
//
//   Tensor x = layers::Conv2D(image, {.filters = 32, .kernel_size = 3, .activation = Relu});
#ifndef TANDEM_FRONTENDS_LAYERS_H_
#define TANDEM_FRONTENDS_LAYERS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "tandem/base/api.h"
#include "tandem/base/source_location.h"
#include "tandem/frontends/activations.h"
#include "tandem/frontends/initializers.h"
#include "tandem/frontends/regularizers.h"
#include "tandem/graph/padding.h"
#include "tandem/graph/tensor.h"

namespace TANDEM_API tandem {
namespace layers {

// Height and width, made from one number for both, or from {height, width}.
struct Size2D {
  constexpr Size2D(int64_t both) : height(both), width(both) {}  // NOLINT: implicit
  constexpr Size2D(int64_t h, int64_t w) : height(h), width(w) {}
  int64_t height;
  int64_t width;
};

struct Conv2DOptions {
  int64_t filters = 0;     // required
  Size2D kernel_size = 0;  // required
  Size2D strides = 1;
  Padding padding = Padding::kValid;
  Activation activation;
  bool use_bias = true;
  initializers::InitializerFn kernel_initializer = initializers::GlorotUniform();
  initializers::InitializerFn bias_initializer = initializers::Zeros();
  Regularizer kernel_regularizer;  // e.g. L2(1e-4)
  Regularizer bias_regularizer;
  bool trainable = true;
  std::string name;  // default "conv2d", "conv2d_1", ...
};
// 2-D convolution: [b, h, w, c] -> [b, h', w', filters].
Tensor Conv2D(const Tensor& x, const Conv2DOptions& options, SourceLocation loc = SourceLocation::Current());

struct Conv1DOptions {
  int64_t filters = 0;      // required
  int64_t kernel_size = 0;  // required: number of time steps
  int64_t strides = 1;
  Padding padding = Padding::kValid;  // Keras' "causal" is not supported
  Activation activation;
  bool use_bias = true;
  initializers::InitializerFn kernel_initializer = initializers::GlorotUniform();
  initializers::InitializerFn bias_initializer = initializers::Zeros();
  Regularizer kernel_regularizer;
  Regularizer bias_regularizer;
  bool trainable = true;
  std::string name;  // default "conv1d", "conv1d_1", ...
};
// Convolution over time with a kernel [kernel_size, c, filters]: [b, steps, c] -> [b, steps', filters].
Tensor Conv1D(const Tensor& x, const Conv1DOptions& options, SourceLocation loc = SourceLocation::Current());

struct DepthwiseConv2DOptions {
  Size2D kernel_size = 0;  // required
  Size2D strides = 1;
  Padding padding = Padding::kValid;
  int64_t depth_multiplier = 1;  // output channels for each input channel
  Activation activation;
  bool use_bias = true;
  initializers::InitializerFn depthwise_initializer = initializers::GlorotUniform();
  initializers::InitializerFn bias_initializer = initializers::Zeros();
  Regularizer depthwise_regularizer;
  Regularizer bias_regularizer;
  bool trainable = true;
  std::string name;  // default "depthwise_conv2d", "depthwise_conv2d_1", ...
};
// Convolves each channel separately: [b, h, w, c] -> [b, h', w', c x depth_multiplier].
Tensor DepthwiseConv2D(const Tensor& x, const DepthwiseConv2DOptions& options,
                       SourceLocation loc = SourceLocation::Current());

struct SeparableConv2DOptions {
  int64_t filters = 0;     // required
  Size2D kernel_size = 0;  // required
  Size2D strides = 1;      // strides of the depthwise convolution
  Padding padding = Padding::kValid;
  int64_t depth_multiplier = 1;
  Activation activation;
  bool use_bias = true;
  initializers::InitializerFn depthwise_initializer = initializers::GlorotUniform();
  initializers::InitializerFn pointwise_initializer = initializers::GlorotUniform();
  initializers::InitializerFn bias_initializer = initializers::Zeros();
  Regularizer depthwise_regularizer;
  Regularizer pointwise_regularizer;
  Regularizer bias_regularizer;
  bool trainable = true;
  std::string name;  // default "separable_conv2d", "separable_conv2d_1", ...
};
// A depthwise convolution, then a convolution of 1x1: [b, h, w, c] -> [b, h', w', filters].
Tensor SeparableConv2D(const Tensor& x, const SeparableConv2DOptions& options,
                       SourceLocation loc = SourceLocation::Current());

struct Pooling2DOptions {
  Size2D pool_size = 2;
  Size2D strides = 0;  // 0 means the pool size
  Padding padding = Padding::kValid;
  std::string name;
};
// Pooling: [b, h, w, c] -> [b, h', w', c]. Averages do not include the padding of Padding::kSame.
Tensor MaxPooling2D(const Tensor& x, const Pooling2DOptions& options = {},
                    SourceLocation loc = SourceLocation::Current());
Tensor AveragePooling2D(const Tensor& x, const Pooling2DOptions& options = {},
                        SourceLocation loc = SourceLocation::Current());

struct UpSampling2DOptions {
  Size2D size = 2;  // number of copies of each row and each column
  std::string name;
};
// [b, h, w, c] -> [b, h x size, w x size, c]: Keras' interpolation "nearest".
Tensor UpSampling2D(const Tensor& x, const UpSampling2DOptions& options = {},
                    SourceLocation loc = SourceLocation::Current());

// Joins all axes after the batch: [b, ...] -> [b, product of the sizes]; [b] -> [b, 1].
Tensor Flatten(const Tensor& x, SourceLocation loc = SourceLocation::Current());

struct DenseOptions {
  int64_t units = 0;  // required
  Activation activation;
  bool use_bias = true;
  initializers::InitializerFn kernel_initializer = initializers::GlorotUniform();
  initializers::InitializerFn bias_initializer = initializers::Zeros();
  Regularizer kernel_regularizer;
  Regularizer bias_regularizer;
  bool trainable = true;
  std::string name;  // default "dense", "dense_1", ...
};
// Multiplies the last axis by the kernel and adds the bias: [b, ..., in] -> [b, ..., units].
Tensor Dense(const Tensor& x, const DenseOptions& options, SourceLocation loc = SourceLocation::Current());

struct DropoutOptions {
  double rate = 0.5;  // fraction of the elements that become 0, in [0, 1)
  // Required: `mode == Mode::kTrain`. There is no default, because forgetting it would silently train without dropout.
  std::optional<bool> training;
  std::string name;
};
// In training, zeroes elements at random and scales the others by 1 / (1 - rate). Otherwise returns x.
Tensor Dropout(const Tensor& x, const DropoutOptions& options, SourceLocation loc = SourceLocation::Current());

struct BatchNormalizationOptions {
  double momentum = 0.99;  // decay of the moving averages, in [0, 1]
  double epsilon = 1e-3;   // added to the variance
  bool center = true;      // whether there is an offset, beta
  bool scale = true;       // whether there is a factor, gamma
  // Required: whether this is a training step, `mode == Mode::kTrain`.
  std::optional<bool> training;
  // If true, the statistics are those of the rows of all replicas instead of each replica's own rows.
  bool sync = false;
  // If false, the layer is frozen as in Keras: gamma and beta do not change, and the moving averages are used.
  bool trainable = true;
  std::string name;  // default "batch_normalization", "batch_normalization_1", ...
};
// Normalises over all axes but the last (Ioffe and Szegedy 2015). In training, it uses the batch's mean and biased
// variance, and at the end of the step the moving averages become moving - (moving - batch) * (1 - momentum); they stay
// unchanged if there was no example. Otherwise it uses the moving averages. As in TensorFlow's fused kernel, for images
// and volumes (rank 4 and 5) the moving average gets the unbiased variance n / (n - 1), n = examples * height * width
// (* depth); for other ranks the biased one.
Tensor BatchNormalization(const Tensor& x, const BatchNormalizationOptions& options,
                          SourceLocation loc = SourceLocation::Current());

struct LayerNormalizationOptions {
  double epsilon = 1e-3;  // added to the variance
  bool center = true;     // whether there is an offset, beta
  bool scale = true;      // whether there is a factor, gamma
  bool trainable = true;
  std::string name;  // default "layer_normalization", "layer_normalization_1", ...
};
// Normalises every row over the last axis with its mean and biased variance (Ba, Kiros and Hinton 2016), then
// multiplies by gamma and adds beta, both [channels]: [b, ..., channels] -> the same shape.
Tensor LayerNormalization(const Tensor& x, const LayerNormalizationOptions& options = {},
                          SourceLocation loc = SourceLocation::Current());

struct EmbeddingOptions {
  int64_t input_dim = 0;   // required: rows of the table
  int64_t output_dim = 0;  // required: size of a row
  initializers::InitializerFn embeddings_initializer = initializers::RandomUniform();
  Regularizer embeddings_regularizer;
  bool trainable = true;
  std::string name;  // default "embedding", "embedding_1", ...
};
// Looks up rows of the variable "embeddings" by int32 or int64 index: [b, ...] -> [b, ..., output_dim], float32. If an
// index outside [0, input_dim) is in an input of the model, the run ends with an error that names the index, as in
// TensorFlow. If the index was computed, the result is a row of NaN, so that a training stops at the first such step
// and names this layer.
Tensor Embedding(const Tensor& indices, const EmbeddingOptions& options,
                 SourceLocation loc = SourceLocation::Current());

struct MultiHeadAttentionOptions {
  int64_t num_heads = 0;  // required
  int64_t key_dim = 0;    // required: size of queries and keys per head
  int64_t value_dim = 0;  // size of values per head; 0 means key_dim
  double dropout = 0;     // dropout rate of the attention weights
  // Required with dropout: whether this is a training step, `mode == Mode::kTrain`.
  std::optional<bool> training;
  bool use_bias = true;
  bool use_causal_mask = false;  // if true, position t attends only to positions up to t
  initializers::InitializerFn kernel_initializer = initializers::GlorotUniform();
  initializers::InitializerFn bias_initializer = initializers::Zeros();
  Regularizer kernel_regularizer;
  bool trainable = true;
  std::string name;  // default "multi_head_attention", ...
};
// Self-attention of the positions of x (Vaswani et al. 2017): [b, s, d] -> [b, s, d]. Scores are query key^T /
// sqrt(key_dim). Variables as in Keras: "query/kernel", "key/kernel" [d, heads, key_dim], "value/kernel" [d, heads,
// value_dim], "attention_output/kernel" [heads, value_dim, d], and their biases. `mask` is optional and boolean: [b, s]
// (true for positions that are attended to) or [b, s, s] (by query, then key); excluded positions get the score -1e9,
// as in Keras.
Tensor MultiHeadAttention(const Tensor& x, const MultiHeadAttentionOptions& options, const Tensor& mask = Tensor(),
                          SourceLocation loc = SourceLocation::Current());

// The activation functions as layers, with a name scope of their own.
Tensor ReLU(const Tensor& x, SourceLocation loc = SourceLocation::Current());
Tensor LeakyReLU(const Tensor& x, double alpha = 0.3, SourceLocation loc = SourceLocation::Current());
Tensor Softmax(const Tensor& x, SourceLocation loc = SourceLocation::Current());

}  // namespace layers
}  // namespace tandem

#endif  // TANDEM_FRONTENDS_LAYERS_H_

// Dense, Embedding, MultiHeadAttention and the dropout layers.
#include <utility>

#include "absl/strings/str_cat.h"
#include "frontends/keras/layers.h"
#include "frontends/keras/option_layer.h"
#include "frontends/layers.h"
#include "graph/ops.h"

namespace tandem::keras {
namespace layers {

template <typename V>
void Fields(V& v, DenseOptions& o) {
  v.Field("units", o.units);
  v.Field("activation", o.activation);
  v.Field("use_bias", o.use_bias);
  v.Field("kernel_initializer", o.kernel_initializer);
  v.Field("bias_initializer", o.bias_initializer);
  v.Field("kernel_regularizer", o.kernel_regularizer);
  v.Field("bias_regularizer", o.bias_regularizer);
  v.Fixed("activity_regularizer", nullptr);
  v.Fixed("kernel_constraint", nullptr);
  v.Fixed("bias_constraint", nullptr);
}

template <typename V>
void Fields(V& v, EmbeddingOptions& o) {
  v.Field("input_dim", o.input_dim);
  v.Field("output_dim", o.output_dim);
  v.Field("embeddings_initializer", o.embeddings_initializer);
  v.Field("embeddings_regularizer", o.embeddings_regularizer);
  v.Fixed("activity_regularizer", nullptr);
  v.Fixed("embeddings_constraint", nullptr);
  v.Fixed("mask_zero", false);
  v.Unused("input_length", nullptr);  // batch_input_shape has the same information
}

template <typename V>
void Fields(V& v, MultiHeadAttentionOptions& o) {
  v.Field("num_heads", o.num_heads);
  v.Field("key_dim", o.key_dim);
  v.Field("value_dim", o.value_dim);
  v.Field("dropout", o.dropout);
  v.Field("use_bias", o.use_bias);
  v.Fixed("output_shape", nullptr);
  // Axis 1, the only one that is supported: the positions, between the batch and the features.
  v.Fixed("attention_axes", nullptr, {1});
  v.Field("kernel_initializer", o.kernel_initializer);
  v.Field("bias_initializer", o.bias_initializer);
  v.Field("kernel_regularizer", o.kernel_regularizer);
  v.Fixed("bias_regularizer", nullptr);
  v.Fixed("activity_regularizer", nullptr);
  v.Fixed("kernel_constraint", nullptr);
  v.Fixed("bias_constraint", nullptr);
  v.InputShape("query_shape", 0);
  v.InputShape("value_shape", 1);
  v.InputShape("key_shape", 2);
}

struct DropoutFields {
  double rate = 0.5;
  std::string name;
  Shape input_shape;
};

template <typename V>
void Fields(V& v, DropoutFields& o) {
  v.Field("rate", o.rate);
  v.Fixed("noise_shape", nullptr);
  v.Unused("seed", nullptr);  // Keras' seed means nothing to Tandem's random number generator
}

}  // namespace layers

namespace {

Tensor ComputeDense(const layers::DenseOptions& o, CallContext& c) {
  return tandem::layers::Dense(c.x(),
                               {.units = o.units,
                                .activation = o.activation,
                                .use_bias = o.use_bias,
                                .kernel_initializer = o.kernel_initializer,
                                .bias_initializer = o.bias_initializer,
                                .kernel_regularizer = o.kernel_regularizer,
                                .bias_regularizer = o.bias_regularizer},
                               c.loc());
}

Tensor ComputeEmbedding(const layers::EmbeddingOptions& o, CallContext& c) {
  return tandem::layers::Embedding(c.x(),
                                   {.input_dim = o.input_dim,
                                    .output_dim = o.output_dim,
                                    .embeddings_initializer = o.embeddings_initializer,
                                    .embeddings_regularizer = o.embeddings_regularizer},
                                   c.loc());
}

Tensor ComputeAttention(const layers::MultiHeadAttentionOptions& o, CallContext& c) {
  for (const Tensor& other : c.inputs()) {
    if (other == c.x()) continue;
    return c.graph()->FailAt("MultiHeadAttention",
                             "attends to the sequence itself only; give it the same tensor as query and value",
                             c.loc());
  }
  return tandem::layers::MultiHeadAttention(c.x(),
                                            {.num_heads = o.num_heads,
                                             .key_dim = o.key_dim,
                                             .value_dim = o.value_dim,
                                             .dropout = o.dropout,
                                             .training = c.training(),
                                             .use_bias = o.use_bias,
                                             .kernel_initializer = o.kernel_initializer,
                                             .bias_initializer = o.bias_initializer,
                                             .kernel_regularizer = o.kernel_regularizer},
                                            Tensor(), c.loc());
}

Tensor ComputeDropout(const layers::DropoutFields& o, CallContext& c) {
  return tandem::layers::Dropout(c.x(), {.rate = o.rate, .training = c.training()}, c.loc());
}

Tensor ComputeSpatialDropout(const layers::DropoutFields& o, CallContext& c) {
  const Shape shape = c.x().shape();
  if (shape.size() != 4) {
    return c.graph()->FailAt(
        "SpatialDropout2D",
        absl::StrCat("needs an input of shape [b, height, width, channels], got ", ShapeString(shape)), c.loc());
  }
  const Tensor ones = tandem::Full(c.graph(), {shape[0], 1, 1, shape[3]}, 1, c.x().dtype(), c.loc());
  // Dropout of ones gives a factor for each channel of each example: 0, or 1 / (1 - rate) if the channel is kept.
  const Tensor kept = tandem::layers::Dropout(ones, {.rate = o.rate, .training = c.training()}, c.loc());
  return c.training() ? Mul(c.x(), kept, c.loc()) : c.x();
}

constexpr LayerKind<layers::DenseOptions> kDense{"Dense", ComputeDense};
constexpr LayerKind<layers::EmbeddingOptions> kEmbedding{"Embedding", ComputeEmbedding};
constexpr LayerKind<layers::MultiHeadAttentionOptions> kAttention{
    "MultiHeadAttention", ComputeAttention, 1, 3, {.names = {"query", "value", "key"}, .required = 2}};
constexpr LayerKind<layers::DropoutFields> kDropout{"Dropout", ComputeDropout};
constexpr LayerKind<layers::DropoutFields> kSpatialDropout{"SpatialDropout2D", ComputeSpatialDropout};

}  // namespace

std::vector<LayerClass> DenseLayerClasses() {
  return {ClassOf(kDense), ClassOf(kEmbedding), ClassOf(kAttention), ClassOf(kDropout), ClassOf(kSpatialDropout)};
}

namespace layers {

Dense::Dense(const DenseOptions& options, SourceLocation loc) : Layer(MakeLayer(kDense, options, loc)) {}
Dense::Dense(int64_t units, DenseOptions rest, SourceLocation loc)
    : Dense((rest.units = units, std::move(rest)), loc) {}

Embedding::Embedding(const EmbeddingOptions& options, SourceLocation loc)
    : Layer(MakeLayer(kEmbedding, options, loc)) {}
Embedding::Embedding(int64_t input_dim, int64_t output_dim, EmbeddingOptions rest, SourceLocation loc)
    : Embedding((rest.input_dim = input_dim, rest.output_dim = output_dim, std::move(rest)), loc) {}

MultiHeadAttention::MultiHeadAttention(const MultiHeadAttentionOptions& options, SourceLocation loc)
    : Layer(MakeLayer(kAttention, options, loc)) {}

Dropout::Dropout(double rate, const DropoutOptions& options, SourceLocation loc)
    : Layer(MakeLayer(kDropout, DropoutFields{rate, options.name, options.input_shape}, loc)) {}
SpatialDropout2D::SpatialDropout2D(double rate, const DropoutOptions& options, SourceLocation loc)
    : Layer(MakeLayer(kSpatialDropout, DropoutFields{rate, options.name, options.input_shape}, loc)) {}

}  // namespace layers
}  // namespace tandem::keras

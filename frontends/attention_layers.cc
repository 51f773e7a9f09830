// Embedding and multi-head attention.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "frontends/check.h"
#include "frontends/layer_scope.h"
#include "frontends/layers.h"
#include "graph/ops.h"

namespace tandem::layers {
namespace {

// The score of masked positions, the same as in Keras: far below any score, but finite, so that softmax works even if
// everything is masked.
constexpr double kMasked = -1e9;

// Makes the four projections of an attention layer: query, key, value and output.
class Projections {
 public:
  Projections(LayerScope& layer, const MultiHeadAttentionOptions& options, SourceLocation loc)
      : layer_(layer), options_(options), loc_(loc) {}

  // Multiplies x [b, s, in] by a kernel stored as [in, heads, size]: [b, s, heads, size].
  Tensor ToHeads(const std::string& name, const Tensor& x, int64_t size) {
    const Shape& shape = x.shape();
    const int64_t heads = options_.num_heads;
    Tensor y = Multiply(name, x, {shape[2], heads, size}, {shape[2], heads * size}, {heads, size}, heads * size);
    return Reshape(y, {shape[0], shape[1], heads, size}, loc_);
  }

  // Multiplies x [b, s, heads, size] by a kernel stored as [heads, size, out]: [b, s, out].
  Tensor FromHeads(const std::string& name, const Tensor& x, int64_t out) {
    if (!x.ok()) return x;
    const Shape& shape = x.shape();
    const int64_t in = shape[2] * shape[3];
    Tensor flat = Reshape(x, {shape[0], shape[1], in}, loc_);
    return Multiply(name, flat, {shape[2], shape[3], out}, {in, out}, {out}, out);
  }

 private:
  Tensor Multiply(const std::string& name, const Tensor& x, const Shape& stored, const Shape& matrix,
                  const Shape& bias_shape, int64_t columns) {
    Tensor kernel = layer_.Weight(name + "/kernel", stored, options_.kernel_initializer, options_.trainable,
                                  options_.kernel_regularizer);
    if (!layer_.ok()) return layer_.Failed();
    Tensor y = MatMul(x, Reshape(kernel, matrix, loc_), false, false, loc_);
    if (!options_.use_bias) return y;
    Tensor bias = layer_.Weight(name + "/bias", bias_shape, options_.bias_initializer, options_.trainable);
    return layer_.ok() ? Add(y, Reshape(bias, {columns}, loc_), loc_) : layer_.Failed();
  }

  LayerScope& layer_;
  const MultiHeadAttentionOptions& options_;
  SourceLocation loc_;
};

// Replaces the scores where `keep` is false by a very low score. The shape of `keep` must broadcast to that of the
// scores, [b, heads, s, s].
Tensor Masked(const Tensor& scores, const Tensor& keep, SourceLocation loc) {
  Tensor low = frontends::ScalarConstant(scores.graph(), kMasked, scores.dtype(), loc);
  return Select(Broadcast(keep, scores.shape(), loc), scores, Broadcast(low, scores.shape(), loc), loc);
}

Tensor CausalMask(GraphBuilder* graph, int64_t positions, SourceLocation loc) {
  const Shape square = {positions, positions};
  return GreaterEqual(Iota(graph, square, 0, DType::kInt32, loc), Iota(graph, square, 1, DType::kInt32, loc), loc);
}

}  // namespace

Tensor Embedding(const Tensor& indices, const EmbeddingOptions& options, SourceLocation loc) {
  LayerScope layer(indices, "Embedding", "embedding", options.name, 0, loc, /*takes_indices=*/true);
  if (!layer.ok() || !layer.CheckPositive("input_dim", options.input_dim) ||
      !layer.CheckPositive("output_dim", options.output_dim)) {
    return layer.Failed();
  }
  Tensor table = layer.Weight("embeddings", {options.input_dim, options.output_dim}, options.embeddings_initializer,
                              options.trainable, options.embeddings_regularizer);
  return layer.ok() ? Gather(table, indices, loc) : layer.Failed();
}

Tensor MultiHeadAttention(const Tensor& x, const MultiHeadAttentionOptions& options, const Tensor& mask,
                          SourceLocation loc) {
  LayerScope layer(x, "MultiHeadAttention", "multi_head_attention", options.name, 0, loc);
  if (!layer.ok() || !layer.CheckPositive("num_heads", options.num_heads) ||
      !layer.CheckPositive("key_dim", options.key_dim)) {
    return layer.Failed();
  }
  if (x.rank() != 3) {
    return layer.Fail(absl::StrCat("needs an input of shape [b, positions, features], got ", ShapeString(x.shape())));
  }
  if (options.value_dim < 0) {
    return layer.Fail(absl::StrCat("`value_dim` must not be negative, got ", options.value_dim));
  }
  const Shape shape = x.shape();
  const bool masked = !mask.empty();
  if (masked && !(mask.ok() && mask.dtype() == DType::kBool &&
                  (mask.shape() == Shape{shape[0], shape[1]} || mask.shape() == Shape{shape[0], shape[1], shape[1]}))) {
    return layer.Fail(absl::StrCat("needs a boolean mask of shape [b,", shape[1], "] or [b,", shape[1], ",", shape[1],
                                   "], got ", frontends::TypeString(mask)));
  }
  const int64_t value_dim = options.value_dim > 0 ? options.value_dim : options.key_dim;
  Projections project(layer, options, loc);
  Tensor query = project.ToHeads("query", x, options.key_dim);
  Tensor key = project.ToHeads("key", x, options.key_dim);
  Tensor value = project.ToHeads("value", x, value_dim);
  if (!layer.ok()) return layer.Failed();
  // The projections are [b, s, heads, size], with the heads inside a position. The product reads them in this layout
  // (swap_a, swap_b), so nothing is transposed.
  Tensor scores = BatchMatMul(query, key, {.transpose_b = true, .swap_a = true, .swap_b = true}, loc);
  scores = Mul(scores, 1 / std::sqrt(static_cast<double>(options.key_dim)), loc);
  if (options.use_causal_mask) scores = Masked(scores, CausalMask(layer.graph(), shape[1], loc), loc);
  if (masked) {
    Shape keep = {shape[0], 1, mask.rank() == 2 ? 1 : shape[1], shape[1]};
    scores = Masked(scores, Reshape(mask, keep, loc), loc);
  }
  Tensor weights = tandem::Softmax(scores, loc);
  if (options.dropout != 0) {
    weights = Dropout(weights, {.rate = options.dropout, .training = options.training}, loc);
  }
  Tensor context = BatchMatMul(weights, value, {.swap_b = true, .swap_output = true}, loc);
  return project.FromHeads("attention_output", context, shape[2]);
}

}  // namespace tandem::layers

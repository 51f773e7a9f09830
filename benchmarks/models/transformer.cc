// A Transformer encoder with the original order of layers (Vaswani et al. 2017), without dropout.
#include "benchmarks/models/model.h"
#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/optimizers.h"
#include "graph/ops.h"

namespace tandem::benchmarks {
namespace {

constexpr int64_t kVocabulary = 8192, kTokens = 128, kWidth = 256, kHeads = 4, kHidden = 1024, kClasses = 10;
constexpr double kEpsilon = 1e-5;

// Computes y = norm(x + attention(x)) and returns norm(y + dense(gelu(dense(y)))).
Tensor EncoderLayer(FlopCounter& flops, const Tensor& x, double tokens) {
  // Attention has four projections, and the products of queries with keys and of weights with values.
  flops.Layer(4.0 * tokens * kWidth * kWidth);
  flops.Layer(2.0 * tokens * tokens * kWidth);
  Tensor attention = layers::MultiHeadAttention(x, {.num_heads = kHeads, .key_dim = kWidth / kHeads});
  Tensor y = layers::LayerNormalization(x + attention, {.epsilon = kEpsilon});
  flops.Layer(2.0 * tokens * kWidth * kHidden);
  Tensor hidden = layers::Dense(y, {.units = kHidden, .activation = Gelu});
  return layers::LayerNormalization(y + layers::Dense(hidden, {.units = kWidth}), {.epsilon = kEpsilon});
}

}  // namespace

BenchModel TransformerModel(const ModelOptions& options) {
  const int64_t tokens = options.tokens == 0 ? kTokens : options.tokens;
  return {.name = "transformer",
          .default_batch = 16,
          .inputs = {{"ids", DType::kInt32, {tokens}, kVocabulary}, {"label", DType::kInt32, {}, kClasses}},
          .optimizer = optimizers::Adam({.learning_rate = 1e-3}),
          .loss = [tokens](const InputTensors& inputs, FlopCounter& flops) {
            // The embedding costs no multiply-adds, but it is trained, so that the first layer needs the gradient of
            // its input.
            flops.Layer(0);
            Tensor x = layers::Embedding(inputs.at("ids"), {.input_dim = kVocabulary, .output_dim = kWidth});
            for (int i = 0; i < 2; ++i) x = EncoderLayer(flops, x, static_cast<double>(tokens));
            flops.Layer(kWidth * kClasses);
            Tensor logits = layers::Dense(ReduceMean(x, {1}), {.units = kClasses});
            return losses::SparseSoftmaxCrossEntropy(inputs.at("label"), logits);
          }};
}

}  // namespace tandem::benchmarks

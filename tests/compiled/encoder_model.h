// A small Transformer encoder: what the larger ones are made of, in one graph.
#ifndef TANDEM_TESTS_COMPILED_ENCODER_MODEL_H_
#define TANDEM_TESTS_COMPILED_ENCODER_MODEL_H_

#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/optimizers.h"
#include "graph/ops.h"

namespace tandem::compiled {

inline constexpr int64_t kEncoderVocabulary = 11, kEncoderPositions = 6;

// Embedding, one layer (post-norm, exact GELU), mean over the positions, four classes; gradient descent at 0.125.
// tests/oracle/encoder.py is the same in NumPy.
inline void EncoderModel(GraphBuilder& g) {
  Tensor ids = g.Input("ids", DType::kInt32, {kBatch, kEncoderPositions});
  Tensor x = layers::Embedding(ids, {.input_dim = kEncoderVocabulary, .output_dim = 8});
  Tensor y = layers::LayerNormalization(x + layers::MultiHeadAttention(x, {.num_heads = 2, .key_dim = 4}));
  Tensor hidden = layers::Dense(y, {.units = 16, .activation = Gelu});
  y = layers::LayerNormalization(y + layers::Dense(hidden, {.units = 8}));
  Tensor logits = layers::Dense(ReduceMean(y, {1}), {.units = 4});
  Tensor loss = losses::SparseSoftmaxCrossEntropy(g.Input("label", DType::kInt32, {kBatch}), logits);
  g.Output("logits", logits);
  g.Output("loss", loss);
  optimizers::GradientDescent({.learning_rate = 0.125}).Minimize(loss);
}

}  // namespace tandem::compiled

#endif  // TANDEM_TESTS_COMPILED_ENCODER_MODEL_H_

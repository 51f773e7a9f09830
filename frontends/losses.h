// Losses. Per-example values are reduced as in Keras and tf.compat.v1.losses; a mean over the batch divides by the
// number of examples in the whole global batch, however many devices there are and however short the last batch is.
#ifndef TANDEM_FRONTENDS_LOSSES_H_
#define TANDEM_FRONTENDS_LOSSES_H_

#include <cstdint>

#include "base/source_location.h"
#include "graph/graph_builder.h"
#include "graph/tensor.h"

namespace tandem::losses {

enum class Reduction : int8_t {
  kSumOverBatchSize,     // sum(w l) / number of l; Keras' default
  kSum,                  // sum(w l)
  kNone,                 // w l, per example
  kMean,                 // sum(w l) / sum(w); 0 when all weights are 0 (tf.compat.v1 MEAN)
  kSumByNonzeroWeights,  // sum(w l) / number of w != 0 (tf.compat.v1's default)
};

struct LossOptions {
  Tensor weights;  // [b] (or what the per-example loss broadcasts from), any number type; empty: all 1
  Reduction reduction = Reduction::kSumOverBatchSize;
  // Categorical losses: labels become labels * (1 - s) + s / classes.
  double label_smoothing = 0;
};

// labels [b] or [b, 1] of integers in [0, classes), logits [b, classes].
Tensor SparseSoftmaxCrossEntropy(const Tensor& labels, const Tensor& logits, const LossOptions& options = {},
                                 SourceLocation loc = SourceLocation::Current());
// labels [b, classes] (probabilities, or one-hot of any number type), logits [b, classes].
Tensor SoftmaxCrossEntropy(const Tensor& labels, const Tensor& logits, const LossOptions& options = {},
                           SourceLocation loc = SourceLocation::Current());
// The same on probabilities [b, classes]. Those that come from Softmax are traced back to its logits, which keeps the
// loss finite and accurate; others are divided by their sum and cut to [1e-7, 1 - 1e-7] as in Keras.
Tensor CategoricalCrossentropy(const Tensor& labels, const Tensor& probabilities, const LossOptions& options = {},
                               SourceLocation loc = SourceLocation::Current());
// Squared error; the mean over the last axis for predictions of rank 2 and more. labels and predictions have the same
// shape, except that [b] and [b, 1] go together.
Tensor MeanSquaredError(const Tensor& labels, const Tensor& predictions, const LossOptions& options = {},
                        SourceLocation loc = SourceLocation::Current());

// Weighs and reduces losses per example ([b] or [b, ...]), as the losses above do.
Tensor ComputeWeightedLoss(const Tensor& losses, const LossOptions& options = {},
                           SourceLocation loc = SourceLocation::Current());

// The sum of all regularisation terms of the graph (layers' `.kernel_regularizer`), 0 without any. It counts once,
// not once per example or replica:
//   Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, logits) + losses::RegularizationLoss(logits.graph());
Tensor RegularizationLoss(GraphBuilder* graph, SourceLocation loc = SourceLocation::Current());

}  // namespace tandem::losses

#endif  // TANDEM_FRONTENDS_LOSSES_H_

// Losses. Per-example values are reduced as in Keras and tf.compat.v1.losses; a mean over the batch divides by the
// number of examples in the whole global batch, however many devices there are and however short the last batch is.
#ifndef TANDEM_FRONTENDS_LOSSES_H_
#define TANDEM_FRONTENDS_LOSSES_H_

#include <cstdint>
#include <vector>

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
  // Cross entropies of several classes: labels become labels * (1 - s) + s / classes; of two: labels * (1 - s) + s / 2.
  // For other losses it is an error, as is from_logits.
  double label_smoothing = 0;
  // BinaryCrossEntropy, CategoricalCrossEntropy and SparseCategoricalCrossEntropy: the predictions are logits, not
  // probabilities. The loss and its gradient are then accurate for logits of any size.
  bool from_logits = false;
};

struct HuberOptions {
  Tensor weights;  // as in LossOptions
  Reduction reduction = Reduction::kSumOverBatchSize;
  double delta = 1;  // the error up to which the loss is quadratic; positive
};

struct FocalOptions {
  Tensor weights;  // as in LossOptions, as are the next three
  Reduction reduction = Reduction::kSumOverBatchSize;
  double label_smoothing = 0;
  bool from_logits = false;
  double gamma = 2;     // how strongly examples that are right already are faded out; 0: not at all
  double alpha = 0.25;  // in [0, 1]
  // Binary: labels of 1 are weighted by alpha, those of 0 by 1 - alpha. The categorical loss is multiplied by alpha in
  // any case.
  bool apply_class_balancing = false;
};

// The losses of classes take an example's scores, [b, classes], or those of each position of a sequence or picture,
// [b, ..., classes]. Then the loss is one for each position, and `weights` may be [b, ...], with 0 for padding.

// labels [b, ...] or [b, ..., 1] of integers in [0, classes), logits [b, ..., classes].
Tensor SparseSoftmaxCrossEntropy(const Tensor& labels, const Tensor& logits, const LossOptions& options = {},
                                 SourceLocation loc = SourceLocation::Current());
// labels [b, ..., classes] (probabilities, or one-hot of any number type), logits of their shape. As with tf.losses,
// labels get no gradient.
Tensor SoftmaxCrossEntropy(const Tensor& labels, const Tensor& logits, const LossOptions& options = {},
                           SourceLocation loc = SourceLocation::Current());
// The same on probabilities [b, ..., classes]. Those that come from Softmax are traced back to its logits, which keeps
// the loss finite and accurate; others are divided by their sum and cut to [1e-7, 1 - 1e-7] as in Keras. As there,
// labels that follow from variables get a gradient.
Tensor CategoricalCrossEntropy(const Tensor& labels, const Tensor& probabilities, const LossOptions& options = {},
                               SourceLocation loc = SourceLocation::Current());
// labels as SparseSoftmaxCrossEntropy's, probabilities [b, ..., classes]; they are treated as those above, but cut
// before they are divided by their sum.
Tensor SparseCategoricalCrossEntropy(const Tensor& labels, const Tensor& probabilities, const LossOptions& options = {},
                                     SourceLocation loc = SourceLocation::Current());
// -(1 - p)^gamma alpha labels log(p), summed over the classes; labels and probabilities [b, ..., classes].
// Probabilities are divided by their sum and cut to [1e-7, 1 - 1e-7], also those of logits. Lin et al., "Focal Loss for
// Dense Object Detection", as in Keras.
Tensor CategoricalFocalCrossEntropy(const Tensor& labels, const Tensor& probabilities, const FocalOptions& options = {},
                                    SourceLocation loc = SourceLocation::Current());

// In the losses below labels and predictions have the same shape, except that [b] and [b, 1] go together, and labels
// any number type. The loss of an example of rank 2 and more is the mean over the last axis.

// -(y log p + (1 - y) log(1 - p)) of labels in [0, 1] and probabilities. Those that come from Sigmoid are traced back
// to its logits, which keeps the loss finite and accurate; others are cut to [1e-7, 1 - 1e-7] as in Keras, and what is
// cut has no gradient.
Tensor BinaryCrossEntropy(const Tensor& labels, const Tensor& probabilities, const LossOptions& options = {},
                          SourceLocation loc = SourceLocation::Current());
// The same times (1 - q)^gamma, where q is the probability of the label: y p + (1 - y) (1 - p). Lin et al., "Focal Loss
// for Dense Object Detection", as in Keras.
Tensor BinaryFocalCrossEntropy(const Tensor& labels, const Tensor& probabilities, const FocalOptions& options = {},
                               SourceLocation loc = SourceLocation::Current());
// (p - y)^2.
Tensor MeanSquaredError(const Tensor& labels, const Tensor& predictions, const LossOptions& options = {},
                        SourceLocation loc = SourceLocation::Current());
// |p - y|.
Tensor MeanAbsoluteError(const Tensor& labels, const Tensor& predictions, const LossOptions& options = {},
                         SourceLocation loc = SourceLocation::Current());
// 100 |p - y| / max(|y|, 1e-7).
Tensor MeanAbsolutePercentageError(const Tensor& labels, const Tensor& predictions, const LossOptions& options = {},
                                   SourceLocation loc = SourceLocation::Current());
// (log(1 + p) - log(1 + y))^2, with what is below 1e-7 as 1e-7, where it has no gradient.
Tensor MeanSquaredLogarithmicError(const Tensor& labels, const Tensor& predictions, const LossOptions& options = {},
                                   SourceLocation loc = SourceLocation::Current());
// With e = p - y: e^2 / 2 where |e| <= delta, else delta |e| - delta^2 / 2.
Tensor Huber(const Tensor& labels, const Tensor& predictions, const HuberOptions& options = {},
             SourceLocation loc = SourceLocation::Current());
// log(cosh(p - y)), without overflow.
Tensor LogCosh(const Tensor& labels, const Tensor& predictions, const LossOptions& options = {},
               SourceLocation loc = SourceLocation::Current());
// p - y log(p + 1e-7): the negative log-likelihood of a Poisson distribution of rate p > 0, up to a constant.
Tensor Poisson(const Tensor& labels, const Tensor& predictions, const LossOptions& options = {},
               SourceLocation loc = SourceLocation::Current());
// max(1 - y p, 0) of labels -1 and 1. A label of 0 is taken for -1. (Keras does so only where all labels of a batch are
// 0 or 1; here the loss of an example does not depend on other examples.)
Tensor Hinge(const Tensor& labels, const Tensor& predictions, const LossOptions& options = {},
             SourceLocation loc = SourceLocation::Current());
// The square of it.
Tensor SquaredHinge(const Tensor& labels, const Tensor& predictions, const LossOptions& options = {},
                    SourceLocation loc = SourceLocation::Current());

// Of rank 2 and more: one value for each row of the last axis, of n numbers.

// max(0, 1 + max((1 - y) p) - sum(y p)); labels one-hot.
Tensor CategoricalHinge(const Tensor& labels, const Tensor& predictions, const LossOptions& options = {},
                        SourceLocation loc = SourceLocation::Current());
// sum(y log(y / p)) with both cut to [1e-7, 1].
Tensor KLDivergence(const Tensor& labels, const Tensor& predictions, const LossOptions& options = {},
                    SourceLocation loc = SourceLocation::Current());
// -sum(y p) / (|y| |p|), from -1 (the same direction) to 1. The square of a length is taken to be at least 1e-12.
Tensor CosineSimilarity(const Tensor& labels, const Tensor& predictions, const LossOptions& options = {},
                        SourceLocation loc = SourceLocation::Current());

// The weight of each example's class, float32 [b], as LossOptions.weights of any loss: `weights[i]` is that of class i.
// labels: class numbers, integers [b] or [b, 1], or one-hot [b, classes], whose largest counts. Weights of examples may
// be multiplied to it.
//   losses::SparseSoftmaxCrossEntropy(labels, logits, {.weights = losses::ClassWeights(labels, {1, 20})});
Tensor ClassWeights(const Tensor& labels, const std::vector<double>& weights,
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

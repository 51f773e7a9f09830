// Losses. Per-example values are reduced as in Keras and tf.compat.v1.losses; a mean over the batch divides by the
// number of examples in the whole global batch, however many devices there are and however short the last batch is.
#ifndef TANDEM_FRONTENDS_LOSSES_H_
#define TANDEM_FRONTENDS_LOSSES_H_

#include <cstdint>
#include <vector>

#include "tandem/base/api.h"
#include "tandem/base/source_location.h"
#include "tandem/graph/graph_builder.h"
#include "tandem/graph/tensor.h"

namespace TANDEM_API tandem {
namespace losses {

// How the losses of examples become one number.
enum class Reduction : int8_t {
  kSumOverBatchSize,     // sum(w l) divided by the number of losses l; Keras' default
  kSum,                  // sum(w l), where l are the losses and w the weights
  kNone,                 // w l, one value for each example
  kMean,                 // sum(w l) / sum(w); 0 when all weights are 0 (tf.compat.v1 MEAN)
  kSumByNonzeroWeights,  // sum(w l) divided by the number of weights that are not 0 (tf.compat.v1's default)
};

struct LossOptions {
  // Weights of shape [b], or a shape that broadcasts to the loss per example, of any number type. Empty means that all
  // are 1.
  Tensor weights;
  Reduction reduction = Reduction::kSumOverBatchSize;
  // The share s of label smoothing. For cross-entropies of several classes, labels become labels * (1 - s) + s /
  // classes; for two classes labels * (1 - s) + s / 2. Other losses report an error if it is set, and likewise for
  // from_logits.
  double label_smoothing = 0;
  // If true, the predictions are logits, not probabilities. Only BinaryCrossEntropy, CategoricalCrossEntropy and
  // SparseCategoricalCrossEntropy support this; their value and gradient are then accurate for logits of any size.
  bool from_logits = false;
};

struct HuberOptions {
  Tensor weights;  // weights of examples, as in LossOptions
  Reduction reduction = Reduction::kSumOverBatchSize;
  double delta = 1;  // the loss is quadratic for errors up to this one; positive
};

struct FocalOptions {
  Tensor weights;  // as in LossOptions, like the next three options
  Reduction reduction = Reduction::kSumOverBatchSize;
  double label_smoothing = 0;
  bool from_logits = false;
  double gamma = 2;     // the larger, the less examples count that are predicted well; 0: all count alike
  double alpha = 0.25;  // factor of the loss, in [0, 1]
  // For binary losses: multiplies the loss by alpha for labels of 1, and by 1 - alpha for labels of 0. The categorical
  // loss is always multiplied by alpha.
  bool apply_class_balancing = false;
};

// The losses of classes take the scores of each example, [b, classes], or of each position of a sequence or picture,
// [b, ..., classes]. In the latter case there is a loss for each position, and `weights` may be [b, ...], with 0 for
// padding.

// labels [b, ...] or [b, ..., 1] of integers in [0, classes), logits [b, ..., classes].
Tensor SparseSoftmaxCrossEntropy(const Tensor& labels, const Tensor& logits, const LossOptions& options = {},
                                 SourceLocation loc = SourceLocation::Current());
// labels [b, ..., classes] (probabilities, or one-hot of any number type), logits of the same shape. As in tf.losses,
// labels get no gradient.
Tensor SoftmaxCrossEntropy(const Tensor& labels, const Tensor& logits, const LossOptions& options = {},
                           SourceLocation loc = SourceLocation::Current());
// SoftmaxCrossEntropy for probabilities [b, ..., classes] instead of logits. If they are a result of Softmax, its
// logits are used, which keeps the loss finite and accurate; other probabilities are divided by their sum and clipped
// to [1e-7, 1 - 1e-7], as in Keras. As in Keras, labels that depend on variables get a gradient.
Tensor CategoricalCrossEntropy(const Tensor& labels, const Tensor& probabilities, const LossOptions& options = {},
                               SourceLocation loc = SourceLocation::Current());
// The cross-entropy for labels as in SparseSoftmaxCrossEntropy and probabilities as in CategoricalCrossEntropy, except
// that probabilities are clipped before they are divided by their sum.
Tensor SparseCategoricalCrossEntropy(const Tensor& labels, const Tensor& probabilities, const LossOptions& options = {},
                                     SourceLocation loc = SourceLocation::Current());
// -(1 - p)^gamma alpha labels log(p), summed over the classes; labels and probabilities [b, ..., classes].
// Probabilities, also those computed from logits, are divided by their sum and clipped to [1e-7, 1 - 1e-7]. Lin et al.,
// "Focal Loss for Dense Object Detection", as in Keras.
Tensor CategoricalFocalCrossEntropy(const Tensor& labels, const Tensor& probabilities, const FocalOptions& options = {},
                                    SourceLocation loc = SourceLocation::Current());

// In the losses below, labels and predictions have the same shape, except that [b] and [b, 1] match; labels y may have
// any number type. For rank 2 and more, the loss of an example is the mean over the last axis.

// -(y log p + (1 - y) log(1 - p)) for labels y in [0, 1] and probabilities p. If these are a result of Sigmoid, its
// logits are used, which keeps the loss finite and accurate; others are clipped to [1e-7, 1 - 1e-7] as in Keras, and
// clipped ones get no gradient.
Tensor BinaryCrossEntropy(const Tensor& labels, const Tensor& probabilities, const LossOptions& options = {},
                          SourceLocation loc = SourceLocation::Current());
// BinaryCrossEntropy multiplied by (1 - q)^gamma, where q = y p + (1 - y) (1 - p) is the probability of the label. Lin
// et al., "Focal Loss for Dense Object Detection", as in Keras.
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
// (log(1 + p) - log(1 + y))^2, where values below 1e-7 count as 1e-7 and get no gradient.
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
// max(1 - y p, 0) for labels -1 and 1. A label of 0 counts as -1. (Keras does so only if all labels of a batch are 0 or
// 1; here the loss of an example does not depend on other examples.)
Tensor Hinge(const Tensor& labels, const Tensor& predictions, const LossOptions& options = {},
             SourceLocation loc = SourceLocation::Current());
// The square of Hinge.
Tensor SquaredHinge(const Tensor& labels, const Tensor& predictions, const LossOptions& options = {},
                    SourceLocation loc = SourceLocation::Current());

// For rank 2 and more, the following losses have one value for each row of n numbers along the last axis.

// max(0, 1 + max((1 - y) p) - sum(y p)); labels one-hot.
Tensor CategoricalHinge(const Tensor& labels, const Tensor& predictions, const LossOptions& options = {},
                        SourceLocation loc = SourceLocation::Current());
// sum(y log(y / p)), with y and p clipped to [1e-7, 1].
Tensor KLDivergence(const Tensor& labels, const Tensor& predictions, const LossOptions& options = {},
                    SourceLocation loc = SourceLocation::Current());
// -sum(y p) / (|y| |p|), from -1 (the same direction) to 1. Squares of lengths count as at least 1e-12.
Tensor CosineSimilarity(const Tensor& labels, const Tensor& predictions, const LossOptions& options = {},
                        SourceLocation loc = SourceLocation::Current());

// The weight of each example's class, float32 [b], for LossOptions.weights of any loss: `weights[i]` is the weight of
// class i. labels: class numbers, integers [b] or [b, 1], or one-hot [b, classes], where the class is that of the
// largest number. The result may be multiplied by weights of examples.
//   losses::SparseSoftmaxCrossEntropy(labels, logits, {.weights = losses::ClassWeights(labels, {1, 20})});
Tensor ClassWeights(const Tensor& labels, const std::vector<double>& weights,
                    SourceLocation loc = SourceLocation::Current());

// Multiplies losses per example ([b] or [b, ...]) by their weights and reduces them, as the losses above do.
Tensor ComputeWeightedLoss(const Tensor& losses, const LossOptions& options = {},
                           SourceLocation loc = SourceLocation::Current());

// The sum of all regularisation terms of the graph (layers' `.kernel_regularizer`); 0 if there are none. In a
// distributed step it is added once, not once per example or replica:
//   Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, logits) + losses::RegularizationLoss(logits.graph());
Tensor RegularizationLoss(GraphBuilder* graph, SourceLocation loc = SourceLocation::Current());

}  // namespace losses
}  // namespace tandem

#endif  // TANDEM_FRONTENDS_LOSSES_H_

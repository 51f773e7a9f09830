// Losses for labels 0 and 1, and for labels -1 and 1.
#include "frontends/activations.h"
#include "frontends/align.h"
#include "frontends/check.h"
#include "frontends/loss_parts.h"
#include "frontends/losses.h"
#include "frontends/score_uses.h"
#include "graph/logits.h"
#include "graph/ops.h"

namespace tandem::losses {
namespace {

using frontends::AlignedPair;
using frontends::ScalarConstant;

// A lower bound for 1 - q, where q is a probability. It is smaller than every 1 - q > 0 that float64 can represent for
// q near 1, so it only replaces 0.
constexpr double kLeastShare = 1e-30;

// Label smoothing: mixes labels with 1/2, which gets the share `smoothing`.
Tensor Smoothed(const Tensor& labels, double smoothing, SourceLocation loc) {
  return smoothing == 0 ? labels : Add(Mul(labels, 1 - smoothing, loc), 0.5 * smoothing, loc);
}

// Returns max(x, 0) - x y + log(1 + e^-|x|), which is -(y log p + (1 - y) log(1 - p)) for p = sigmoid(x), without
// overflow.
Tensor TermsOfLogits(const Tensor& y, const Tensor& x, SourceLocation loc) {
  return Sub(Softplus(x, loc), Mul(x, y, loc), loc);
}

Tensor TermsOfProbabilities(const Tensor& y, const Tensor& probabilities, SourceLocation loc) {
  Tensor p = frontends::CutProbabilities(probabilities, loc);
  Tensor q = Add(Neg(p, loc), 1.0, loc);
  Tensor hit = Mul(y, Log(Add(p, frontends::kProbabilityEpsilon, loc), loc), loc);
  Tensor miss = Mul(Add(Neg(y, loc), 1.0, loc), Log(Add(q, frontends::kProbabilityEpsilon, loc), loc), loc);
  return Neg(Add(hit, miss, loc), loc);
}

// What the two binary cross-entropies compute with. These are logits if the caller passes logits, or if the
// probabilities are the result of a Sigmoid, as in Keras. Otherwise they are probabilities.
struct Scores {
  Tensor values;
  bool are_logits = false;
};
Scores ScoresOf(const Tensor& probabilities, bool from_logits) {
  if (from_logits) return {probabilities, true};
  const Tensor logits = SigmoidLogits(probabilities);
  return logits.ok() ? Scores{logits, true} : Scores{probabilities, false};
}

// Records whether the loss `op` uses the scores as logits or as probabilities, for the check in score_uses.h.
void NoteBinary(absl::string_view op, const Tensor& scores, bool from_logits, SourceLocation loc) {
  NoteScores(from_logits ? ScoreKind::kLogits : ScoreKind::kProbabilities, op, scores,
             from_logits ? "leave from_logits out"
                         : "put Sigmoid behind it, or set .from_logits = true, which is more accurate",
             loc);
}

Tensor HingeTerms(const AlignedPair& in, SourceLocation loc) {
  Tensor zero = ScalarConstant(in.graph, 0, in.labels.dtype(), loc);
  Tensor minus_one = ScalarConstant(in.graph, -1, in.labels.dtype(), loc);
  Tensor y = Select(Equal(in.labels, zero, loc), minus_one, in.labels, loc);
  return Maximum(Add(Neg(Mul(y, in.predictions, loc), loc), 1.0, loc), 0.0, loc);
}

}  // namespace

Tensor BinaryCrossEntropy(const Tensor& labels, const Tensor& probabilities, const LossOptions& options,
                          SourceLocation loc) {
  constexpr char kOp[] = "BinaryCrossEntropy";
  const Scores scores = ScoresOf(probabilities, options.from_logits);
  AlignedPair in =
      frontends::AlignPair(kOp, labels, options.from_logits ? "logits" : "probabilities", scores.values, loc);
  if (in.graph == nullptr) return in.failed;
  if (!frontends::CheckSmoothing(in.graph, kOp, options.label_smoothing, loc)) return in.graph->Poisoned();
  NoteBinary(kOp, probabilities, options.from_logits, loc);
  NameScope scope(in.graph, in.graph->UniqueName("binary_crossentropy"));
  Tensor y = Smoothed(in.labels, options.label_smoothing, loc);
  Tensor terms =
      scores.are_logits ? TermsOfLogits(y, in.predictions, loc) : TermsOfProbabilities(y, in.predictions, loc);
  return ComputeWeightedLoss(frontends::MeanOfRows(terms, loc), options, loc);
}

Tensor BinaryFocalCrossEntropy(const Tensor& labels, const Tensor& probabilities, const FocalOptions& options,
                               SourceLocation loc) {
  constexpr char kOp[] = "BinaryFocalCrossEntropy";
  const Scores scores = ScoresOf(probabilities, options.from_logits);
  AlignedPair in =
      frontends::AlignPair(kOp, labels, options.from_logits ? "logits" : "probabilities", scores.values, loc);
  if (in.graph == nullptr) return in.failed;
  if (!frontends::CheckFocal(in.graph, kOp, options, loc)) return in.graph->Poisoned();
  NoteBinary(kOp, probabilities, options.from_logits, loc);
  NameScope scope(in.graph, in.graph->UniqueName("binary_focal_crossentropy"));
  Tensor y = Smoothed(in.labels, options.label_smoothing, loc);
  Tensor not_y = Add(Neg(y, loc), 1.0, loc);
  Tensor terms =
      scores.are_logits ? TermsOfLogits(y, in.predictions, loc) : TermsOfProbabilities(y, in.predictions, loc);
  if (options.gamma != 0) {
    Tensor p = scores.are_logits ? Sigmoid(in.predictions, loc) : in.predictions;
    Tensor q = Add(Mul(y, p, loc), Mul(not_y, Add(Neg(p, loc), 1.0, loc), loc), loc);
    // Rounding may give q >= 1. 1 - q is raised to at least kLeastShare, because a negative number has no real power,
    // and the slope at 0 of a power below 1 is infinite.
    Tensor wrong = Maximum(Add(Neg(q, loc), 1.0, loc), kLeastShare, loc);
    terms = Mul(terms, Pow(wrong, options.gamma, loc), loc);
  }
  if (options.apply_class_balancing) {
    terms = Mul(terms, Add(Mul(y, options.alpha, loc), Mul(not_y, 1 - options.alpha, loc), loc), loc);
  }
  return ComputeWeightedLoss(frontends::MeanOfRows(terms, loc), frontends::ReductionOf(options), loc);
}

Tensor Hinge(const Tensor& labels, const Tensor& predictions, const LossOptions& options, SourceLocation loc) {
  AlignedPair in = frontends::AlignForLoss("Hinge", labels, predictions, options, loc);
  if (in.graph == nullptr) return in.failed;
  NameScope scope(in.graph, in.graph->UniqueName("hinge"));
  return ComputeWeightedLoss(frontends::MeanOfRows(HingeTerms(in, loc), loc), options, loc);
}

Tensor SquaredHinge(const Tensor& labels, const Tensor& predictions, const LossOptions& options, SourceLocation loc) {
  AlignedPair in = frontends::AlignForLoss("SquaredHinge", labels, predictions, options, loc);
  if (in.graph == nullptr) return in.failed;
  NameScope scope(in.graph, in.graph->UniqueName("squared_hinge"));
  return ComputeWeightedLoss(frontends::MeanOfRows(Square(HingeTerms(in, loc), loc), loc), options, loc);
}

}  // namespace tandem::losses

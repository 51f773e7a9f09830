// Helpers that losses share. Internal to frontends/.
#ifndef TANDEM_FRONTENDS_LOSS_PARTS_H_
#define TANDEM_FRONTENDS_LOSS_PARTS_H_

#include "absl/strings/string_view.h"
#include "base/source_location.h"
#include "frontends/align.h"
#include "frontends/losses.h"
#include "graph/graph_builder.h"
#include "graph/tensor.h"

namespace tandem::frontends {

// The value of Keras' function epsilon(), by which probabilities are kept away from 0.
inline constexpr double kProbabilityEpsilon = 1e-7;

// Clips probabilities to [1e-7, 1 - 1e-7]; clipped elements get no gradient.
Tensor CutProbabilities(const Tensor& p, SourceLocation loc);

// Returns the mean over the last axis, or x itself if its only axis is the batch.
Tensor MeanOfRows(const Tensor& x, SourceLocation loc);

// These record an error and return false for invalid options.
bool CheckSmoothing(GraphBuilder* graph, absl::string_view op, double smoothing, SourceLocation loc);
bool CheckFocal(GraphBuilder* graph, absl::string_view op, const losses::FocalOptions& options, SourceLocation loc);

// Calls AlignPair of align.h for a loss without the options label_smoothing and from_logits, and records an error if
// one of these is set.
AlignedPair AlignForLoss(absl::string_view op, const Tensor& labels, const Tensor& predictions,
                         const losses::LossOptions& options, SourceLocation loc, int min_rank = 0);

// Returns the options that ComputeWeightedLoss needs: weights, reduction and label smoothing.
losses::LossOptions ReductionOf(const losses::FocalOptions& options);

}  // namespace tandem::frontends

#endif  // TANDEM_FRONTENDS_LOSS_PARTS_H_

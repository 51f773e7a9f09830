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

// Keras' epsilon().
inline constexpr double kProbabilityEpsilon = 1e-7;

// Clips to [1e-7, 1 - 1e-7]; elements outside get no gradient.
Tensor CutProbabilities(const Tensor& p, SourceLocation loc);

// Returns the mean over the last axis if there is one besides the batch.
Tensor MeanOfRows(const Tensor& x, SourceLocation loc);

// Record an error and return false for invalid options.
bool CheckSmoothing(GraphBuilder* graph, absl::string_view op, double smoothing, SourceLocation loc);
bool CheckFocal(GraphBuilder* graph, absl::string_view op, const losses::FocalOptions& options, SourceLocation loc);

// Calls AlignPair of align.h; also reports options that such a loss does not have: label_smoothing and from_logits.
AlignedPair AlignForLoss(absl::string_view op, const Tensor& labels, const Tensor& predictions,
                         const losses::LossOptions& options, SourceLocation loc, int min_rank = 0);

// Returns the weights, reduction and label smoothing.
losses::LossOptions ReductionOf(const losses::FocalOptions& options);

}  // namespace tandem::frontends

#endif  // TANDEM_FRONTENDS_LOSS_PARTS_H_

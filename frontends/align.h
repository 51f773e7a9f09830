// Brings labels, predictions and weights to one shape. Internal to frontends/.
#ifndef TANDEM_FRONTENDS_ALIGN_H_
#define TANDEM_FRONTENDS_ALIGN_H_

#include "absl/strings/string_view.h"
#include "base/source_location.h"
#include "graph/graph_builder.h"
#include "graph/tensor.h"

namespace tandem::frontends {

// Drops a last axis of size 1 from `x` when its rank is `rank` + 1, such as [b, 1] to [b].
Tensor SqueezeTo(const Tensor& x, int rank, SourceLocation loc);

// Converts `weights` to the type and shape of `values`. A scalar, weights [b] for values [b, ...], and dimensions of
// size 1 are broadcast. Errors name `op`.
Tensor AlignWeights(absl::string_view op, const Tensor& weights, const Tensor& values, SourceLocation loc);

// Labels and predictions with the same shape, in the predictions' floating-point type.
struct AlignedPair {
  GraphBuilder* graph = nullptr;  // null after an error; then return `failed`
  Tensor labels, predictions;
  Tensor failed;
};
// Aligns labels and predictions; [b] and [b, 1] count as the same shape. `name` is the name of the predictions'
// parameter of `op`. Both must have at least rank `min_rank`.
AlignedPair AlignPair(absl::string_view op, const Tensor& labels, const char* name, const Tensor& predictions,
                      SourceLocation loc, int min_rank = 0);

}  // namespace tandem::frontends

#endif  // TANDEM_FRONTENDS_ALIGN_H_

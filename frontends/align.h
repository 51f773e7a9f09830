// Brings labels, predictions and weights to one shape. Internal to frontends/.
#ifndef TANDEM_FRONTENDS_ALIGN_H_
#define TANDEM_FRONTENDS_ALIGN_H_

#include "absl/strings/string_view.h"
#include "base/source_location.h"
#include "graph/graph_builder.h"
#include "graph/tensor.h"

namespace tandem::frontends {

// Drops a last axis of size 1 from `x` when its rank is `rank` + 1: [b, 1] as [b].
Tensor SqueezeTo(const Tensor& x, int rank, SourceLocation loc);

// `weights` in the type and shape of `values`: a scalar, [b] for [b, ...], or sizes of 1 are repeated.
// `op` is named in the error.
Tensor AlignWeights(absl::string_view op, const Tensor& weights, const Tensor& values, SourceLocation loc);

// Labels and predictions of one shape, in the predictions' floating-point type.
struct AlignedPair {
  GraphBuilder* graph = nullptr;  // null after an error: return `failed`
  Tensor labels, predictions;
  Tensor failed;
};
// [b] and [b, 1] go together. `name`: of the predictions, as the header of `op` calls them. `min_rank`: of both.
AlignedPair AlignPair(absl::string_view op, const Tensor& labels, const char* name, const Tensor& predictions,
                      SourceLocation loc, int min_rank = 0);

}  // namespace tandem::frontends

#endif  // TANDEM_FRONTENDS_ALIGN_H_

// Clipping of gradients. In a distributed step it acts on the gradients of the global batch, after the all-reduce.
#ifndef TANDEM_FRONTENDS_CLIPPING_H_
#define TANDEM_FRONTENDS_CLIPPING_H_

#include <vector>

#include "tandem/base/api.h"
#include "tandem/base/source_location.h"
#include "tandem/graph/tensor.h"

namespace TANDEM_API tandem {

struct ClipOptions {
  double global_norm = 0;  // the norm for ClipByGlobalNorm; 0 means no clipping
  double value = 0;        // clips every element to [-value, value]; 0 means no clipping
  // Scales each gradient separately to at most this 2-norm, as Keras' clipnorm; 0 means no clipping.
  double norm = 0;
};

// sqrt(sum of squares of all elements of all tensors), float32. Tensors that are not ok() are skipped; at least one
// must be ok().
Tensor GlobalNorm(const std::vector<Tensor>& tensors, SourceLocation loc = SourceLocation::Current());
// Pascanu et al. 2012: scales all tensors by clip_norm / max(global norm, clip_norm).
std::vector<Tensor> ClipByGlobalNorm(const std::vector<Tensor>& tensors, double clip_norm,
                                     SourceLocation loc = SourceLocation::Current());

// Applies the clipping that `options` request. At most one option may be set, as in Keras.
std::vector<Tensor> ClipGradients(const std::vector<Tensor>& gradients, const ClipOptions& options,
                                  SourceLocation loc = SourceLocation::Current());

}  // namespace tandem

#endif  // TANDEM_FRONTENDS_CLIPPING_H_

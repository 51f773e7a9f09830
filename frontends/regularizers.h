// Penalties on weights, as Keras' regularizers: l1 * sum|w| + l2 * sum w^2.
#ifndef TANDEM_FRONTENDS_REGULARIZERS_H_
#define TANDEM_FRONTENDS_REGULARIZERS_H_

#include "base/source_location.h"
#include "graph/tensor.h"

namespace tandem {

struct Regularizer {
  double l1 = 0;
  double l2 = 0;
  bool empty() const { return l1 == 0 && l2 == 0; }
};

inline Regularizer L1(double factor) { return {.l1 = factor}; }
inline Regularizer L2(double factor) { return {.l2 = factor}; }

// Adds the penalty on `variable` to its graph's regularisation losses (losses::RegularizationLoss adds them up).
// Factors must be finite and not negative.
void AddRegularization(const Tensor& variable, const Regularizer& regularizer,
                       SourceLocation loc = SourceLocation::Current());

}  // namespace tandem

#endif  // TANDEM_FRONTENDS_REGULARIZERS_H_

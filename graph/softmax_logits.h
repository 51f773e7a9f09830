// The logits behind probabilities.
#ifndef TANDEM_GRAPH_SOFTMAX_LOGITS_H_
#define TANDEM_GRAPH_SOFTMAX_LOGITS_H_

#include "graph/tensor.h"

namespace tandem {

// The logits when `probabilities` is the result of Softmax; poisoned otherwise (no error).
Tensor SoftmaxLogits(const Tensor& probabilities);

}  // namespace tandem

#endif  // TANDEM_GRAPH_SOFTMAX_LOGITS_H_

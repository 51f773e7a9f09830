// The logits behind probabilities.
#ifndef TANDEM_GRAPH_LOGITS_H_
#define TANDEM_GRAPH_LOGITS_H_

#include "graph/tensor.h"

namespace tandem {

// The operand where `result` is that of the op `op` ("td.softmax"), which has one; poisoned otherwise (no error).
Tensor ArgumentOf(const char* op, const Tensor& result);

// The logits when `probabilities` is the result of Softmax or Sigmoid; poisoned otherwise (no error).
Tensor SoftmaxLogits(const Tensor& probabilities);
Tensor SigmoidLogits(const Tensor& probabilities);

}  // namespace tandem

#endif  // TANDEM_GRAPH_LOGITS_H_

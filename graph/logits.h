// Finds the logits from which probabilities were computed.
#ifndef TANDEM_GRAPH_LOGITS_H_
#define TANDEM_GRAPH_LOGITS_H_

#include "tandem/base/api.h"
#include "tandem/graph/tensor.h"

namespace TANDEM_API tandem {

// Returns the operand of `result`'s op if that is `op` ("td.softmax"), which must have one operand; poisoned otherwise
// (no error).
Tensor ArgumentOf(const char* op, const Tensor& result);

// Return the logits if `probabilities` is the result of Softmax or Sigmoid; poisoned otherwise (no error).
Tensor SoftmaxLogits(const Tensor& probabilities);
Tensor SigmoidLogits(const Tensor& probabilities);

}  // namespace tandem

#endif  // TANDEM_GRAPH_LOGITS_H_

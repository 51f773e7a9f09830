// TensorLines: shows the tensors of a step as lines of text.
#ifndef TANDEM_ESTIMATOR_REPLAY_TENSOR_LINES_H_
#define TANDEM_ESTIMATOR_REPLAY_TENSOR_LINES_H_

#include <string>
#include <vector>

#include "base/host_tensor.h"

namespace tandem {

struct ShownTensor {
  std::string name, origin;
  HostTensor value;  // empty: the step ended before computing it
};

// Returns a line for each tensor, in columns: name, type and shape, min, max and mean of its finite values, how many
// are NaN or infinite, the first few values, and the line that made it.
std::string TensorLines(const std::vector<ShownTensor>& tensors);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_REPLAY_TENSOR_LINES_H_

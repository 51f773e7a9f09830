// Labels must be classes, indices rows of their table: checked on the host, where a batch enters a step.
#ifndef TANDEM_ESTIMATOR_LABEL_CHECK_H_
#define TANDEM_ESTIMATOR_LABEL_CHECK_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "base/host_tensor.h"

namespace tandem {

// Compiled code reads row `label` of a table or of the logits and has no way to report an index outside it.
struct LabelRange {
  std::string component;  // of the dataset
  int64_t classes = 0;    // labels are 0 .. classes - 1
  bool table = false;     // they are indices of the rows of a table (an embedding)
  // "model.cc:12": where losses::ClassWeights made the table; empty for others.
  std::string class_weights = "";
};

// OutOfRange, with the first offending row and its value, when an element of an integer tensor is not a class. Tensors
// of other types pass.
absl::Status CheckLabels(const HostTensor& labels, const LabelRange& range);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_LABEL_CHECK_H_

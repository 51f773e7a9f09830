// Checks on the host, before a batch enters a step, that labels are classes and that indices are rows of their table.
#ifndef TANDEM_ESTIMATOR_LOOP_LABEL_CHECK_H_
#define TANDEM_ESTIMATOR_LOOP_LABEL_CHECK_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "base/host_tensor.h"

namespace tandem {

// The labels that are allowed. Compiled code uses a label as the index of a row of a table or of a logit, and cannot
// report an index that is out of range.
struct LabelRange {
  std::string component;  // name of the dataset's component
  int64_t classes = 0;    // labels are from 0 to classes - 1
  bool table = false;     // true: labels are indices of the rows of a table, such as an embedding's
  // The line of the losses::ClassWeights that made the table, "model.cc:12"; empty for other tables.
  std::string class_weights = "";
};

// Returns OutOfRange, with the first offending row and its value, if an element of an integer tensor is not a class.
// Accepts tensors of other types.
absl::Status CheckLabels(const HostTensor& labels, const LabelRange& range);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_LOOP_LABEL_CHECK_H_

// Small helpers of Keras' programs.
#ifndef TANDEM_FRONTENDS_KERAS_UTILS_H_
#define TANDEM_FRONTENDS_KERAS_UTILS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "base/host_tensor.h"
#include "base/source_location.h"

namespace tandem::keras::utils {

// One-hot rows of class numbers: float32 of labels' shape and one axis more, of `num_classes`; a last axis of size 1 is
// dropped before, as in Keras. Labels are integers, or floating-point numbers that are whole. 0 classes: one more than
// the largest label. InvalidArgument, with the line of the call, for a label that is negative, beyond the classes or
// not whole.
absl::StatusOr<HostTensor> ToCategorical(const HostTensor& labels, int64_t num_classes = 0,
                                         SourceLocation loc = SourceLocation::Current());

// A copy of rows [begin, end) of a tensor, cut to those that it has.
HostTensor Rows(const HostTensor& tensor, int64_t begin, int64_t end);

}  // namespace tandem::keras::utils

#endif  // TANDEM_FRONTENDS_KERAS_UTILS_H_

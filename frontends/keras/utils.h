// Small helpers known from Keras programs.
#ifndef TANDEM_FRONTENDS_KERAS_UTILS_H_
#define TANDEM_FRONTENDS_KERAS_UTILS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "tandem/base/api.h"
#include "tandem/base/host_tensor.h"
#include "tandem/base/source_location.h"

namespace TANDEM_API tandem {
namespace keras::utils {

// Converts class numbers to one-hot rows: float32 with the labels' shape and one more axis of size `num_classes`. As in
// Keras, a last axis of size 1 is dropped first. Labels are integers, or floating-point numbers with whole values. If
// `num_classes` is 0, it is one more than the largest label. InvalidArgument, with the caller's line, for a label that
// is negative, not below `num_classes`, or not whole.
absl::StatusOr<HostTensor> ToCategorical(const HostTensor& labels, int64_t num_classes = 0,
                                         SourceLocation loc = SourceLocation::Current());

// Returns a copy of rows [begin, end) of a tensor; rows beyond its end are left out.
HostTensor Rows(const HostTensor& tensor, int64_t begin, int64_t end);

}  // namespace keras::utils
}  // namespace tandem

#endif  // TANDEM_FRONTENDS_KERAS_UTILS_H_

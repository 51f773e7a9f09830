// Tensors as the functions of tandem_c.h show and take them.
#ifndef TANDEM_ESTIMATOR_C_TENSORS_H_
#define TANDEM_ESTIMATOR_C_TENSORS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/named_tensors.h"
#include "estimator/c/tandem_c.h"

namespace tandem::c {

// Describes a tensor; the arguments must outlive the result.
tandem_tensor Describe(const std::string& name, DType dtype, const Shape& shape);

// Returns a copy of the caller's tensor. InvalidArgument, which begins with `function`, for one that contradicts
// itself.
absl::StatusOr<HostTensor> ToHostTensor(const char* function, const tandem_tensor& tensor);

// Returns the caller's handle of `tensors`.
tandem_tensors* TensorsHandle(NamedTensors tensors);

}  // namespace tandem::c

#endif  // TANDEM_ESTIMATOR_C_TENSORS_H_

// Checks of the lists that callers pass to communicators.
#ifndef TANDEM_RUNTIME_CUDA_COMMUNICATOR_COLLECTIVE_CHECK_H_
#define TANDEM_RUNTIME_CUDA_COMMUNICATOR_COLLECTIVE_CHECK_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/cuda/communicator/communicator.h"

namespace tandem {

// Checks the arguments of AllReduce. InvalidArgument for a list that does not have `local` replicas (`present`: `all`),
// for a kind or type that AllReduce does not support, and when no replica is present.
absl::Status CheckAllReduce(int local, int all, format::ReduceKind kind, absl::Span<const CollectiveTensor> tensors,
                            const std::vector<bool>& present, size_t streams);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_COMMUNICATOR_COLLECTIVE_CHECK_H_

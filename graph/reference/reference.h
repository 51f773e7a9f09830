// Evaluates a graph with the reference interpreter, with which tests compare compiled programs. Free of MLIR.
#ifndef TANDEM_GRAPH_REFERENCE_REFERENCE_H_
#define TANDEM_GRAPH_REFERENCE_REFERENCE_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "base/host_tensor.h"
#include "graph/graph_builder.h"

namespace tandem {

using TensorMap = std::map<std::string, HostTensor>;

// Computes one step over one batch, on one replica, in double precision. `inputs` by the names given to Input (all with
// the same number of rows), `variables` by full name, `scalars` of rank 0 by name. A scalar that is not given has its
// default; "example_count" and "replica_example_count" are the number of rows, "replica_index" is 0. Returns, all as
// float64, the outputs by name and the assigned variables by full name. Errors: the graph's status; InvalidArgument,
// with the name, for a missing or misshapen value.
absl::StatusOr<TensorMap> Evaluate(const GraphBuilder& graph, const TensorMap& inputs, const TensorMap& variables,
                                   const TensorMap& scalars = {});

}  // namespace tandem

#endif  // TANDEM_GRAPH_REFERENCE_REFERENCE_H_

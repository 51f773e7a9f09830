// What a variable becomes at the end of a step.
#ifndef TANDEM_GRAPH_ASSIGNED_VALUE_H_
#define TANDEM_GRAPH_ASSIGNED_VALUE_H_

#include "graph/graph_builder.h"
#include "graph/tensor.h"

namespace tandem {

// The value that GraphBuilder::Assign gave the variable so far, the same on all replicas; the variable itself where
// there was no assignment. Can be fetched as "<variable>/Assigned" then. `variable` is a tensor that Variable()
// returned.
Tensor AssignedValue(GraphBuilder* graph, const Tensor& variable);

}  // namespace tandem

#endif  // TANDEM_GRAPH_ASSIGNED_VALUE_H_

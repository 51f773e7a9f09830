// What a variable becomes at the end of a step.
#ifndef TANDEM_GRAPH_ASSIGNED_VALUE_H_
#define TANDEM_GRAPH_ASSIGNED_VALUE_H_

#include "absl/strings/string_view.h"
#include "graph/graph_builder.h"
#include "graph/tensor.h"

namespace tandem {

// The value that GraphBuilder::Assign gave the variable, the same on all replicas; the variable itself where there was
// no assignment, and a later one is an error that names `taker`. Can be fetched as "<variable>/Assigned" then.
// `variable` is a tensor that Variable() returned.
Tensor AssignedValue(GraphBuilder* graph, const Tensor& variable, absl::string_view taker);

}  // namespace tandem

#endif  // TANDEM_GRAPH_ASSIGNED_VALUE_H_

// Reads the value that a variable has at the end of a step.
#ifndef TANDEM_GRAPH_MODULE_ASSIGNED_VALUE_H_
#define TANDEM_GRAPH_MODULE_ASSIGNED_VALUE_H_

#include "absl/strings/string_view.h"
#include "graph/graph_builder.h"
#include "graph/tensor.h"

namespace tandem {

// Returns the value that GraphBuilder::Assign gave the variable (the same on all replicas), or the variable itself if
// there was no assignment. A later assignment of the variable is an error that names `taker`. The value can be fetched
// as "<variable>/Assigned". `variable` must be a tensor that Variable() returned.
Tensor AssignedValue(GraphBuilder* graph, const Tensor& variable, absl::string_view taker);

}  // namespace tandem

#endif  // TANDEM_GRAPH_MODULE_ASSIGNED_VALUE_H_

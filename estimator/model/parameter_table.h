// The table of a model's parameters that is printed when training starts.
#ifndef TANDEM_ESTIMATOR_MODEL_PARAMETER_TABLE_H_
#define TANDEM_ESTIMATOR_MODEL_PARAMETER_TABLE_H_

#include <string>
#include <vector>

#include "graph/graph_builder.h"

namespace tandem {

// Returns name, shape and number of elements of every variable, without optimizer slots, in order of creation, then
// totals:
//   name           shape       parameters
//   conv2d/kernel  [3,3,1,32]         288
//   conv2d/bias    [32]                32
//   total 320 parameters, of which 320 are trainable
std::string ParameterTable(const std::vector<VariableSpec>& variables);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_MODEL_PARAMETER_TABLE_H_

// Finds tensors that are statistics of a batch, such as a mean or a maximum: adding up the values of several batches
// does not give the statistic of all their rows.
#ifndef TANDEM_GRAPH_BATCH_STATISTIC_H_
#define TANDEM_GRAPH_BATCH_STATISTIC_H_

#include <string>

#include "graph/tensor.h"

namespace tandem {

// Returns "mean", "max", "min" or "prod" if `x` is that statistic over the rows of the batch, perhaps with another
// type, shape or sign; else "". A value computed from a statistic, such as scores relative to their maximum, does not
// count.
std::string BatchStatistic(const Tensor& x);

}  // namespace tandem

#endif  // TANDEM_GRAPH_BATCH_STATISTIC_H_

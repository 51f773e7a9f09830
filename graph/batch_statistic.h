// Which tensors are statistics of a batch, so that those of several batches do not add up to that of all.
#ifndef TANDEM_GRAPH_BATCH_STATISTIC_H_
#define TANDEM_GRAPH_BATCH_STATISTIC_H_

#include <string>

#include "graph/tensor.h"

namespace tandem {

// "mean", "max", "min" or "prod" where `x` is that over the rows of the batch, perhaps with another type, shape or
// sign; else "". What is computed from one, such as scores from their largest, is none.
std::string BatchStatistic(const Tensor& x);

}  // namespace tandem

#endif  // TANDEM_GRAPH_BATCH_STATISTIC_H_

// Measures the time that a stage takes.
#ifndef TANDEM_DATA_MEASURED_NODE_H_
#define TANDEM_DATA_MEASURED_NODE_H_

#include "base/source_location.h"
#include "data/node.h"

namespace tandem::data_internal {

// Wraps `node`, which the Dataset method `op` made at `location`, to measure its time, which is recorded in a new entry
// of info().stages. A call of a wrapped stage takes two nanoseconds longer when nothing is measured.
NodePtr Measured(NodePtr node, const char* op, SourceLocation location);

}  // namespace tandem::data_internal

#endif  // TANDEM_DATA_MEASURED_NODE_H_

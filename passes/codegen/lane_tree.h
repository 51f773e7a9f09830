// The order in which kernels over the whole batch of a replica combine the sums of its lanes.
#ifndef TANDEM_PASSES_CODEGEN_LANE_TREE_H_
#define TANDEM_PASSES_CODEGEN_LANE_TREE_H_

#include <cstdint>
#include <functional>

#include "passes/codegen/vector_builder.h"

namespace tandem {

// Returns the sum of `sums_of`(lane) over `lanes` lanes, a power of two, of `lane_rows` rows each, of which the first
// `batch` rows exist. The sum is a complete binary tree over the lanes that skips lanes without rows, so the result has
// the same bits as if lanes were added up on several devices.
VectorBuilder::Values EmitLaneTree(VectorBuilder& v, mlir::Value batch, int64_t lanes, int64_t lane_rows,
                                   const std::function<VectorBuilder::Values(int64_t lane)>& sums_of);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_LANE_TREE_H_

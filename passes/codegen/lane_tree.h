// The order in which kernels over the whole batch of a replica combine what its lanes add up.
#ifndef TANDEM_PASSES_CODEGEN_LANE_TREE_H_
#define TANDEM_PASSES_CODEGEN_LANE_TREE_H_

#include <cstdint>
#include <functional>

#include "passes/codegen/vector_builder.h"

namespace tandem {

// The sum of `sums_of`(lane) over `lanes` lanes, a power of two, of `lane_rows` rows each, of which the first `batch`
// are there: the complete binary tree over lanes, where a lane without rows is passed over. Bits are those of lanes
// that are added up on devices of their own.
VectorBuilder::Values EmitLaneTree(VectorBuilder& v, mlir::Value batch, int64_t lanes, int64_t lane_rows,
                                   const std::function<VectorBuilder::Values(int64_t lane)>& sums_of);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_LANE_TREE_H_

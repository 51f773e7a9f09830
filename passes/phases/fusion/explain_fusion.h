// Records for people why ops were fused or not.
#ifndef TANDEM_PASSES_PHASES_FUSION_EXPLAIN_FUSION_H_
#define TANDEM_PASSES_PHASES_FUSION_EXPLAIN_FUSION_H_

#include <string>

#include "mlir/IR/BuiltinOps.h"
#include "passes/phases/fusion/fusion_clusters.h"

namespace tandem {

// Appends a note to the module attribute exec.fusion_decisions for every pair of ops in `block` where one reads what
// the other computes, except for constants and index maps of constants. Call it before kernels are outlined.
void ExplainFusions(mlir::Block& block, FusionClusters& clusters, mlir::ModuleOp module);

// Removes the notes from the module and returns them as the lines of kFusionDecisions (passes/base/report_segments.h).
std::string TakeFusionDecisions(mlir::ModuleOp module);

}  // namespace tandem

#endif  // TANDEM_PASSES_PHASES_FUSION_EXPLAIN_FUSION_H_

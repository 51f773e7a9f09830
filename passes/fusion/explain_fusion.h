// Notes of what fusion decided, for people.
#ifndef TANDEM_PASSES_FUSION_EXPLAIN_FUSION_H_
#define TANDEM_PASSES_FUSION_EXPLAIN_FUSION_H_

#include <string>

#include "mlir/IR/BuiltinOps.h"
#include "passes/fusion/fusion_clusters.h"

namespace tandem {

// The name under which an executable keeps the notes, next to the IR of the phases.
inline constexpr char kFusionDecisions[] = "fusion-decisions";

// Appends a note for every pair of ops in `block` where one reads what the other computes (constants and index maps of
// constants left out) to the module attribute exec.fusion_decisions. Call before kernels are outlined.
void ExplainFusions(mlir::Block& block, FusionClusters& clusters, mlir::ModuleOp module);

// Takes the notes off the module: a line per pair, with tabs between the producer's op and scoped name, the consumer's
// op and scoped name, and why they are apart (empty: they are computed in one kernel).
std::string TakeFusionDecisions(mlir::ModuleOp module);

}  // namespace tandem

#endif  // TANDEM_PASSES_FUSION_EXPLAIN_FUSION_H_

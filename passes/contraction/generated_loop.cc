// Leaves a contraction to generated kernels, which compute it together with the ops around it, as they do elementwise
// ops: depthwise convolutions.
#include "passes/contraction/candidate.h"
#include "passes/contraction/choice.h"

namespace tandem {
namespace {

std::optional<Weighing> WeighGeneratedLoop(const Contraction& c) {
  if (td::FusionKindOf(c.op) == td::FusionKind::kNone) return std::nullopt;
  if (c.spec.reduces_batch && !c.target.sums_with_taps()) {
    return Unable("on this target only few_taps sums up taps");
  }
  return Profitable();
}

mlir::LogicalResult LeaveToKernels(const Contraction& c, exec::ContractionAttr) {
  RemoveChoice(c.op);
  return mlir::success();
}

}  // namespace

extern const Candidate kGeneratedLoop = {exec::Algorithm::kGeneratedLoop, Lowering::kLibrary, WeighGeneratedLoop,
                                         LeaveToKernels};

}  // namespace tandem

// Packs weights into panels (runtime/cpu/kernels/pack_weights.h). oneDNN's own reorder takes twice as long, and is
// never cut into parts.
#include "passes/contraction/candidate.h"

namespace tandem {
namespace {

Weighing WeighPackPanels(const format::LibraryCall& call, const CallContext& context) {
  if (!context.avx512) return NotProfitable(kNoAvx512);
  if (!context.library.PacksPanels(call)) return NotProfitable("the layout that the product reads has no panels");
  return Profitable();
}

}  // namespace

extern const Candidate kPackPanels = {exec::Algorithm::kPackPanels, Lowering::kInCall, nullptr, nullptr,
                                      WeighPackPanels};

}  // namespace tandem

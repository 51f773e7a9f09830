// Packs weights into panels by code of the runtime (runtime/cpu/kernels/pack_weights.h), which divides a matrix into
// parts so that threads share them. oneDNN's own reorder takes 1.1 to 1.9 times as long on one thread of an Intel Xeon,
// and the runtime gives each of its reorders to one thread.
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

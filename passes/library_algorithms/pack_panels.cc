// Packs weights into panels (runtime/cpu/kernels/pack_weights.h). oneDNN's own reorder takes twice as long, and is
// never cut into parts.
#include "passes/library_algorithms/candidates.h"

namespace tandem {
namespace {

std::string WhyNotPackPanels(const format::LibraryCall& call, const LibraryContext& context) {
  return context.library.PacksPanels(call) ? "" : "the layout that the product reads has no panels";
}

}  // namespace

const LibraryCandidate kPackPanels = {format::Algorithm::kPackPanels, /*needs_avx512=*/true, WhyNotPackPanels};

}  // namespace tandem

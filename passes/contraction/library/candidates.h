// The algorithms by which a CPU can compute a library call, and the choice among them. Every candidate is one file of
// this folder: when it is faster than the library's own primitive, and where that was measured. What a candidate can
// compute at all is runtime/library_algorithm.h's to say; how, runtime/cpu's.
#ifndef TANDEM_PASSES_CONTRACTION_LIBRARY_CANDIDATES_H_
#define TANDEM_PASSES_CONTRACTION_LIBRARY_CANDIDATES_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "passes/analysis/machine_model.h"
#include "runtime/format/index.h"
#include "runtime/kernel_library.h"

namespace tandem {

// What a choice depends on besides the call.
struct LibraryContext {
  const MachineModel& machine;
  bool avx512;  // the target has it
  const KernelLibrary& library;
};

struct LibraryCandidate {
  format::Algorithm algorithm;
  bool needs_avx512;
  // Why the library's primitive is expected to be faster; empty: the candidate is. Only asked of calls that it can
  // compute.
  std::string (*why_not)(const format::LibraryCall& call, const LibraryContext& context);
};

extern const LibraryCandidate kUnpackedGemm, kDirectFilterGrad, kPointwiseProduct, kDensePointwise, kPackPanels;

// In the order in which they are asked.
absl::Span<const LibraryCandidate* const> LibraryCandidates();

// A candidate that computes a call, and why it is not taken; empty for the one that is.
struct Verdict {
  format::Algorithm algorithm;
  std::string why_not;
};

// All candidates that compute the call, in the order in which they are asked, and the library. Exactly one is taken.
// `call` is valid (CheckLibraryCall); its own algorithm does not matter.
std::vector<Verdict> WeighAlgorithms(const format::LibraryCall& call, const LibraryContext& context);

// The one that is taken: the first candidate that is expected to be faster than the library, else the library.
format::Algorithm BestAlgorithm(const format::LibraryCall& call, const LibraryContext& context);

}  // namespace tandem

#endif  // TANDEM_PASSES_CONTRACTION_LIBRARY_CANDIDATES_H_

// The algorithms by which a CPU can compute a library call, and the choice among them. Every candidate is one file of
// this folder: it says when the candidate is faster than the library's own primitive, and where that was measured.
// runtime/library_calls/library_algorithm.h says what a candidate can compute at all; its code is in runtime/cpu.
#ifndef TANDEM_PASSES_LIBRARY_ALGORITHMS_CANDIDATES_H_
#define TANDEM_PASSES_LIBRARY_ALGORITHMS_CANDIDATES_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "passes/analysis/machine_model.h"
#include "runtime/format/index.h"
#include "runtime/session/kernel_library.h"

namespace tandem {

// The inputs of a choice in addition to the call.
struct LibraryContext {
  const MachineModel& machine;
  bool avx512;  // the target has AVX-512
  const KernelLibrary& library;
};

struct LibraryCandidate {
  format::Algorithm algorithm;
  bool needs_avx512;
  // Returns why the library's primitive is expected to be faster, or "" if the candidate is. Only called for calls that
  // the candidate can compute.
  std::string (*why_not)(const format::LibraryCall& call, const LibraryContext& context);
};

extern const LibraryCandidate kUnpackedGemm, kDirectFilterGrad, kPointwiseProduct, kDensePointwise, kPackPanels;

// Returns all candidates in the order in which they are asked.
absl::Span<const LibraryCandidate* const> LibraryCandidates();

// A candidate that can compute a call, and why it is not taken (empty for the one that is).
struct Verdict {
  format::Algorithm algorithm;
  std::string why_not;
};

// Returns the verdicts on all candidates that can compute the call, in the order in which they are asked, and on the
// library. Exactly one is taken. `call` is valid (CheckLibraryCall); its own algorithm does not matter.
std::vector<Verdict> WeighAlgorithms(const format::LibraryCall& call, const LibraryContext& context);

// Returns the algorithm that is taken: the first candidate that is expected to be faster than the library, else the
// library.
format::Algorithm BestAlgorithm(const format::LibraryCall& call, const LibraryContext& context);

}  // namespace tandem

#endif  // TANDEM_PASSES_LIBRARY_ALGORITHMS_CANDIDATES_H_

#include "passes/library_algorithms/candidates.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/library_calls/library_algorithm.h"

namespace tandem {

absl::Span<const LibraryCandidate* const> LibraryCandidates() {
  static constexpr const LibraryCandidate* kCandidates[] = {&kUnpackedGemm, &kDirectFilterGrad, &kPointwiseProduct,
                                                            &kDensePointwise, &kPackPanels};
  return kCandidates;
}

std::vector<Verdict> WeighAlgorithms(const format::LibraryCall& call, const LibraryContext& context) {
  std::vector<Verdict> verdicts;
  format::LibraryCall attempt = call;
  std::string taken;
  for (const LibraryCandidate* candidate : LibraryCandidates()) {
    attempt.algorithm = candidate->algorithm;
    if (!CheckAlgorithm(attempt).ok()) continue;
    std::string why_not = candidate->needs_avx512 && !context.avx512 ? "the target has no AVX-512"
                          : taken.empty()                            ? candidate->why_not(attempt, context)
                                                                     : absl::StrCat(taken, " is taken");
    if (why_not.empty()) taken = format::Name(candidate->algorithm);
    verdicts.push_back({candidate->algorithm, std::move(why_not)});
  }
  verdicts.push_back(
      {format::Algorithm::kLibrary, taken.empty() ? "" : absl::StrCat(taken, " is expected to be faster")});
  return verdicts;
}

format::Algorithm BestAlgorithm(const format::LibraryCall& call, const LibraryContext& context) {
  for (const Verdict& verdict : WeighAlgorithms(call, context)) {
    if (verdict.why_not.empty()) return verdict.algorithm;
  }
  return format::Algorithm::kLibrary;
}

}  // namespace tandem

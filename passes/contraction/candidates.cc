#include "passes/contraction/candidate.h"

#include "absl/strings/str_cat.h"
#include "passes/exec/contraction.h"
#include "runtime/library_calls/library_algorithm.h"

namespace tandem {

extern const Candidate kDensePointwise, kDirectFilterGrad, kFewTaps, kFilterGradTiles, kFusedProduct, kGeneratedLoop,
    kLibraryCall, kLowChannel, kPackPanels, kSingleChannel, kUnpackedGemm, kWeightGradBlocks;

llvm::ArrayRef<const Candidate*> Candidates() {
  static constexpr const Candidate* kCandidates[] = {
      &kFusedProduct,     &kSingleChannel,   &kWeightGradBlocks, &kGeneratedLoop, &kFewTaps,
      &kLowChannel,       &kFilterGradTiles, &kWinograd,         &kUnpackedGemm,  &kDirectFilterGrad,
      &kPointwiseProduct, &kDensePointwise,  &kPackPanels,       &kLibraryCall};
  return kCandidates;
}

const Candidate& CandidateFor(exec::Algorithm algorithm) {
  const auto is_wanted = [&](const Candidate* candidate) { return candidate->algorithm == algorithm; };
  return **llvm::find_if(Candidates(), is_wanted);
}

std::vector<Verdict> WeighOp(const Contraction& contraction) {
  std::vector<Verdict> verdicts;
  for (const Candidate* candidate : Candidates()) {
    const bool too_late = candidate->lowering == Lowering::kBeforeMaps && contraction.microbatches.known;
    if (candidate->weigh == nullptr || too_late) continue;
    if (std::optional<Weighing> w = candidate->weigh(contraction)) verdicts.push_back({candidate, *std::move(w)});
  }
  return verdicts;
}

std::vector<Verdict> WeighCall(const format::LibraryCall& call, const CallContext& context) {
  std::vector<Verdict> verdicts;
  format::LibraryCall attempt = call;
  for (const Candidate* candidate : Candidates()) {
    attempt.algorithm = candidate->algorithm;
    if (candidate->weigh_call == nullptr) continue;
    if (candidate != &kLibraryCall && !CheckAlgorithm(attempt).ok()) continue;
    verdicts.push_back({candidate, candidate->weigh_call(attempt, context)});
  }
  return verdicts;
}

const Verdict& Taken(llvm::ArrayRef<Verdict> verdicts) {
  return *llvm::find_if(verdicts, [](const Verdict& verdict) { return verdict.weighing.why_not.empty(); });
}

std::string WhyNot(const Verdict& verdict, absl::string_view taken) {
  return verdict.weighing.why_not.empty() ? absl::StrCat(taken, " is taken") : verdict.weighing.why_not;
}

mlir::LogicalResult LowerToContraction(const Contraction& contraction, exec::ContractionAttr choice) {
  mlir::Operation* op = contraction.op;
  mlir::OpBuilder b(op);
  op->getResult(0).replaceAllUsesWith(exec::BuildContraction(b, op, choice.getAlgorithm()).getOutput());
  op->erase();
  return mlir::success();
}

bool IsFloat32(mlir::Operation* op) {
  const auto is_float32 = [](mlir::Type type) { return mlir::getElementTypeOrSelf(type).isF32(); };
  return llvm::all_of(op->getOperandTypes(), is_float32) && llvm::all_of(op->getResultTypes(), is_float32);
}

}  // namespace tandem

#include "passes/contraction/candidate.h"

namespace tandem {

extern const Candidate kFewTaps, kFilterGradTiles, kFusedProduct, kGeneratedLoop, kLibraryCall, kLowChannel,
    kPointwiseMatMul, kSingleChannel, kWeightGradBlocks;

llvm::ArrayRef<const Candidate*> Candidates() {
  static constexpr const Candidate* kCandidates[] = {
      &kFusedProduct, &kSingleChannel,   &kWeightGradBlocks, &kGeneratedLoop,   &kFewTaps,
      &kLowChannel,   &kFilterGradTiles, &kWinograd,         &kPointwiseMatMul, &kLibraryCall};
  return kCandidates;
}

const Candidate& CandidateFor(exec::Algorithm algorithm) {
  for (const Candidate* candidate : Candidates()) {
    if (candidate->algorithm == algorithm) return *candidate;
  }
  return kLibraryCall;
}

bool IsFloat32(mlir::Operation* op) {
  const auto is_float32 = [](mlir::Type type) { return mlir::getElementTypeOrSelf(type).isF32(); };
  return llvm::all_of(op->getOperandTypes(), is_float32) && llvm::all_of(op->getResultTypes(), is_float32);
}

}  // namespace tandem

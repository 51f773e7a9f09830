// The contractions of a module, in the form in which candidates weigh them.
#ifndef TANDEM_PASSES_CONTRACTION_CONTRACTIONS_H_
#define TANDEM_PASSES_CONTRACTION_CONTRACTIONS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/contraction/candidate.h"

namespace tandem {

class Contractions {
 public:
  // Finds the contractions of `module`. InvalidArgument if its machine model cannot be read.
  static absl::StatusOr<Contractions> Of(mlir::ModuleOp module);

  const exec::CompileConfigAttr& config() const { return config_; }
  // The contractions in the order of the program.
  llvm::ArrayRef<td::LibraryOp> ops() const { return ops_; }
  // Returns the Contraction of `op`, which refers to this object. `tile` is the side, in pixels, of Winograd's tile
  // that TANDEM_FLAGS asks for; 0: any.
  Contraction Describe(td::LibraryOp op, int64_t tile = 0) const;

 private:
  Microbatches MicrobatchesOf(td::LibraryOp op) const;

  exec::CompileConfigAttr config_;
  std::shared_ptr<const Target> target_;
  std::shared_ptr<const MachineModel> machine_;
  bool has_maps_ = false;  // true once the module has maps, the loops over microbatches
  llvm::SmallVector<td::LibraryOp> ops_;
};

// Replaces the ops whose chosen candidate has this `lowering`.
mlir::LogicalResult CarryOutChoices(mlir::ModuleOp module, Lowering lowering);

}  // namespace tandem

#endif  // TANDEM_PASSES_CONTRACTION_CONTRACTIONS_H_

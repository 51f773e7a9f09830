// The contractions of a module, as candidates look at them.
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
  // InvalidArgument where the module's machine model cannot be read.
  static absl::StatusOr<Contractions> Of(mlir::ModuleOp module);

  const exec::CompileConfigAttr& config() const { return config_; }
  // In the order of the program.
  llvm::ArrayRef<td::LibraryOp> ops() const { return ops_; }
  // `tile`: as in Contraction. It lives as long as this object.
  Contraction Describe(td::LibraryOp op, int64_t tile = 0) const;

 private:
  Microbatches MicrobatchesOf(td::LibraryOp op) const;

  exec::CompileConfigAttr config_;
  std::shared_ptr<const Target> target_;
  std::shared_ptr<const MachineModel> machine_;
  bool has_maps_ = false;  // how rows are cut is known
  llvm::SmallVector<td::LibraryOp> ops_;
};

// Makes of each op what its choice says, where the candidate is lowered at that place.
mlir::LogicalResult CarryOutChoices(mlir::ModuleOp module, Lowering lowering);

}  // namespace tandem

#endif  // TANDEM_PASSES_CONTRACTION_CONTRACTIONS_H_

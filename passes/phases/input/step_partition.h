// Decides which ops of a step are computed where the variables that they update are kept (td-partition-step).
#ifndef TANDEM_PASSES_PHASES_INPUT_STEP_PARTITION_H_
#define TANDEM_PASSES_PHASES_INPUT_STEP_PARTITION_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace tandem {

// Variables have owners, numbered from 0. An owner computes the values that only updates of its variables read, as far
// back as neither rows of the batch nor variables of other owners are needed; a worker computes the rest.
class StepPartition {
 public:
  static constexpr int kWorker = -1;

  StepPartition(mlir::func::FuncOp step, std::map<std::string, int> owners_of_variables);

  int OwnerOf(mlir::FlatSymbolRefAttr variable) const { return owners_of_variables_.at(variable.getValue().str()); }
  // True if `variable` is a variable of the model that belongs to `owner`.
  bool Owns(int owner, mlir::FlatSymbolRefAttr variable) const;
  // Returns who computes the op of `use`; for an update, the owner of the variable.
  int ReaderOf(mlir::OpOperand& use) const;
  // Returns the ops that `owner` computes, in the order of the program.
  std::vector<mlir::Operation*> OpsOf(int owner) const;
  // True if `op` follows from step scalars and constants alone: everyone who needs it computes it, and it has no owner.
  bool IsAnybodys(mlir::Operation* op) const { return owners_.lookup(op) == kAny; }
  // Returns the values that `owner` reads and others compute, in the order of the program.
  llvm::SetVector<mlir::Value> SentTo(int owner) const;
  // An update that reads the variable's old value but is not computed where the variable is kept, so that it would
  // overwrite the updates of other workers.
  struct LostUpdate {
    mlir::Operation* op;  // the op that reads the old value
    mlir::FlatSymbolRefAttr variable;
    bool serves_rows;  // the new value is needed for the rows of a worker's batch, so that no server can compute it
  };
  std::vector<LostUpdate> LostUpdates() const;

 private:
  static constexpr int kAny = -2;

  mlir::Block& body() const { return const_cast<mlir::func::FuncOp&>(step_).getBody().front(); }
  int FindOwner(mlir::Operation* op) const;
  // If no op of the variable's owner reads `variable` to compute `value`: returns the op that reads it among those by
  // which a worker computes `value` without rows of its batch. Else null.
  mlir::Operation* WorkersReaderOf(mlir::FlatSymbolRefAttr variable, mlir::Value value) const;
  bool ServesRows(mlir::Value value) const;
  // True if `op` follows from step scalars and constants alone. Its operands must have been asked about before.
  bool FollowsFromScalars(mlir::Operation* op) const;
  // True for a scalar that servers get too: not for one that the session sets from the workers' replicas and their
  // rows.
  bool IsStepScalar(mlir::BlockArgument argument) const;
  // True if `owner` has or computes `value`.
  bool Has(int owner, mlir::Value value) const;

  mlir::func::FuncOp step_;
  const std::map<std::string, int> owners_of_variables_;
  llvm::DenseMap<mlir::Operation*, int> owners_;
};

}  // namespace tandem

#endif  // TANDEM_PASSES_PHASES_INPUT_STEP_PARTITION_H_

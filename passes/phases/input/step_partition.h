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

// Variables have owners, numbered from 0. An owner computes the values that only updates of its variables read. Where a
// value depends on rows of the batch or on variables of other owners, a worker computes it, and sends it if an owner
// needs it.
class StepPartition {
 public:
  static constexpr int kWorker = -1;

  StepPartition(mlir::func::FuncOp step, std::map<std::string, int> owners_of_variables);

  int OwnerOf(mlir::FlatSymbolRefAttr variable) const { return owners_of_variables_.at(variable.getValue().str()); }
  // True if `variable` is a variable of the model that belongs to `owner`.
  bool Owns(int owner, mlir::FlatSymbolRefAttr variable) const;
  // Returns the owner (or kWorker) that computes the op of `use`; if the use is an update, the owner of the variable.
  int ReaderOf(mlir::OpOperand& use) const;
  // Returns the ops that `owner` computes, in the order of the program.
  std::vector<mlir::Operation*> OpsOf(int owner) const;
  // True if `op` depends on step scalars and constants only. Such an op has no owner: each reader computes it itself.
  bool IsAnybodys(mlir::Operation* op) const { return owners_.lookup(op) == kAny; }
  // Returns the values that `owner` reads and does not compute itself, in the order of the program.
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
  // Returns an op by which a worker computes `value` from the old value of `variable`, without rows of its batch, and
  // that reads the variable. Null if there is none, or if the variable's owner reads it to compute `value`.
  mlir::Operation* WorkersReaderOf(mlir::FlatSymbolRefAttr variable, mlir::Value value) const;
  bool ServesRows(mlir::Value value) const;
  // True if `op` depends on step scalars and constants only. The ops of its operands must have been classified before.
  bool FollowsFromScalars(mlir::Operation* op) const;
  // True for a step scalar that servers are given as well. Scalars that the session sets from the workers' replicas and
  // their rows are not.
  bool IsStepScalar(mlir::BlockArgument argument) const;
  // True if `value` is known where `owner` computes: it is the owner's variable, a step scalar, or computed there.
  bool Has(int owner, mlir::Value value) const;

  mlir::func::FuncOp step_;
  const std::map<std::string, int> owners_of_variables_;
  llvm::DenseMap<mlir::Operation*, int> owners_;
};

}  // namespace tandem

#endif  // TANDEM_PASSES_PHASES_INPUT_STEP_PARTITION_H_

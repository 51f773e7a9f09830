// Which ops of a step are computed where the variables are that they update (td-partition-step).
#ifndef TANDEM_PASSES_INPUT_STEP_PARTITION_H_
#define TANDEM_PASSES_INPUT_STEP_PARTITION_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace tandem {

// Variables have owners, from 0 on. An owner computes what only updates of its variables read, as far back as neither
// rows of the batch nor variables of other owners are needed; a worker computes the rest.
class StepPartition {
 public:
  static constexpr int kWorker = -1;

  StepPartition(mlir::func::FuncOp step, std::map<std::string, int> owners_of_variables);

  int OwnerOf(mlir::FlatSymbolRefAttr variable) const { return owners_of_variables_.at(variable.getValue().str()); }
  // False for what is no variable of the model.
  bool Owns(int owner, mlir::FlatSymbolRefAttr variable) const;
  // Who computes what reads `use`.
  int ReaderOf(mlir::OpOperand& use) const;
  // What `owner` computes, in the order of the program.
  std::vector<mlir::Operation*> OpsOf(int owner) const;
  // Whether `op` is made of step scalars and constants alone: whoever needs it computes it, and no owner has it.
  bool IsAnybodys(mlir::Operation* op) const { return owners_.lookup(op) == kAny; }
  // What `owner` reads of others, in the order of the program.
  llvm::SetVector<mlir::Value> SentTo(int owner) const;
  // An update that reads a variable's value of before and is not computed where the variable is, so that it overwrites
  // those of other workers.
  struct LostUpdate {
    mlir::Operation* op;  // that reads the value
    mlir::FlatSymbolRefAttr variable;
    bool serves_rows;  // the new value is needed for the rows of a worker's batch, so that no server can compute it
  };
  std::vector<LostUpdate> LostUpdates() const;

 private:
  static constexpr int kAny = -2;

  mlir::Block& body() const { return const_cast<mlir::func::FuncOp&>(step_).getBody().front(); }
  int FindOwner(mlir::Operation* op) const;
  // Where no op of the variable's owner reads `variable` to make `value`: the op that does among those by which a
  // worker makes it without the rows of its batch. Else null.
  mlir::Operation* WorkersReaderOf(mlir::FlatSymbolRefAttr variable, mlir::Value value) const;
  bool ServesRows(mlir::Value value) const;
  // Of an op whose operands have been asked about.
  bool FollowsFromScalars(mlir::Operation* op) const;
  // A scalar that a server is told: not one that follows from the replicas and their rows, which are the workers'.
  bool IsStepScalar(mlir::BlockArgument argument) const;
  // Whether `owner` has or computes `value`.
  bool Has(int owner, mlir::Value value) const;

  mlir::func::FuncOp step_;
  const std::map<std::string, int> owners_of_variables_;
  llvm::DenseMap<mlir::Operation*, int> owners_;
};

}  // namespace tandem

#endif  // TANDEM_PASSES_INPUT_STEP_PARTITION_H_

// Finds the ops that follow a contraction and may become part of it: a bias, a residual, a relu.
#ifndef TANDEM_PASSES_CONTRACTION_EPILOGUE_H_
#define TANDEM_PASSES_CONTRACTION_EPILOGUE_H_

#include "graph/ir/binary.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace tandem {

struct EpilogueOps {
  mlir::Value bias, residual;  // the values added to the contraction's result; null if there is none
  bool relu = false;
  // The contraction and the ops that become part of it, in the order of the program. The last op's result is the result
  // of them all.
  llvm::SmallVector<mlir::Operation*> ops;

  mlir::Operation* last() const { return ops.back(); }
};

// Follows the first result y of `op` -> add(y, broadcast(bias)) -> add(y, residual) -> relu, as long as each op is the
// only user of the result before it. Bias and residual may be missing. `take_bias` returns the value to use as bias, or
// null if the bias cannot be part of the contraction; `takes_residual` says whether the residual can.
// `takes_relu_alone`: include a relu even without bias and residual.
EpilogueOps EpilogueOf(mlir::Operation* op, llvm::function_ref<mlir::Value(mlir::Value bias)> take_bias,
                       llvm::function_ref<bool(td::AddOp add, mlir::Value residual)> takes_residual,
                       bool takes_relu_alone = true);

// Replaces the last of `epilogue.ops` by `result` and erases the ops that are no longer read.
void ReplaceAll(const EpilogueOps& epilogue, mlir::Value result);

}  // namespace tandem

#endif  // TANDEM_PASSES_CONTRACTION_EPILOGUE_H_

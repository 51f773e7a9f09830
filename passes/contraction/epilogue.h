// Finds the ops that follow a contraction and may become part of it: a bias, a residual, a relu.
#ifndef TANDEM_PASSES_CONTRACTION_EPILOGUE_H_
#define TANDEM_PASSES_CONTRACTION_EPILOGUE_H_

#include "graph/ir/binary.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace tandem {

struct EpilogueOps {
  mlir::Value bias, residual;  // null: none
  bool relu = false;
  // The contraction and the ops that it takes, in the order of the program. The result of the last one is that of all.
  llvm::SmallVector<mlir::Operation*> ops;

  mlir::Operation* last() const { return ops.back(); }
};

// Follows the first result y of `op` -> add(y, broadcast(bias)) -> add(y, residual) -> relu as far as each is the only
// use. There may be no bias or no residual. `take_bias` returns the value to take for a bias, or null where it cannot
// be taken; `takes_residual` says whether the add's residual can be taken. `takes_relu_alone`: take a relu even without
// bias and residual.
EpilogueOps EpilogueOf(mlir::Operation* op, llvm::function_ref<mlir::Value(mlir::Value bias)> take_bias,
                       llvm::function_ref<bool(td::AddOp add, mlir::Value residual)> takes_residual,
                       bool takes_relu_alone = true);

// Replaces the last of `epilogue.ops` by `result` and erases the ops that are no longer read.
void ReplaceAll(const EpilogueOps& epilogue, mlir::Value result);

}  // namespace tandem

#endif  // TANDEM_PASSES_CONTRACTION_EPILOGUE_H_

#include "passes/contraction/epilogue.h"

#include "graph/ir/unary.h"
#include "passes/base/channel_bias.h"
#include "passes/contraction/residual.h"

namespace tandem {

EpilogueOps EpilogueOf(mlir::Operation* op, llvm::function_ref<mlir::Value(mlir::Value bias)> take_bias,
                       llvm::function_ref<bool(td::AddOp add, mlir::Value residual)> takes_residual,
                       bool takes_relu_alone) {
  EpilogueOps epilogue;
  epilogue.ops = {op};
  const auto next = [&] { return OnlyUser(epilogue.last()->getResult(0)); };
  auto add = mlir::dyn_cast_or_null<td::AddOp>(next());
  if (add) {
    const mlir::Value bias = ChannelBiasOf(add, epilogue.last()->getResult(0));
    if (bias && (epilogue.bias = take_bias(bias))) {
      epilogue.ops.push_back(add);
      add = mlir::dyn_cast_or_null<td::AddOp>(next());
    }
  }
  if (add) {
    const mlir::Value residual = ResidualOf(add, epilogue.last()->getResult(0));
    if (residual && takes_residual(add, residual)) {
      epilogue.residual = residual;
      epilogue.ops.push_back(add);
    }
  }
  auto relu = mlir::dyn_cast_or_null<td::ReluOp>(next());
  if (relu && (takes_relu_alone || epilogue.ops.size() > 1)) {
    epilogue.relu = true;
    epilogue.ops.push_back(relu);
  }
  return epilogue;
}

void ReplaceAll(const EpilogueOps& epilogue, mlir::Value result) {
  epilogue.last()->getResult(0).replaceAllUsesWith(result);
  for (mlir::Operation* op : llvm::reverse(epilogue.ops)) {
    if (op->use_empty()) op->erase();
  }
}

}  // namespace tandem

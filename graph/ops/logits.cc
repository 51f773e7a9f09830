#include "graph/logits.h"

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"

namespace tandem {

Tensor ArgumentOf(const char* op, const Tensor& result) {
  if (!result.ok()) return Tensor();
  mlir::Operation* producer = mlir::Value::getFromOpaquePointer(result.value_).getDefiningOp();
  // Compares names instead of op classes, so that this file, which all programs with losses link, does not depend on an
  // op family.
  if (producer == nullptr || producer->getName().getStringRef() != op) return Tensor();
  return Tensor(result.origin_, producer->getOperand(0).getAsOpaquePointer());
}

Tensor SoftmaxLogits(const Tensor& probabilities) { return ArgumentOf("td.softmax", probabilities); }
Tensor SigmoidLogits(const Tensor& probabilities) { return ArgumentOf("td.sigmoid", probabilities); }

}  // namespace tandem

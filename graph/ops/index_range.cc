#include "graph/index_range.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"

namespace tandem {
namespace {

// Returns the range that an op requires of the integers in its operand `use`.
IndexRange RangeOfUse(mlir::OpOperand& use);

IndexRange RangeOfValue(mlir::Value value) {
  IndexRange range;
  for (mlir::OpOperand& use : value.getUses()) {
    const IndexRange other = RangeOfUse(use);
    if (other.size > 0 && (range.size == 0 || other.size < range.size)) range = other;
  }
  return range;
}

IndexRange RangeOfUse(mlir::OpOperand& use) {
  mlir::Operation* op = use.getOwner();
  // Compares names instead of op classes, so that this file, which every Estimator links, does not depend on an op
  // family.
  const llvm::StringRef name = op->getName().getStringRef();
  if (name == "td.cast" || name == "td.reshape") return RangeOfValue(op->getResult(0));
  const bool cross_entropy = name.starts_with("td.sparse_softmax") && op->getNumOperands() >= 2;
  const bool gather = name == "td.gather" && use.getOperandNumber() == 1;
  if (!cross_entropy && !gather) return {};
  // Finds the table or the logits, the only operand that does not hold indices; its size limits them.
  for (mlir::Value operand : op->getOperands()) {
    auto type = mlir::dyn_cast<mlir::RankedTensorType>(operand.getType());
    if (operand == use.get() || !type || type.getRank() < 1) continue;
    if (gather) return {type.getDimSize(0), /*table=*/true};
    if (mlir::isa<mlir::FloatType>(type.getElementType()) && type.getRank() >= 2) {
      return {type.getShape().back()};
    }
  }
  return {};
}

}  // namespace

IndexRange IndexRangeOf(const Tensor& indices) {
  if (!indices.ok()) return {};
  return RangeOfValue(mlir::Value::getFromOpaquePointer(indices.value_));
}

}  // namespace tandem

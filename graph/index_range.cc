#include "graph/index_range.h"

#include <algorithm>

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"

namespace tandem {
namespace {

// The range that one use asks for; 0 when it asks for none.
int64_t RangeOfUse(mlir::OpOperand& use);

int64_t RangeOfValue(mlir::Value value) {
  int64_t range = 0;
  for (mlir::OpOperand& use : value.getUses()) {
    const int64_t n = RangeOfUse(use);
    if (n > 0) range = range > 0 ? std::min(range, n) : n;
  }
  return range;
}

int64_t RangeOfUse(mlir::OpOperand& use) {
  mlir::Operation* op = use.getOwner();
  // By name, so that this file needs no op family: whoever builds an Estimator links it.
  const llvm::StringRef name = op->getName().getStringRef();
  if (name == "td.cast" || name == "td.reshape") return RangeOfValue(op->getResult(0));
  const bool cross_entropy = name.starts_with("td.sparse_softmax") && op->getNumOperands() >= 2;
  const bool gather = name == "td.gather" && use.getOperandNumber() == 1;
  if (!cross_entropy && !gather) return 0;
  // The table, or the logits: of the operands the one that is not made of indices.
  for (mlir::Value operand : op->getOperands()) {
    auto type = mlir::dyn_cast<mlir::RankedTensorType>(operand.getType());
    if (operand == use.get() || !type || type.getRank() < 1) continue;
    if (gather) return type.getDimSize(0);
    if (mlir::isa<mlir::FloatType>(type.getElementType()) && type.getRank() == 2) return type.getDimSize(1);
  }
  return 0;
}

}  // namespace

int64_t IndexRange(const Tensor& indices) {
  if (!indices.ok()) return 0;
  return std::max<int64_t>(0, RangeOfValue(mlir::Value::getFromOpaquePointer(indices.value_)));
}

}  // namespace tandem

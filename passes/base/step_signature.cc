#include "passes/base/step_signature.h"

#include "graph/ir/interfaces.h"
#include "graph/ir/signature.h"
#include "graph/ir/state.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/exec/dialect.h"

namespace tandem {
namespace {

// True for a tensor whose sizes are all known, except perhaps that of the leading dimension (the batch).
bool IsValueType(mlir::Type type) {
  auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type);
  if (!tensor || td::ToDType(tensor.getElementType()) == DType::kInvalid) return false;
  return tensor.getRank() == 0 || !llvm::is_contained(tensor.getShape().drop_front(), mlir::ShapedType::kDynamic);
}

bool HasBatch(mlir::Type type) {
  auto tensor = mlir::cast<mlir::RankedTensorType>(type);
  return tensor.getRank() > 0 && tensor.isDynamicDim(0);
}

mlir::LogicalResult VerifyArgument(mlir::func::FuncOp step, unsigned i) {
  const mlir::Type type = step.getArgument(i).getType();
  auto error = [&] { return mlir::emitError(step.getArgument(i).getLoc()) << "argument " << i << " of @step "; };
  if (!IsValueType(type)) return error() << "has the type " << type << ", which no value of a program has";
  if (td::InputOf(step, i)) {
    return HasBatch(type) ? mlir::success() : error() << "is an input without a batch: " << type;
  }
  if (HasBatch(type))
    return error() << "has a batch, " << type << ", and only what is marked td.input = \"NAME\" has one";
  if (td::ScalarOf(step, i)) {
    const bool scalar = mlir::cast<mlir::RankedTensorType>(type).getRank() == 0;
    return scalar ? mlir::success() : error() << "is a td.scalar of the type " << type;
  }
  if (td::VariableOf(step, i)) return mlir::success();
  return error() << "is marked neither td.input = \"NAME\", td.scalar = \"NAME\" nor td.variable = @NAME";
}

mlir::LogicalResult VerifyResult(mlir::func::FuncOp step, unsigned i) {
  const mlir::Type type = step.getResultTypes()[i];
  auto error = [&] { return step.emitError() << "result " << i << " of @step "; };
  if (!IsValueType(type)) return error() << "has the type " << type << ", which no value of a program has";
  if (td::OutputOf(step, i)) return mlir::success();
  if (td::UpdateOf(step, i)) {
    return HasBatch(type) ? error() << "updates a variable with a batch: " << type : mlir::success();
  }
  if (td::IsChecked(step, i)) {
    return HasBatch(type) ? error() << "is td.check_finite and has a batch: " << type : mlir::success();
  }
  return error() << "is marked neither td.update = @NAME, td.output = \"NAME\" nor td.check_finite";
}

// Checks that `op` has operands and results of the element types that `members` calls of kernel `name` need.
mlir::LogicalResult VerifyLaunch(mlir::ModuleOp module, mlir::Operation* op, mlir::FlatSymbolRefAttr name,
                                 int64_t members) {
  auto kernel = module.lookupSymbol<mlir::func::FuncOp>(name.getAttr());
  if (!kernel || !kernel.getBody().hasOneBlock())
    return op->emitError() << "launches " << name << ", which is no kernel";
  auto fits = [&](mlir::TypeRange given, llvm::ArrayRef<mlir::Type> wanted) {
    if (members < 1 || given.size() != members * wanted.size()) return false;
    for (size_t i = 0; i < given.size(); ++i) {
      if (mlir::getElementTypeOrSelf(given[i]) != mlir::getElementTypeOrSelf(wanted[i % wanted.size()])) return false;
    }
    return true;
  };
  if (fits(op->getOperandTypes(), kernel.getArgumentTypes()) && fits(op->getResultTypes(), kernel.getResultTypes())) {
    return mlir::success();
  }
  return op->emitError() << "does not have the operands and results of " << name << ": " << kernel.getFunctionType();
}

}  // namespace

mlir::LogicalResult VerifyStepSignature(mlir::func::FuncOp step) {
  if (!step.getBody().hasOneBlock()) return step.emitError("@step must have a body of one block");
  for (unsigned i = 0; i < step.getNumArguments(); ++i) {
    if (mlir::failed(VerifyArgument(step, i))) return mlir::failure();
  }
  for (unsigned i = 0; i < step.getNumResults(); ++i) {
    if (mlir::failed(VerifyResult(step, i))) return mlir::failure();
  }
  return mlir::success();
}

mlir::LogicalResult VerifyStepVariables(mlir::ModuleOp module, mlir::func::FuncOp step) {
  auto check = [&](mlir::FlatSymbolRefAttr name, mlir::Type type, mlir::Location loc) -> mlir::LogicalResult {
    if (!name) return mlir::success();
    auto variable = module.lookupSymbol<td::VariableOp>(name.getAttr());
    if (!variable) return mlir::emitError(loc) << "@step has the variable " << name << ", which is not declared";
    auto initializer = variable.getInitializer();
    if (initializer && initializer->size() != 3) {
      return variable.emitError() << "has an initializer of " << initializer->size() << " numbers instead of 3";
    }
    if (variable.getType() == type) return mlir::success();
    return mlir::emitError(loc) << "variable " << name << " is declared as " << variable.getType() << ", and @step has "
                                << type;
  };
  for (unsigned i = 0; i < step.getNumArguments(); ++i) {
    mlir::FlatSymbolRefAttr name = td::VariableOf(step, i);
    const mlir::BlockArgument argument = step.getArgument(i);
    if (mlir::failed(check(name, argument.getType(), argument.getLoc()))) return mlir::failure();
  }
  for (unsigned i = 0; i < step.getNumResults(); ++i) {
    mlir::FlatSymbolRefAttr name = td::UpdateOf(step, i);
    if (mlir::failed(check(name, step.getResultTypes()[i], step.getLoc()))) return mlir::failure();
  }
  return mlir::success();
}

mlir::LogicalResult VerifyLaunches(mlir::ModuleOp module, mlir::func::FuncOp step) {
  const mlir::WalkResult result = step.walk([&](exec::CommandOp op) {
    const mlir::FlatSymbolRefAttr kernel = op.getLaunchedKernel();
    const bool fits = !kernel || mlir::succeeded(VerifyLaunch(module, op, kernel, op.getLaunchedMembers()));
    return !fits ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  });
  return mlir::failure(result.wasInterrupted());
}

}  // namespace tandem

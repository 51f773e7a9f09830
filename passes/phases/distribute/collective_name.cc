#include "passes/phases/distribute/collective_name.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "passes/base/pass_util.h"
#include "passes/exec/dialect.h"
#include "passes/phases/distribute/update_flow.h"

namespace tandem {
namespace {

// Returns the kind of the op that computes `value`, as a name for ops that a pass has created without one.
std::string KindOfOp(mlir::Value value) {
  mlir::Operation* op = value.getDefiningOp();
  if (auto map = mlir::dyn_cast_or_null<exec::MapMicrobatchesOp>(op)) {
    const unsigned i = mlir::cast<mlir::OpResult>(value).getResultNumber();
    return KindOfOp(map.getBody().front().getTerminator()->getOperand(i));
  }
  return op == nullptr ? "argument" : op->getName().getStringRef().str();
}

}  // namespace

std::string CollectiveName(mlir::Value part, mlir::Value whole) {
  const std::string op = ValueName(part);
  if (absl::StartsWith(op, kGradientScope)) {
    if (std::string variable = UpdateFlowOf(whole).variable; !variable.empty()) {
      return absl::StrCat("gradient of ", variable);
    }
  }
  for (mlir::OpOperand& use : whole.getUses()) {
    if (mlir::FlatSymbolRefAttr update = UpdateBy(use)) return absl::StrCat("update of ", update.getValue().str());
  }
  return op.empty() ? KindOfOp(part) : op;
}

}  // namespace tandem

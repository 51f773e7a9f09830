#include "passes/phases/precision/precision_decisions.h"

#include "absl/strings/str_cat.h"
#include "passes/exec/dialect.h"

namespace tandem {
namespace {

constexpr llvm::StringLiteral kPrecisionAttribute = "exec.precision_decisions";

}  // namespace

void SetPrecisionDecisions(mlir::ModuleOp module, llvm::ArrayRef<mlir::Attribute> decisions) {
  module->setAttr(kPrecisionAttribute, mlir::ArrayAttr::get(module.getContext(), decisions));
}

std::string TakePrecisionDecisions(mlir::ModuleOp module) {
  std::string lines;
  auto notes = mlir::dyn_cast_or_null<mlir::ArrayAttr>(module->removeAttr(kPrecisionAttribute));
  if (!notes) return lines;
  for (auto note : notes.getAsRange<exec::PrecisionDecisionAttr>()) {
    absl::StrAppend(&lines, note.getOp().str(), "\t", note.getName().str(), "\t", note.getPrecision().str(), "\t",
                    note.getWhy().str(), "\n");
  }
  return lines;
}

}  // namespace tandem

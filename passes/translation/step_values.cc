#include "passes/translation/step_values.h"

#include "graph/ir/interfaces.h"
#include "graph/ir/signature.h"

namespace tandem::translation {

ProgramValues ValuesOfStep(mlir::func::FuncOp step) {
  ProgramValues values;
  values.variable = [step](const std::string& name) mutable -> absl::StatusOr<HostTensor> {
    for (unsigned i = 0; i < step.getNumArguments(); ++i) {
      const mlir::FlatSymbolRefAttr variable = td::VariableOf(step, i);
      const mlir::Type type = step.getArgument(i).getType();
      if (!variable || variable.getValue() != name) continue;
      return HostTensor::Zeros(td::ToDType(mlir::getElementTypeOrSelf(type)), td::ToShape(type));
    }
    return absl::NotFoundError(name);
  };
  for (unsigned i = 0; i < step.getNumResults(); ++i) {
    if (const mlir::StringAttr output = td::OutputOf(step, i)) values.outputs.push_back(output.str());
  }
  return values;
}

}  // namespace tandem::translation

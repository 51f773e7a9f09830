// The algorithm that td-choose-contractions chose for a contraction, as an attribute of the op.
#ifndef TANDEM_PASSES_CONTRACTION_CHOICE_H_
#define TANDEM_PASSES_CONTRACTION_CHOICE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "mlir/IR/Operation.h"
#include "passes/exec/dialect.h"

namespace tandem {

// Null where nothing was chosen yet: a library call.
exec::ContractionAttr ChoiceOf(mlir::Operation* op);
void RemoveChoice(mlir::Operation* op);
void SetChoice(mlir::Operation* op, exec::ContractionAttr choice);

// Whether `op` is to be computed by `algorithm`.
bool IsChosen(mlir::Operation* op, exec::Algorithm algorithm);

// "few_taps", and "winograd_f4" for tiles of 4 x 4 pixels.
std::string ChoiceName(exec::ContractionAttr choice);

// What TANDEM_FLAGS=--choose wants for a contraction.
struct Override {
  exec::ContractionAttr choice;  // null: nothing
  bool exact = false;            // it names this op, not a layer or all
};
// The last one that matches the op's name.
Override OverrideOf(mlir::Operation* op, exec::CompileConfigAttr config);

// Whether it names an op of that name: as it is, a layer around it or around the op that it is the gradient of, or *.
bool MatchesName(exec::ContractionOverrideAttr wanted, absl::string_view op);

// Reads NAME:ALGORITHM as TANDEM_FLAGS=--choose has it. InvalidArgument lists the algorithms.
absl::StatusOr<exec::ContractionOverrideAttr> ParseOverride(mlir::MLIRContext* context, absl::string_view text);

}  // namespace tandem

#endif  // TANDEM_PASSES_CONTRACTION_CHOICE_H_

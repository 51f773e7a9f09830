// The algorithm that td-choose-contractions chose for a contraction, as an attribute of the op.
#ifndef TANDEM_PASSES_CONTRACTION_CHOICE_H_
#define TANDEM_PASSES_CONTRACTION_CHOICE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "mlir/IR/Operation.h"
#include "passes/exec/dialect.h"

namespace tandem {

// Returns the choice for `op`. Null if nothing was chosen yet, which stands for a library call.
exec::ContractionAttr ChoiceOf(mlir::Operation* op);
void RemoveChoice(mlir::Operation* op);
void SetChoice(mlir::Operation* op, exec::ContractionAttr choice);

// True if `op` is to be computed by `algorithm`.
bool IsChosen(mlir::Operation* op, exec::Algorithm algorithm);

// Returns the name of a choice: "few_taps", and "winograd_f4" for tiles of 4 x 4 pixels.
std::string ChoiceName(exec::ContractionAttr choice);

// The choice that TANDEM_FLAGS=--choose asks for.
struct Override {
  exec::ContractionAttr choice;  // null: the flag says nothing about the op
  bool exact = false;            // the flag has the op's full name, not that of a layer or *
};
// Returns the last override that matches the op's name.
Override OverrideOf(mlir::Operation* op, exec::CompileConfigAttr config);

// True if `wanted` applies to an op of that name. Its own name must be the op's name, or *, or the name of a layer
// around the op or around the forward op whose gradient it is.
bool MatchesName(exec::ContractionOverrideAttr wanted, absl::string_view op);

// Parses NAME:ALGORITHM, the value of TANDEM_FLAGS=--choose. InvalidArgument, listing all algorithms, for an unknown
// one.
absl::StatusOr<exec::ContractionOverrideAttr> ParseOverride(mlir::MLIRContext* context, absl::string_view text);

}  // namespace tandem

#endif  // TANDEM_PASSES_CONTRACTION_CHOICE_H_

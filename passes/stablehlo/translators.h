// The translators of td ops to StableHLO, in a table by op. Each family of ops has a file that adds its part.
#ifndef TANDEM_PASSES_STABLEHLO_TRANSLATORS_H_
#define TANDEM_PASSES_STABLEHLO_TRANSLATORS_H_

#include <functional>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "mlir/IR/Operation.h"
#include "passes/stablehlo/lowering.h"

namespace tandem::stablehlo {

// Appends the ops that compute the op's result, and returns their value.
using Translator = std::function<absl::StatusOr<mlir::Value>(mlir::Operation* op, Lowering& lowering)>;

// Translators by the name of the op, such as "td.conv2d".
using TranslatorTable = std::map<std::string, Translator>;

void AddElementwise(TranslatorTable& table);
void AddActivations(TranslatorTable& table);
void AddShapes(TranslatorTable& table);
void AddReductions(TranslatorTable& table);
void AddProducts(TranslatorTable& table);
void AddConvolutions(TranslatorTable& table);
void AddPooling(TranslatorTable& table);
void AddLookups(TranslatorTable& table);

// An op that is not in the table has a reason (WhyNotTranslated), or is replaced by ops that are (td::DecomposeOp).
const TranslatorTable& Translators();

}  // namespace tandem::stablehlo

#endif  // TANDEM_PASSES_STABLEHLO_TRANSLATORS_H_

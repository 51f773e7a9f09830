// The translators of td ops to ONNX, in a table by op. Each family of ops has a file that adds its part of the table.
#ifndef TANDEM_PASSES_ONNX_TRANSLATORS_H_
#define TANDEM_PASSES_ONNX_TRANSLATORS_H_

#include <functional>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "mlir/IR/Operation.h"
#include "passes/onnx/lowering.h"

namespace tandem::onnx {

// Appends the nodes that compute the op, and records the tensor of each of its results (Lowering::Set and the like).
using Translator = std::function<absl::Status(mlir::Operation* op, Lowering& lowering)>;

// Translators by the name of the op, such as "td.conv2d".
using TranslatorTable = std::map<std::string, Translator>;

void AddElementwise(TranslatorTable& table);
void AddShapes(TranslatorTable& table);
void AddReductions(TranslatorTable& table);
void AddProducts(TranslatorTable& table);
void AddWindows(TranslatorTable& table);
void AddNorms(TranslatorTable& table);
void AddLookups(TranslatorTable& table);

// An op that is not in the table has a reason (WhyNotTranslated), or is replaced by ops that are (td::DecomposeOp).
const TranslatorTable& Translators();

// Makes a translator to the elementwise ONNX op `op_type`, with the same operands. Its output becomes result 0.
Translator ToElementwise(const std::string& op_type);

}  // namespace tandem::onnx

#endif  // TANDEM_PASSES_ONNX_TRANSLATORS_H_

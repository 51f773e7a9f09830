// The translators of td ops to ONNX, by op. Each family of ops is a file, which fills in its part of the table.
#ifndef TANDEM_PASSES_ONNX_TRANSLATORS_H_
#define TANDEM_PASSES_ONNX_TRANSLATORS_H_

#include <functional>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "mlir/IR/Operation.h"
#include "passes/onnx/lowering.h"

namespace tandem::onnx {

// Appends the nodes that compute the op, and says of each of its results what it is (Lowering::Set and the like).
using Translator = std::function<absl::Status(mlir::Operation* op, Lowering& lowering)>;

// By the op's name: "td.conv2d".
using TranslatorTable = std::map<std::string, Translator>;

void AddElementwise(TranslatorTable& table);
void AddShapes(TranslatorTable& table);
void AddReductions(TranslatorTable& table);
void AddProducts(TranslatorTable& table);
void AddWindows(TranslatorTable& table);
void AddNorms(TranslatorTable& table);
void AddLookups(TranslatorTable& table);

const TranslatorTable& Translators();

// Returns why an op has no translator, and what to do about it; null if there is no such reason on record. An op with
// neither may still fall apart into ops that have a translator (td::DecomposeOp).
const char* WhyNoForm(const std::string& op);

// Makes a translator for an op whose result 0 is that of an elementwise ONNX op of the same operands.
Translator ToElementwise(const std::string& op_type);

}  // namespace tandem::onnx

#endif  // TANDEM_PASSES_ONNX_TRANSLATORS_H_

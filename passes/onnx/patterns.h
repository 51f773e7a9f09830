// Recognizes groups of td ops that are one ONNX op. Each function gets the last op of such a pattern; if the pattern is
// there, the function translates all of it and returns true. The ops before the last were translated one by one
// already; nodes that nothing reads are left out of the model.
#ifndef TANDEM_PASSES_ONNX_PATTERNS_H_
#define TANDEM_PASSES_ONNX_PATTERNS_H_

#include "mlir/IR/Operation.h"
#include "passes/onnx/lowering.h"

namespace tandem::onnx {

// Translates (x - mean) * (rsqrt(variance + epsilon) * gamma) + beta, with or without gamma and beta, to
// BatchNormalization, or makes it part of the convolution that computes x (TranslateOptions::fold_batch_norm).
bool TranslateBatchNorm(mlir::Operation* op, Lowering& lowering);

// Translates td.layer_norm * gamma + beta, with gamma, beta or both, to LayerNormalization.
bool TranslateLayerNorm(mlir::Operation* op, Lowering& lowering);

// Translates the addition of a bias, together with the convolution or matrix product whose result it is added to.
bool TranslateBias(mlir::Operation* op, Lowering& lowering);

// Returns the vector that is added to the result of a convolution or of a product of two matrices, and that
// TranslateBias makes a part of it; null if there is none.
mlir::Value BiasBehind(mlir::Operation* product);

// Returns the vector that `value` broadcasts along all axes but the last; null if `value` is something else.
mlir::Value RepeatedVector(mlir::Value value);

}  // namespace tandem::onnx

#endif  // TANDEM_PASSES_ONNX_PATTERNS_H_

// Several td ops that are one op of ONNX. Each function is given the op that such a pattern would end with, and returns
// whether it was one and is translated. The ops inside have been translated one by one before; what nothing reads is
// left out of the model.
#ifndef TANDEM_PASSES_ONNX_PATTERNS_H_
#define TANDEM_PASSES_ONNX_PATTERNS_H_

#include "mlir/IR/Operation.h"
#include "passes/onnx/lowering.h"

namespace tandem::onnx {

// (x - mean) * (rsqrt(variance + epsilon) * gamma) + beta, gamma and beta optional: BatchNormalization, or part of the
// convolution that computes x (TranslateOptions::fold_batch_norm).
bool TranslateBatchNorm(mlir::Operation* op, Lowering& lowering);

// td.layer_norm * gamma + beta, one of them optional: LayerNormalization.
bool TranslateLayerNorm(mlir::Operation* op, Lowering& lowering);

// The bias of a convolution or of a product of matrices.
bool TranslateBias(mlir::Operation* op, Lowering& lowering);

// Returns the vector that is added to the result of a convolution or of a product of two matrices, and that
// TranslateBias makes a part of it; null if there is none.
mlir::Value BiasBehind(mlir::Operation* product);

// Returns the vector that `value` repeats along all axes but the last; null if it is something else.
mlir::Value RepeatedVector(mlir::Value value);

}  // namespace tandem::onnx

#endif  // TANDEM_PASSES_ONNX_PATTERNS_H_

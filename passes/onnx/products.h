// Translates convolutions and products of matrices, with or without a bias.
#ifndef TANDEM_PASSES_ONNX_PRODUCTS_H_
#define TANDEM_PASSES_ONNX_PRODUCTS_H_

#include <optional>

#include "mlir/IR/Operation.h"
#include "passes/onnx/lowering.h"

namespace tandem::onnx {

// True for td.conv2d and td.depthwise_conv2d.
bool IsConvolution(mlir::Operation* op);

// Translates the convolution `op` plus `bias` [c] and records the tensor as `result`. `kernel`, if there is one,
// replaces the op's own kernel; it has td's layout.
void SetConvolution(mlir::Operation* op, const std::optional<Lowering::NamedConstant>& kernel,
                    std::optional<TensorId> bias, mlir::Value result, Lowering& lowering);

// Translates the td.matmul `op` of two matrices plus `bias` [n] and records the tensor as `result`.
void SetGemm(mlir::Operation* op, TensorId bias, mlir::Value result, Lowering& lowering);

}  // namespace tandem::onnx

#endif  // TANDEM_PASSES_ONNX_PRODUCTS_H_

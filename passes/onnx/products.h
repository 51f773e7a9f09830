// Convolutions and products of matrices, with or without a bias.
#ifndef TANDEM_PASSES_ONNX_PRODUCTS_H_
#define TANDEM_PASSES_ONNX_PRODUCTS_H_

#include <optional>

#include "mlir/IR/Operation.h"
#include "passes/onnx/lowering.h"

namespace tandem::onnx {

// True for td.conv2d and td.depthwise_conv2d.
bool IsConvolution(mlir::Operation* op);

// Says that `result` is the convolution `op`, with another kernel (as td has it) if there is one, plus `bias` [c].
void SetConvolution(mlir::Operation* op, const std::optional<Lowering::NamedConstant>& kernel,
                    std::optional<TensorId> bias, mlir::Value result, Lowering& lowering);

// Says that `result` is the td.matmul `op` of two matrices plus `bias` [n].
void SetGemm(mlir::Operation* op, TensorId bias, mlir::Value result, Lowering& lowering);

}  // namespace tandem::onnx

#endif  // TANDEM_PASSES_ONNX_PRODUCTS_H_

// Translates products of matrices.
#include "passes/onnx/products.h"

#include <string>
#include <utility>
#include <vector>

#include "graph/ir/contract.h"
#include "passes/onnx/constants.h"
#include "passes/onnx/patterns.h"
#include "passes/onnx/translators.h"
#include "passes/translation/refusals.h"

namespace tandem::onnx {
namespace {

// Returns 0, 1, ..., rank - 1 with the last two exchanged.
std::vector<int64_t> LastTwoExchanged(int64_t rank) {
  std::vector<int64_t> permutation = OrderOf(Layout::kChannelsLast, rank);
  std::swap(permutation[rank - 2], permutation[rank - 1]);
  return permutation;
}

// Returns the tensor of a matrix or of its transpose. A constant is transposed now, not by a node of the model.
TensorId Matrix(mlir::Value value, bool transpose, Lowering& lowering) {
  if (!transpose) return lowering.Tensor(value);
  const std::vector<int64_t> permutation = LastTwoExchanged(static_cast<int64_t>(ShapeOf(value).size()));
  if (lowering.ConstantOf(value) != nullptr) return lowering.PermutedConstant(value, permutation);
  return lowering.Transposed(lowering.Tensor(value), permutation);
}

// The operands of a product, in ONNX's order.
struct Factors {
  TensorId a, b;
};

// If `matmul` multiplies flattened images with a constant matrix, flattens the images in channels first, as they are,
// and permutes the rows of the matrix instead, which td has in the order height, width, channels.
std::optional<Factors> FactorsOfFlattened(td::MatMulOp matmul, Lowering& lowering) {
  const mlir::Value image = lowering.FlattenedImage(matmul.getA());
  const Lowering::NamedConstant* kernel = lowering.ConstantOf(matmul.getB());
  if (!image || kernel == nullptr || matmul.getTransposeA() || matmul.getTransposeB()) return std::nullopt;
  Shape rows(ShapeOf(image));
  rows.erase(rows.begin());
  const int64_t columns = kernel->value.shape()[1], dimensions = static_cast<int64_t>(rows.size());
  Shape parts = rows;
  parts.push_back(columns);
  std::vector<int64_t> permutation = {dimensions - 1};  // moves the channels to the front
  for (int64_t i = 0; i < dimensions - 1; ++i) permutation.push_back(i);
  permutation.push_back(dimensions);
  const HostTensor moved = Permuted(kernel->value.Reshaped(parts), permutation).Reshaped(kernel->value.shape());
  return Factors{lowering.Reshaped(lowering.Tensor(image, Layout::kChannelsFirst), ShapeOf(matmul.getA())),
                 lowering.Constant(kernel->name, moved)};
}

Factors FactorsOf(td::MatMulOp matmul, Lowering& lowering) {
  if (const std::optional<Factors> flattened = FactorsOfFlattened(matmul, lowering)) return *flattened;
  return {Matrix(matmul.getA(), matmul.getTransposeA(), lowering),
          Matrix(matmul.getB(), matmul.getTransposeB(), lowering)};
}

absl::Status MatMul(mlir::Operation* op, Lowering& lowering) {
  auto matmul = mlir::cast<td::MatMulOp>(op);
  if (matmul.getTransposeA() && ShapeOf(matmul.getA()).size() > 2) {
    return translation::HasNoForm(op, kFormat,
                                  "it sums over more than one dimension; Reshape the operands to matrices first");
  }
  if (BiasBehind(op)) return absl::OkStatus();
  const auto [a, b] = FactorsOf(matmul, lowering);
  lowering.Set(op->getResult(0), lowering.Node("MatMul", {a, b}));
  return absl::OkStatus();
}

// Returns the permutation that makes [..., m, k] of an operand that is stored with heads and rows swapped, transposed,
// or both.
std::vector<int64_t> StoredOrder(int64_t rank, bool swap, bool transpose) {
  std::vector<int64_t> permutation = OrderOf(Layout::kChannelsLast, rank);
  if (swap) std::swap(permutation[rank - 3], permutation[rank - 2]);
  if (transpose) std::swap(permutation[rank - 2], permutation[rank - 1]);
  return permutation;
}

absl::Status BatchMatMul(mlir::Operation* op, Lowering& lowering) {
  auto matmul = mlir::cast<td::BatchMatMulOp>(op);
  const int64_t rank = static_cast<int64_t>(ShapeOf(op->getResult(0)).size());
  const auto stored = [&](TensorId tensor, bool swap, bool transpose) {
    return swap || transpose ? lowering.Transposed(tensor, StoredOrder(rank, swap, transpose)) : tensor;
  };
  const TensorId a = stored(lowering.Tensor(matmul.getA()), matmul.getSwapA(), matmul.getTransposeA());
  const TensorId b = stored(lowering.Tensor(matmul.getB()), matmul.getSwapB(), matmul.getTransposeB());
  lowering.Set(op->getResult(0), stored(lowering.Node("MatMul", {a, b}), matmul.getSwapOutput(), false));
  return absl::OkStatus();
}

}  // namespace

void SetGemm(mlir::Operation* op, TensorId bias, mlir::Value result, Lowering& lowering) {
  const auto [a, b] = FactorsOf(mlir::cast<td::MatMulOp>(op), lowering);
  lowering.Set(result, lowering.Node("Gemm", {a, b, bias}));
}

void AddProducts(TranslatorTable& table) {
  table["td.matmul"] = MatMul;
  table["td.batch_matmul"] = BatchMatMul;
}

}  // namespace tandem::onnx

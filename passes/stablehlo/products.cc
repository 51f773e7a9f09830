// Translates products of matrices: transposed operands and swapped heads are numbers of dimensions of dot_general.
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/ir/contract.h"
#include "passes/stablehlo/translators.h"

namespace tandem::stablehlo {
namespace {

using Dims = llvm::SmallVector<int64_t>;

// What an operand's dimensions are to a product; the others are rows or columns of the result.
struct Factor {
  mlir::Value value;
  Dims batching, contracting;
};

mlir::Value Product(const Factor& a, const Factor& b, mlir::Type type, Emitter& emit) {
  const auto listed = [](const Dims& dims) { return absl::StrCat("[", absl::StrJoin(dims, ", "), "]"); };
  const std::string numbers = absl::StrCat("dot<lhs_batching_dimensions = ", listed(a.batching),
                                           ", rhs_batching_dimensions = ", listed(b.batching),
                                           ", lhs_contracting_dimensions = ", listed(a.contracting),
                                           ", rhs_contracting_dimensions = ", listed(b.contracting), ">");
  return emit.Op("dot_general", {a.value, b.value}, type,
                 {emit.Named("dot_dimension_numbers", numbers), emit.FullPrecision()});
}

absl::StatusOr<mlir::Value> MatMul(mlir::Operation* op, Lowering& lowering) {
  auto matmul = mlir::cast<td::MatMulOp>(op);
  const mlir::Value a = lowering.Get(matmul.getA()), b = lowering.Get(matmul.getB());
  const int64_t last_a = TypeOf(a).getRank() - 1, last_b = TypeOf(b).getRank() - 1;
  return Product({a, {}, matmul.getTransposeA() ? Counted(0, last_a) : Dims{last_a}},
                 {b, {}, matmul.getTransposeB() ? Dims{last_b} : Counted(0, last_b)}, lowering.TypeFor(matmul),
                 lowering.emitter());
}

// Returns where the dimensions of matrices [..., h, rows, columns] are stored: with h and rows swapped, then rows and
// columns transposed, or both.
Dims StoredAt(int64_t rank, bool swap, bool transpose) {
  Dims at = Counted(0, rank);
  if (swap) std::swap(at[rank - 3], at[rank - 2]);
  if (transpose) std::swap(at[rank - 2], at[rank - 1]);
  return at;
}

absl::StatusOr<mlir::Value> BatchMatMul(mlir::Operation* op, Lowering& lowering) {
  auto matmul = mlir::cast<td::BatchMatMulOp>(op);
  const mlir::RankedTensorType type = lowering.TypeFor(matmul);
  const int64_t rank = type.getRank();
  const Dims at_a = StoredAt(rank, matmul.getSwapA(), matmul.getTransposeA());
  const Dims at_b = StoredAt(rank, matmul.getSwapB(), matmul.getTransposeB());
  const Dims at_result = StoredAt(rank, matmul.getSwapOutput(), false);
  const auto batching = [rank](const Dims& at) { return Dims(at.begin(), at.begin() + rank - 2); };
  Dims shape;  // as the product has it; swapping is its own inverse
  for (const int64_t dimension : at_result) shape.push_back(type.getDimSize(dimension));
  const mlir::Value product = Product({lowering.Get(matmul.getA()), batching(at_a), {at_a[rank - 1]}},
                                      {lowering.Get(matmul.getB()), batching(at_b), {at_b[rank - 2]}},
                                      mlir::RankedTensorType::get(shape, type.getElementType()), lowering.emitter());
  return matmul.getSwapOutput() ? lowering.emitter().Transpose(product, at_result) : product;
}

}  // namespace

void AddProducts(TranslatorTable& table) {
  table["td.matmul"] = MatMul;
  table["td.batch_matmul"] = BatchMatMul;
}

}  // namespace tandem::stablehlo

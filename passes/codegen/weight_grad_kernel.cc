#include "passes/codegen/weight_grad_kernel.h"

#include "graph/ir/contract.h"
#include "graph/ir/reference_util.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "passes/codegen/kernel_entry.h"
#include "passes/codegen/lane_tree.h"
#include "passes/codegen/register_tile.h"
#include "passes/codegen/vector_builder.h"

namespace tandem {
namespace {

namespace LLVM = mlir::LLVM;
using mlir::Value;
using Values = VectorBuilder::Values;

class WeightGradEmitter {
 public:
  WeightGradEmitter(mlir::func::FuncOp kernel, const std::string& symbol, mlir::ModuleOp module, int lanes)
      : op_(mlir::cast<td::WeightGradOp>(kernel.getBody().front().front())),
        b_(kernel.getContext()),
        v_(b_, kernel.getLoc(), lanes) {
    Begin(kernel, symbol, module);
    rows_of_result_ = td::TypeOf(op_.getX()).getShape().back();
    columns_ = td::TypeOf(op_.getDy()).getShape().back();
    inner_ = td::RowElements(op_.getX().getType()) / rows_of_result_;
  }

  void Emit() {
    const int64_t width = kRegisterTileVectors * v_.lanes(), whole = columns_ / width * width;
    v_.For(0, whole, width, [&](Value column) { Panel(column, width); });
    if (whole < columns_) Panel(v_.Int(whole), columns_ - whole);
    b_.create<LLVM::ReturnOp>(v_.loc(), mlir::ValueRange{});
  }

 private:
  void Begin(mlir::func::FuncOp kernel, const std::string& symbol, mlir::ModuleOp module) {
    const KernelEntry entry = BeginKernelEntry(b_, kernel.getLoc(), symbol, module, 3);
    x_ = entry.buffers[0], dy_ = entry.buffers[1], output_ = entry.buffers[2];
    begin_ = v_.Index(entry.begin), end_ = v_.Index(entry.end), batch_ = v_.Index(entry.rows);
  }

  // All rows of the part, at `width` columns.
  void Panel(Value column, int64_t width) {
    const int64_t tile = RegisterTileRows(v_.lanes());
    Value rest = v_.Rem(v_.Sub(end_, begin_), tile), middle = v_.Sub(end_, rest);
    v_.For(begin_, middle, tile, [&](Value row) { Tile(row, tile, column, width); });
    v_.For(middle, end_, 1, [&](Value row) { Tile(row, 1, column, width); });
  }

  void Tile(Value row, int64_t rows, Value column, int64_t width) {
    Value x = v_.At(x_, row), dy = v_.At(dy_, column);
    Values sums = EmitLaneTree(v_, batch_, op_.getLanes(), op_.getLaneRows(),
                               [&](int64_t lane) { return Lane(lane, rows, x, dy, width); });
    StoreTile(v_, sums, rows, v_.At(v_.At(output_, v_.Mul(row, columns_)), column), columns_, width);
  }

  // The products of one lane's rows.
  Values Lane(int64_t lane, int64_t rows, Value x, Value dy, int64_t width) {
    const int64_t lane_rows = op_.getLaneRows();
    Value end = v_.Mul(v_.Min(batch_, v_.Int((lane + 1) * lane_rows)), inner_);
    const Values zeros(rows * TileVectors(v_, width), v_.Splat(0));
    return v_.For(v_.Int(lane * lane_rows * inner_), end, 1, zeros, [&](Value k, const Values& sums) {
      Values right = LoadTileRow(v_, v_.At(dy, v_.Mul(k, columns_)), width);
      return AddOuterProduct(v_, sums, rows, v_.At(x, v_.Mul(k, rows_of_result_)), right);
    });
  }

  td::WeightGradOp op_;
  mlir::OpBuilder b_;
  VectorBuilder v_;
  int64_t rows_of_result_, columns_, inner_;  // inner_: rows of the operands per example
  Value x_, dy_, output_, begin_, end_, batch_;
};

}  // namespace

bool IsWeightGradKernel(mlir::func::FuncOp kernel) {
  return mlir::isa<td::WeightGradOp>(kernel.getBody().front().front());
}

void EmitWeightGradKernel(mlir::func::FuncOp kernel, const std::string& symbol, mlir::ModuleOp module,
                          int vector_bits) {
  WeightGradEmitter(kernel, symbol, module, vector_bits / 32).Emit();
}

}  // namespace tandem

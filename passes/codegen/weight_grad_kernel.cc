#include "passes/codegen/weight_grad_kernel.h"

#include <algorithm>

#include "graph/ir/contract.h"
#include "graph/ir/reference_util.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "passes/codegen/lane_tree.h"
#include "passes/codegen/vector_builder.h"

namespace tandem {
namespace {

namespace LLVM = mlir::LLVM;
using mlir::Value;
using Values = VectorBuilder::Values;

// A register tile: rows of the result x vectors of a row. Few vectors, because the columns of dy that a tile reads must
// stay in the first-level cache for the tiles below; 8 x 2 hides the latency of the multiply-adds.
constexpr int64_t kTileVectors = 2;
int64_t TileRows(int lanes) { return lanes < 16 ? 4 : 8; }

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
    const int64_t width = kTileVectors * v_.lanes(), whole = columns_ / width * width;
    v_.For(0, whole, width, [&](Value column) { Panel(column, width); });
    if (whole < columns_) Panel(v_.Int(whole), columns_ - whole);
    b_.create<LLVM::ReturnOp>(v_.loc(), mlir::ValueRange{});
  }

 private:
  void Begin(mlir::func::FuncOp kernel, const std::string& symbol, mlir::ModuleOp module) {
    mlir::Location loc = kernel.getLoc();
    mlir::Type pointer = LLVM::LLVMPointerType::get(b_.getContext()), i64 = b_.getI64Type();
    b_.setInsertionPointToEnd(module.getBody());
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b_.getContext()), {pointer, i64, i64, i64});
    auto f = b_.create<LLVM::LLVMFuncOp>(loc, symbol, type);
    f.setPassthroughAttr(b_.getArrayAttr({b_.getStringAttr("nounwind")}));
    b_.setInsertionPointToStart(f.addEntryBlock(b_));
    Value* buffers[] = {&x_, &dy_, &output_};
    for (int32_t i = 0; i < 3; ++i) {
      Value slot =
          b_.create<LLVM::GEPOp>(loc, pointer, pointer, f.getArgument(0), llvm::ArrayRef<LLVM::GEPArg>{i}, true);
      *buffers[i] = b_.create<LLVM::LoadOp>(loc, pointer, slot);
    }
    Value* numbers[] = {&begin_, &end_, &batch_};
    for (int i = 0; i < 3; ++i) {
      *numbers[i] = b_.create<mlir::arith::IndexCastOp>(loc, b_.getIndexType(), f.getArgument(1 + i));
    }
  }

  // All rows of the part, at `width` columns.
  void Panel(Value column, int64_t width) {
    const int64_t tile = TileRows(v_.lanes());
    Value rest = v_.Rem(v_.Sub(end_, begin_), tile), middle = v_.Sub(end_, rest);
    v_.For(begin_, middle, tile, [&](Value row) { Tile(row, tile, column, width); });
    v_.For(middle, end_, 1, [&](Value row) { Tile(row, 1, column, width); });
  }

  void Tile(Value row, int64_t rows, Value column, int64_t width) {
    Value x = v_.At(x_, row), dy = v_.At(dy_, column);
    Values sums = EmitLaneTree(v_, batch_, op_.getLanes(), op_.getLaneRows(),
                               [&](int64_t lane) { return Lane(lane, rows, x, dy, width); });
    const int64_t vectors = sums.size() / rows;
    for (int64_t r = 0; r < rows; ++r) {
      Value out = v_.At(v_.At(output_, v_.Mul(v_.Add(row, r), columns_)), column);
      for (int64_t n = 0; n < vectors; ++n) {
        const int64_t live = std::min<int64_t>(v_.lanes(), width - n * v_.lanes());
        v_.Store(sums[r * vectors + n], v_.At(out, n * v_.lanes()), live);
      }
    }
  }

  // The products of one lane's rows.
  Values Lane(int64_t lane, int64_t rows, Value x, Value dy, int64_t width) {
    const int64_t vectors = (width + v_.lanes() - 1) / v_.lanes(), lane_rows = op_.getLaneRows();
    Value end = v_.Mul(v_.Min(batch_, v_.Int((lane + 1) * lane_rows)), inner_);
    return v_.For(
        v_.Int(lane * lane_rows * inner_), end, 1, Values(rows * vectors, v_.Splat(0)),
        [&](Value k, const Values& before) {
          Value a = v_.At(x, v_.Mul(k, rows_of_result_)), b = v_.At(dy, v_.Mul(k, columns_));
          Values right, after(before.size());
          for (int64_t n = 0; n < vectors; ++n) {
            right.push_back(v_.Load(v_.At(b, n * v_.lanes()), std::min<int64_t>(v_.lanes(), width - n * v_.lanes())));
          }
          for (int64_t r = 0; r < rows; ++r) {
            Value factor = v_.LoadSplat(v_.At(a, r));
            for (int64_t n = 0; n < vectors; ++n) {
              const int64_t at = r * vectors + n;
              after[at] = v_.AddF(before[at], v_.MulF(factor, right[n]));
            }
          }
          return after;
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

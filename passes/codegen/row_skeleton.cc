// Emits kernels with reductions, which work on one row at a time, stage by stage, through memory of the size of a row.
#include "graph/ir/register_type.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/codegen/kernel_builder.h"
#include "passes/codegen/reduction.h"

namespace tandem {
namespace {

namespace LLVM = mlir::LLVM;

// Most bytes of scratch memory that a row may take on the stack.
constexpr int64_t kMaxScratchBytes = 1 << 18;

}  // namespace

void KernelBuilder::EmitRow(ElementEmitter& e, LLVM::LLVMFuncOp f, const Space& row) {
  int64_t scratch_bytes = 0;
  std::vector<unsigned> late = plain_results_;
  for (mlir::Value v : StagedValues(kernel_, row.rows != Space::Rows::kNone)) {
    auto type = mlir::cast<mlir::RankedTensorType>(v.getType());
    mlir::Location loc = v.getLoc();
    bool one_row = td::IsBatched(type);
    ElementEmitter::Buffer buffer;
    auto result = llvm::find(results_, v);
    if (result != results_.end()) {
      unsigned r = result - results_.begin();
      buffer = ResultBuffer(f, r);
      late.erase(std::remove(late.begin(), late.end(), r), late.end());
    } else {
      mlir::Type element = StorageType(type.getElementType());
      int64_t bytes = InnerSize(type) * ((element.getIntOrFloatBitWidth() + 7) / 8);
      if (scratch_bytes + bytes > kMaxScratchBytes) {
        // A stage without room is computed again for each use, unless it is a reduction.
        if (!IsReduceOp(v.getDefiningOp())) continue;
        status_.Update(absl::UnimplementedError("a kernel's reduction needs more than 256 KiB per row"));
        return;
      }
      scratch_bytes += bytes;
      mlir::OpBuilder::InsertionGuard guard(b_);
      b_.setInsertionPointToStart(&f.getBody().front());
      buffer = {Stack(element, InnerSize(type)), one_row};
    }
    Space space = row;
    if (!one_row) space.rows = Space::Rows::kNone;
    space.radices = Radices(type);
    EmitNest(e, loc, space, [&](const Point& point) {
      auto at = IndicesAt(e, loc, point, type);
      e.Store(loc, type, buffer, at, e.Element(loc, v, at));
    });
    e.Bind(v, buffer);
  }
  for (const auto& group : GroupBySize(results_, late)) EmitStores(e, f, row, group);
  for (unsigned r : batch_reduces_) Accumulate(e, f, row, r);
}

void KernelBuilder::EmitNeutral(ElementEmitter& e, LLVM::LLVMFuncOp f) {
  for (unsigned r : batch_reduces_) {
    auto type = mlir::cast<mlir::RankedTensorType>(results_[r].getType());
    Reduction reduction;
    GetBatchReduction(results_[r].getDefiningOp(), reduction);
    Space space;
    space.radices = Radices(type);
    EmitNest(e, loc_, space, [&](const Point& point) {
      e.Store(loc_, type, ResultBuffer(f, r), IndicesAt(e, loc_, point, type),
              NeutralElement(b_, loc_, reduction.kind, td::RegisterType(type.getElementType())));
    });
  }
}

void KernelBuilder::Accumulate(ElementEmitter& e, LLVM::LLVMFuncOp f, const Space& row, unsigned result) {
  mlir::Operation* op = results_[result].getDefiningOp();
  Reduction reduction;
  GetBatchReduction(op, reduction);
  mlir::Type type = results_[result].getType();
  mlir::Value operand = op->getOperand(0);
  int64_t rank = mlir::cast<mlir::RankedTensorType>(operand.getType()).getRank();
  auto add = [&](mlir::ValueRange at, mlir::Value element) {
    mlir::Value sum = e.Load(op->getLoc(), type, ResultBuffer(f, result), at);
    e.Store(op->getLoc(), type, ResultBuffer(f, result), at,
            Combine(b_, op->getLoc(), reduction.kind, sum, element, /*reassociate=*/false));
  };
  Space space = row;
  if (reduction.axes.empty() || llvm::is_contained(reduction.axes, rank - 1)) {
    // Sums up the row's trailing dimensions first, then adds that to the sum of the rows before.
    space.rows = Space::Rows::kNone;
    space.radices = InnerShape(type);
    llvm::erase(space.radices, 1);
    EmitNest(e, op->getLoc(), space, [&](const Point& point) {
      auto at = IndicesAt(e, op->getLoc(), point, type);
      add(at, e.ReduceRow(op, row.row, at));
    });
    return;
  }
  space.radices = Radices(operand.getType());
  EmitNest(e, op->getLoc(), space, [&](const Point& point) {
    auto at = IndicesAt(e, op->getLoc(), point, operand.getType());
    llvm::SmallVector<mlir::Value> kept;
    for (int64_t d = 0; d < rank; ++d) {
      if (!llvm::is_contained(reduction.axes, d)) kept.push_back(at[d]);
    }
    add(kept, e.Element(op->getLoc(), operand, at));
  });
}

LLVM::LLVMFuncOp KernelBuilder::EmitRowKernel(bool batched) {
  if (!batched) {
    LLVM::LLVMFuncOp f = Begin(symbol_ + ".body", 3);
    ElementEmitter e(b_, NumberArgument(f, 2));
    BindOperands(e, f);
    EmitRow(e, f, Space{});
    status_.Update(e.status);
    End();
    return f;
  }
  LLVM::LLVMFuncOp row = Begin(symbol_ + ".row", 2);
  {
    Space space;
    space.rows = Space::Rows::kFixed;
    space.row = NumberArgument(row, 0);
    ElementEmitter e(b_, NumberArgument(row, 1));
    BindOperands(e, row);
    EmitRow(e, row, space);
    status_.Update(e.status);
    End();
  }
  LLVM::LLVMFuncOp f = Begin(symbol_ + ".body", 3);
  ElementEmitter e(b_, NumberArgument(f, 2));
  EmitNeutral(e, f);
  llvm::SmallVector<mlir::Value> arguments(f.getArguments().drop_back(3));
  For(NumberArgument(f, 0), NumberArgument(f, 1), 1, [&](mlir::Value i) {
    auto call = arguments;
    call.push_back(b_.create<mlir::arith::IndexCastOp>(loc_, b_.getI64Type(), i));
    call.push_back(f.getArguments().back());
    b_.create<LLVM::CallOp>(loc_, row, call);
  });
  End();
  return f;
}

}  // namespace tandem

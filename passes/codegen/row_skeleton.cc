// Emits kernels with reductions, which work on one row at a time: each value that later ops read is first computed as a
// whole into memory of the size of a row.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/codegen/kernel_builder.h"
#include "passes/codegen/reduction.h"

namespace tandem {
namespace {

namespace LLVM = mlir::LLVM;

// Most bytes of scratch memory that a row may take on the stack.
constexpr int64_t kMaxScratchBytes = 1 << 18;

}  // namespace

void KernelBuilder::EmitRow(ElementEmitter& e, const Space& row) {
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
      buffer = ResultBuffer(r);
      late.erase(std::remove(late.begin(), late.end(), r), late.end());
    } else {
      mlir::Type element = StorageType(type.getElementType());
      int64_t bytes = InnerSize(type) * StorageBytes(type.getElementType());
      if (scratch_bytes + bytes > kMaxScratchBytes) {
        // A value for which there is no room is computed again for each use, unless it is a reduction.
        if (!IsReduceOp(v.getDefiningOp())) continue;
        status_.Update(absl::UnimplementedError("a kernel's reduction needs more than 256 KiB per row"));
        return;
      }
      scratch_bytes += bytes;
      mlir::OpBuilder::InsertionGuard guard(b_);
      b_.setInsertionPointToStart(&f_.getBody().front());
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
  for (const auto& group : GroupBySize(results_, late)) EmitStores(e, row, group);
  for (unsigned r : batch_reduces_) Accumulate(e, row, r);
}

void KernelBuilder::Accumulate(ElementEmitter& e, const Space& row, unsigned result) {
  mlir::Operation* op = results_[result].getDefiningOp();
  const Reduction reduction = *BatchReductionOf(op);
  mlir::Type type = results_[result].getType();
  mlir::Value operand = op->getOperand(0);
  int64_t rank = mlir::cast<mlir::RankedTensorType>(operand.getType()).getRank();
  auto add = [&](mlir::ValueRange at, mlir::Value element) {
    mlir::Value sum = e.Load(op->getLoc(), type, ResultBuffer(result), at);
    e.Store(op->getLoc(), type, ResultBuffer(result), at,
            Combine(b_, op->getLoc(), reduction.kind, sum, element, /*reassociate=*/false));
  };
  Space space = row;
  if (reduction.axes.empty() || llvm::is_contained(reduction.axes, rank - 1)) {
    // First sums up the row's trailing dimensions, then adds this sum to the sum of the rows before.
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

void KernelBuilder::EmitRowKernel() {
  if (!has_rows()) {
    Begin(symbol_ + ".body", 3);
    ElementEmitter e(b_, Number(2));
    BindOperands(e);
    EmitRow(e, Space{});
    status_.Update(e.status);
    return EndFunction();
  }
  Begin(symbol_ + ".row", 2);
  {
    const Space row = {.rows = Space::Rows::kFixed, .row = Number(0)};
    ElementEmitter e(b_, Number(1));
    BindOperands(e);
    EmitRow(e, row);
    status_.Update(e.status);
    EndFunction();
  }
  LLVM::LLVMFuncOp row = f_;
  Begin(symbol_ + ".body", 3);
  ElementEmitter e(b_, Number(2));
  EmitNeutral(e);
  llvm::SmallVector<mlir::Value> arguments(f_.getArguments().drop_back(3));
  For(Number(0), Number(1), 1, [&](mlir::Value i) {
    auto call = arguments;
    call.push_back(b_.create<mlir::arith::IndexCastOp>(loc_, b_.getI64Type(), i));
    call.push_back(Argument(2));
    b_.create<LLVM::CallOp>(loc_, row, call);
  });
  EndFunction();
}

}  // namespace tandem

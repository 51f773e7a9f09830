#include "passes/codegen/index_builder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tandem {

namespace arith = mlir::arith;
namespace LLVM = mlir::LLVM;
namespace scf = mlir::scf;
using mlir::Value;

Value IndexBuilder::Int(int64_t n) { return b_.create<arith::ConstantIndexOp>(loc_, n); }
Value IndexBuilder::Index(Value i64) { return b_.create<arith::IndexCastOp>(loc_, b_.getIndexType(), i64); }
Value IndexBuilder::Add(Value a, Value b) { return b_.create<arith::AddIOp>(loc_, a, b); }
Value IndexBuilder::Sub(Value a, Value b) { return b_.create<arith::SubIOp>(loc_, a, b); }
Value IndexBuilder::Mul(Value a, Value b) { return b_.create<arith::MulIOp>(loc_, a, b); }
Value IndexBuilder::Div(Value a, int64_t n) { return b_.create<arith::DivUIOp>(loc_, a, Int(n)); }
Value IndexBuilder::Rem(Value a, int64_t n) { return b_.create<arith::RemUIOp>(loc_, a, Int(n)); }
Value IndexBuilder::Min(Value a, Value b) { return b_.create<arith::MinSIOp>(loc_, a, b); }
Value IndexBuilder::Max(Value a, Value b) { return b_.create<arith::MaxSIOp>(loc_, a, b); }

Value IndexBuilder::Equal(Value a, int64_t n) {
  return b_.create<arith::CmpIOp>(loc_, arith::CmpIPredicate::eq, a, Int(n));
}
Value IndexBuilder::Less(Value a, Value b) { return b_.create<arith::CmpIOp>(loc_, arith::CmpIPredicate::slt, a, b); }
Value IndexBuilder::AtMost(Value a, Value b) { return b_.create<arith::CmpIOp>(loc_, arith::CmpIPredicate::sle, a, b); }
Value IndexBuilder::AtLeast(Value a, int64_t n) {
  return b_.create<arith::CmpIOp>(loc_, arith::CmpIPredicate::sge, a, Int(n));
}
Value IndexBuilder::Within(Value a, int64_t n) {
  return b_.create<arith::CmpIOp>(loc_, arith::CmpIPredicate::ult, a, Int(n));
}
Value IndexBuilder::And(Value a, Value b) { return b_.create<arith::AndIOp>(loc_, a, b); }
Value IndexBuilder::Select(Value condition, Value a, Value b) {
  return b_.create<arith::SelectOp>(loc_, condition, a, b);
}

Value IndexBuilder::Address(Value pointer, mlir::Type element, Value n, bool inbounds) {
  Value offset = b_.create<arith::IndexCastOp>(loc_, b_.getI64Type(), n);
  return b_.create<LLVM::GEPOp>(loc_, pointer.getType(), element, pointer, llvm::ArrayRef<LLVM::GEPArg>{offset},
                                inbounds);
}

Value IndexBuilder::Stack(mlir::Type element, int64_t count) {
  Value size = b_.create<LLVM::ConstantOp>(loc_, b_.getI64Type(), b_.getI64IntegerAttr(count));
  return b_.create<LLVM::AllocaOp>(loc_, LLVM::LLVMPointerType::get(b_.getContext()), element, size, /*alignment=*/64);
}

void IndexBuilder::For(Value from, Value to, int64_t step, const std::function<void(Value)>& body) {
  For(from, to, step, Values{}, [&](Value i, const Values&) {
    body(i);
    return Values{};
  });
}

void IndexBuilder::For(int64_t from, int64_t to, int64_t step, const std::function<void(Value)>& body) {
  if (from + step == to) return body(Int(from));
  if (from < to) For(Int(from), Int(to), step, body);
}

IndexBuilder::Values IndexBuilder::For(Value from, Value to, int64_t step, const Values& first,
                                       const std::function<Values(Value, const Values&)>& body) {
  auto loop = b_.create<scf::ForOp>(loc_, from, to, Int(step), mlir::ValueRange(first));
  mlir::OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(loop.getBody());
  Values carried(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
  Values next = body(loop.getInductionVar(), carried);
  if (!first.empty()) b_.create<scf::YieldOp>(loc_, next);  // a loop without carried values has its yield already
  return Values(loop.getResults().begin(), loop.getResults().end());
}

void IndexBuilder::If(Value condition, const std::function<void()>& then, const std::function<void()>& otherwise) {
  auto op = b_.create<scf::IfOp>(loc_, condition, static_cast<bool>(otherwise));
  mlir::OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(op.thenBlock());
  then();
  if (!otherwise) return;
  b_.setInsertionPointToStart(op.elseBlock());
  otherwise();
}

IndexBuilder::Values IndexBuilder::If(Value condition, mlir::TypeRange types, const std::function<Values()>& then,
                                      const std::function<Values()>& otherwise) {
  auto op = b_.create<scf::IfOp>(loc_, types, condition, /*withElseRegion=*/true);
  mlir::OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(op.thenBlock());
  b_.create<scf::YieldOp>(loc_, then());
  b_.setInsertionPointToStart(op.elseBlock());
  b_.create<scf::YieldOp>(loc_, otherwise());
  return Values(op.getResults().begin(), op.getResults().end());
}

}  // namespace tandem

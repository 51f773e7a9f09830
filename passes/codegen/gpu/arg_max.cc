// Emits argmax along a row by several threads. Each thread finds the first of its largest elements, and its place.
// Threads then compare keys, integers that order elements and places at once, so that the result does not depend on the
// order in which threads are compared.
#include "graph/ir/register_type.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/codegen/gpu/row.h"

namespace tandem {

namespace arith = mlir::arith;

bool RowKernel::HasArgMaxKeys(mlir::Operation* op, const Reduction& reduction) {
  auto type = mlir::cast<mlir::RankedTensorType>(op->getOperand(0).getType());
  mlir::Type element = td::RegisterType(type.getElementType());
  return (element.isF32() || element.isInteger(32)) && type.getShape()[reduction.axes[0]] <= INT32_MAX;
}

mlir::Value GpuKernelBuilder::ArgMaxKey(mlir::Location loc, const LinearSpace& space, mlir::Value lane, int64_t lanes,
                                        const std::function<mlir::Value(const Point&)>& at) {
  mlir::Type i32 = b_.getI32Type(), i64 = b_.getI64Type();
  auto constant = [&](mlir::Type type, int64_t v) -> mlir::Value {
    return b_.create<arith::ConstantOp>(loc, b_.getIntegerAttr(type, v));
  };
  // As in a loop of one thread, the row's first element is the answer until a later one is larger: a NaN at the first
  // place is the answer, and any other NaN never is. Every thread begins with that element.
  mlir::Value first = at(space.At(Int(0), 1)[0]);
  const bool is_float = mlir::isa<mlir::FloatType>(first.getType());
  const int width = space.width();
  auto step = [&](mlir::Value run, const std::vector<mlir::Value>& before) {
    std::vector<mlir::Value> elements, best = before;
    mlir::Value base = Mul(run, width);
    for (const Point& point : space.At(base, width)) elements.push_back(at(point));
    for (int i = 0; i < width; ++i) {
      mlir::Value x = elements[i];
      mlir::Value larger = is_float ? b_.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OGT, x, best[0]).getResult()
                                    : b_.create<arith::CmpIOp>(loc, arith::CmpIPredicate::sgt, x, best[0]).getResult();
      mlir::Value place = b_.create<arith::IndexCastOp>(loc, i32, Add(base, Int(i)));
      best = {Select(larger, x, best[0]), Select(larger, place, best[1])};
    }
    return best;
  };
  const std::vector<mlir::Value> best = For(lane, Int(space.size() / width), lanes, {first, constant(i32, 0)}, step);
  mlir::Value order = best[0];
  if (is_float) {
    // Turns the float into an integer of the same order: the bits of negative floats, apart from the sign, are in
    // reverse order, and both zeros become 0.
    mlir::Value zero = b_.create<arith::ConstantOp>(loc, b_.getF32FloatAttr(0));
    mlir::Value is_zero = b_.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OEQ, best[0], zero);
    mlir::Value bits = b_.create<arith::BitcastOp>(loc, i32, best[0]);
    bits = Select(is_zero, constant(i32, 0), bits);
    mlir::Value sign = b_.create<arith::ShRSIOp>(loc, bits, constant(i32, 31));
    order = b_.create<arith::XOrIOp>(loc, bits, b_.create<arith::AndIOp>(loc, sign, constant(i32, INT32_MAX)));
  }
  mlir::Value high = b_.create<arith::ShLIOp>(loc, b_.create<arith::ExtSIOp>(loc, i64, order), constant(i64, 32));
  mlir::Value low = b_.create<arith::XOrIOp>(loc, best[1], constant(i32, -1));
  mlir::Value key = b_.create<arith::OrIOp>(loc, high, b_.create<arith::ExtUIOp>(loc, i64, low));
  if (!is_float) return key;
  // Only the first element can be a NaN here: the largest key, whose place is 0.
  mlir::Value nan = b_.create<arith::CmpFOp>(loc, arith::CmpFPredicate::UNO, best[0], best[0]);
  return Select(nan, constant(i64, INT64_MAX), key);
}

mlir::Value RowKernel::ArgMaxPlace(mlir::Location loc, mlir::Value key) {
  mlir::Value low = b_.create<arith::TruncIOp>(loc, b_.getI32Type(), key);
  mlir::Value ones = b_.create<arith::ConstantOp>(loc, b_.getI32IntegerAttr(-1));
  return b_.create<arith::ExtUIOp>(loc, b_.getI64Type(), b_.create<arith::XOrIOp>(loc, low, ones));
}

}  // namespace tandem

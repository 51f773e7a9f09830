#include "passes/codegen/vector_builder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace tandem {

namespace arith = mlir::arith;
namespace LLVM = mlir::LLVM;
using mlir::Value;

namespace {

mlir::VectorType VectorOf(mlir::Type element, int width) { return mlir::VectorType::get({width}, element); }

// Returns the mask of a shuffle that interleaves the elements of two vectors.
llvm::SmallVector<int32_t> ByTurns(int width) {
  llvm::SmallVector<int32_t> order;
  for (int i = 0; i < width; ++i) order.append({i, width + i});
  return order;
}

}  // namespace

VectorBuilder::VectorBuilder(mlir::OpBuilder& builder, mlir::Location loc, int width, bool native_bfloat16)
    : IndexBuilder(builder, loc), width_(width), native_bfloat16_(native_bfloat16 && width == 16) {}

mlir::VectorType VectorBuilder::VectorType() const { return mlir::VectorType::get({width_}, b_.getF32Type()); }

Value VectorBuilder::At(Value pointer, Value floats) { return Address(pointer, b_.getF32Type(), floats); }
Value VectorBuilder::At16(Value pointer, Value elements) { return Address(pointer, b_.getI16Type(), elements); }

Value VectorBuilder::Mask(int64_t live) {
  llvm::SmallVector<bool> bits(width_);
  for (int i = 0; i < width_; ++i) bits[i] = i < live;
  auto type = mlir::VectorType::get({width_}, b_.getI1Type());
  return b_.create<arith::ConstantOp>(loc_, mlir::DenseElementsAttr::get(type, llvm::ArrayRef<bool>(bits)));
}

Value VectorBuilder::Mask(Value condition) {
  auto type = mlir::VectorType::get({width_}, b_.getI1Type());
  Value all = b_.create<arith::ConstantOp>(loc_, mlir::DenseElementsAttr::get(type, true));
  Value none = b_.create<arith::ConstantOp>(loc_, mlir::DenseElementsAttr::get(type, false));
  return Select(condition, all, none);
}

Value VectorBuilder::Load(Value pointer, int64_t live, Value mask) {
  if (live <= 0) return Splat(0);
  if (live < width_) mask = mask ? And(mask, Mask(live)) : Mask(live);
  if (!mask) return b_.create<LLVM::LoadOp>(loc_, VectorType(), pointer, /*alignment=*/4);
  return b_.create<LLVM::MaskedLoadOp>(loc_, VectorType(), pointer, mask, mlir::ValueRange{Splat(0)},
                                       b_.getI32IntegerAttr(4));
}

void VectorBuilder::Store(Value vector, Value pointer, int64_t live, Value mask) {
  if (live <= 0) return;
  if (live < width_) mask = mask ? And(mask, Mask(live)) : Mask(live);
  if (mask) {
    b_.create<LLVM::MaskedStoreOp>(loc_, vector, pointer, mask, b_.getI32IntegerAttr(4));
  } else {
    b_.create<LLVM::StoreOp>(loc_, vector, pointer, /*alignment=*/4);
  }
}

void VectorBuilder::Stream(Value vector, Value pointer) {
  b_.create<LLVM::StoreOp>(loc_, vector, pointer, /*alignment=*/4 * width_, /*isVolatile=*/false,
                           /*isNonTemporal=*/true);
}

void VectorBuilder::Prefetch(Value pointer, bool to_write) {
  b_.create<LLVM::Prefetch>(loc_, pointer, /*rw=*/to_write ? 1 : 0, /*hint=*/2, /*cache=*/1);
}

Value VectorBuilder::LoadPointer(Value pointer) {
  return b_.create<LLVM::LoadOp>(loc_, LLVM::LLVMPointerType::get(b_.getContext()), pointer);
}

void VectorBuilder::StorePointer(Value value, Value pointer) { b_.create<LLVM::StoreOp>(loc_, value, pointer); }

void VectorBuilder::Fence() { b_.create<LLVM::FenceOp>(loc_, LLVM::AtomicOrdering::seq_cst); }

Value VectorBuilder::LoadSplat(Value pointer) {
  Value scalar = b_.create<LLVM::LoadOp>(loc_, b_.getF32Type(), pointer);
  Value zero = b_.create<LLVM::ConstantOp>(loc_, b_.getI64Type(), b_.getI64IntegerAttr(0));
  Value undefined = b_.create<LLVM::UndefOp>(loc_, VectorType());
  Value vector = b_.create<LLVM::InsertElementOp>(loc_, undefined, scalar, zero);
  llvm::SmallVector<int32_t> first(width_, 0);
  return b_.create<LLVM::ShuffleVectorOp>(loc_, vector, undefined, first);
}

Value VectorBuilder::LoadStrided(Value pointer, int64_t stride, int64_t live) {
  Value vector = Splat(0);
  for (int64_t i = 0; i < width_ && i < live; ++i) {
    Value scalar = b_.create<LLVM::LoadOp>(loc_, b_.getF32Type(), At(pointer, i * stride));
    Value lane = b_.create<LLVM::ConstantOp>(loc_, b_.getI64Type(), b_.getI64IntegerAttr(i));
    vector = b_.create<LLVM::InsertElementOp>(loc_, vector, scalar, lane);
  }
  return vector;
}

Value VectorBuilder::Splat(double value) {
  return b_.create<arith::ConstantOp>(loc_, mlir::DenseElementsAttr::get(VectorType(), static_cast<float>(value)));
}

Value VectorBuilder::AddF(Value a, Value b) { return b_.create<arith::AddFOp>(loc_, a, b); }
Value VectorBuilder::SubF(Value a, Value b) { return b_.create<arith::SubFOp>(loc_, a, b); }
Value VectorBuilder::MulF(Value a, Value b) { return b_.create<arith::MulFOp>(loc_, a, b); }

Value VectorBuilder::Relu(Value v) {
  Value zero = Splat(0);
  Value negative = b_.create<arith::CmpFOp>(loc_, arith::CmpFPredicate::OLT, v, zero);
  return Select(negative, zero, v);
}

Value VectorBuilder::Widen(Value bits) {
  auto ints = VectorOf(b_.getI32Type(), width_);
  Value wide = b_.create<arith::ExtUIOp>(loc_, ints, bits);
  Value sixteen = b_.create<arith::ConstantOp>(loc_, mlir::DenseElementsAttr::get(ints, int32_t{16}));
  return b_.create<arith::BitcastOp>(loc_, VectorType(), b_.create<arith::ShLIOp>(loc_, wide, sixteen));
}

Value VectorBuilder::Load16(Value pointer, int64_t live, Value mask) {
  if (live <= 0) return Splat(0);
  if (live < width_) mask = mask ? And(mask, Mask(live)) : Mask(live);
  auto type = VectorOf(b_.getI16Type(), width_);
  if (!mask) return Widen(b_.create<LLVM::LoadOp>(loc_, type, pointer, /*alignment=*/2));
  Value zero = b_.create<arith::ConstantOp>(loc_, mlir::DenseElementsAttr::get(type, int16_t{0}));
  return Widen(
      b_.create<LLVM::MaskedLoadOp>(loc_, type, pointer, mask, mlir::ValueRange{zero}, b_.getI32IntegerAttr(2)));
}

Value VectorBuilder::LoadStrided16(Value pointer, int64_t stride, int64_t live) {
  auto type = VectorOf(b_.getI16Type(), width_);
  Value vector = b_.create<arith::ConstantOp>(loc_, mlir::DenseElementsAttr::get(type, int16_t{0}));
  for (int64_t i = 0; i < width_ && i < live; ++i) {
    Value scalar = b_.create<LLVM::LoadOp>(loc_, b_.getI16Type(), At16(pointer, i * stride));
    Value lane = b_.create<LLVM::ConstantOp>(loc_, b_.getI64Type(), b_.getI64IntegerAttr(i));
    vector = b_.create<LLVM::InsertElementOp>(loc_, vector, scalar, lane);
  }
  return Widen(vector);
}

void VectorBuilder::Store16(Value vector, Value pointer, int64_t live, Value mask) {
  if (live <= 0) return;
  if (live < width_) mask = mask ? And(mask, Mask(live)) : Mask(live);
  Value narrow = b_.create<arith::TruncFOp>(loc_, VectorOf(b_.getBF16Type(), width_), vector);
  Value bits = b_.create<arith::BitcastOp>(loc_, VectorOf(b_.getI16Type(), width_), narrow);
  if (mask) {
    b_.create<LLVM::MaskedStoreOp>(loc_, bits, pointer, mask, b_.getI32IntegerAttr(2));
  } else {
    b_.create<LLVM::StoreOp>(loc_, bits, pointer, /*alignment=*/2);
  }
}

Value VectorBuilder::Pairs(Value a, Value b) {
  const llvm::SmallVector<int32_t> order = ByTurns(width_);
  auto bfloat16 = VectorOf(b_.getBF16Type(), width_), both = VectorOf(b_.getBF16Type(), 2 * width_);
  if (native_bfloat16_) {
    // vcvtne2ps2bf16 puts its second operand into the lower half of the result, so `a` comes second.
    auto name = b_.getStringAttr("llvm.x86.avx512bf16.cvtne2ps2bf16.512");
    Value joined = b_.create<LLVM::CallIntrinsicOp>(loc_, both, name, mlir::ValueRange{b, a}).getResult(0);
    return b_.create<LLVM::ShuffleVectorOp>(loc_, joined, joined, order);
  }
  auto ints = VectorOf(b_.getI16Type(), width_);
  auto bits = [&](Value v) {
    return b_.create<arith::BitcastOp>(loc_, ints, b_.create<arith::TruncFOp>(loc_, bfloat16, v));
  };
  Value pairs = b_.create<LLVM::ShuffleVectorOp>(loc_, bits(a), bits(b), order);
  return b_.create<arith::BitcastOp>(loc_, both, pairs);
}

Value VectorBuilder::LoadPairs(Value pointer) {
  return b_.create<LLVM::LoadOp>(loc_, VectorOf(b_.getBF16Type(), 2 * width_), pointer, /*alignment=*/2);
}

void VectorBuilder::StorePairs(Value pairs, Value pointer) {
  b_.create<LLVM::StoreOp>(loc_, pairs, pointer, /*alignment=*/2);
}

Value VectorBuilder::LoadSplatPair(Value pointer) {
  Value pair = b_.create<LLVM::LoadOp>(loc_, b_.getI32Type(), pointer, /*alignment=*/2);
  Value zero = b_.create<LLVM::ConstantOp>(loc_, b_.getI64Type(), b_.getI64IntegerAttr(0));
  auto ints = VectorOf(b_.getI32Type(), width_);
  Value vector = b_.create<LLVM::InsertElementOp>(loc_, b_.create<LLVM::UndefOp>(loc_, ints), pair, zero);
  llvm::SmallVector<int32_t> first(width_, 0);
  vector = b_.create<LLVM::ShuffleVectorOp>(loc_, vector, vector, first);
  return b_.create<LLVM::BitcastOp>(loc_, VectorOf(b_.getBF16Type(), 2 * width_), vector);
}

Value VectorBuilder::AddPairProducts(Value sum, Value a, Value b) {
  if (native_bfloat16_) {
    auto name = b_.getStringAttr("llvm.x86.avx512bf16.dpbf16ps.512");
    return b_.create<LLVM::CallIntrinsicOp>(loc_, VectorType(), name, mlir::ValueRange{sum, a, b}).getResult(0);
  }
  auto ints = VectorOf(b_.getI32Type(), width_);
  Value sixteen = b_.create<arith::ConstantOp>(loc_, mlir::DenseElementsAttr::get(ints, int32_t{16}));
  auto halves = [&](Value v) {
    Value bits = b_.create<LLVM::BitcastOp>(loc_, ints, v);
    Value low = b_.create<arith::ShLIOp>(loc_, bits, sixteen);
    Value high = b_.create<arith::ShLIOp>(loc_, b_.create<arith::ShRUIOp>(loc_, bits, sixteen), sixteen);
    return std::pair<Value, Value>(b_.create<arith::BitcastOp>(loc_, VectorType(), low),
                                   b_.create<arith::BitcastOp>(loc_, VectorType(), high));
  };
  auto [a0, a1] = halves(a);
  auto [b0, b1] = halves(b);
  return AddF(AddF(sum, MulF(a0, b0)), MulF(a1, b1));
}

Value VectorBuilder::LoadPairOfRows(Value a, Value b) {
  auto type = VectorOf(b_.getI16Type(), width_);
  auto load = [&](Value pointer) -> Value {
    if (pointer) return b_.create<LLVM::LoadOp>(loc_, type, pointer, /*alignment=*/2);
    return b_.create<arith::ConstantOp>(loc_, mlir::DenseElementsAttr::get(type, int16_t{0}));
  };
  return b_.create<LLVM::BitcastOp>(loc_, VectorType(),
                                    b_.create<LLVM::ShuffleVectorOp>(loc_, load(a), load(b), ByTurns(width_)));
}

std::vector<Value> VectorBuilder::Transpose(const std::vector<Value>& rows) {
  // Exchanges elements across the diagonal in squares of 2 x 2, then 2 x 2 squares in those of 4 x 4, and so on.
  std::vector<Value> result = rows;
  for (int distance = 1; distance < width_; distance *= 2) {
    llvm::SmallVector<int32_t> upper, lower;
    for (int i = 0; i < width_; ++i) {
      upper.push_back(i & distance ? width_ + (i ^ distance) : i);
      lower.push_back(i & distance ? width_ + i : i ^ distance);
    }
    for (int i = 0; i < width_; ++i) {
      if (i & distance) continue;
      Value a = result[i], b = result[i + distance];
      result[i] = b_.create<LLVM::ShuffleVectorOp>(loc_, a, b, upper);
      result[i + distance] = b_.create<LLVM::ShuffleVectorOp>(loc_, a, b, lower);
    }
  }
  return result;
}

}  // namespace tandem

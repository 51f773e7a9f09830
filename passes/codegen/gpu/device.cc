#include "passes/codegen/gpu/device.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace tandem {

namespace arith = mlir::arith;
namespace LLVM = mlir::LLVM;

mlir::Value Device::Call(mlir::Location loc, llvm::StringRef name, mlir::Type result, mlir::ValueRange arguments) {
  auto function = module_.lookupSymbol<LLVM::LLVMFuncOp>(name);
  if (!function) {
    mlir::OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(module_.getBody());
    llvm::SmallVector<mlir::Type> types(arguments.getTypes());
    mlir::Type type = result ? result : LLVM::LLVMVoidType::get(b_.getContext());
    function = b_.create<LLVM::LLVMFuncOp>(loc, name, LLVM::LLVMFunctionType::get(type, types));
    // "convergent": LLVM must not move the call under a condition or out of one.
    function.setPassthroughAttr(b_.getArrayAttr({b_.getStringAttr("convergent"), b_.getStringAttr("nounwind")}));
  }
  auto call = b_.create<LLVM::CallOp>(loc, function, arguments);
  return result ? call.getResult() : mlir::Value();
}

mlir::Value Device::Thread(mlir::Location loc) {
  return b_.create<arith::IndexCastOp>(loc, b_.getIndexType(), Call(loc, kThreadFunction, b_.getI32Type(), {}));
}

mlir::Value Device::Block(mlir::Location loc) {
  return b_.create<arith::IndexCastOp>(loc, b_.getIndexType(), Call(loc, kBlockFunction, b_.getI32Type(), {}));
}

void Device::SyncBlock(mlir::Location loc) { Call(loc, kSyncBlockFunction, {}, {}); }
void Device::SyncWarp(mlir::Location loc) { Call(loc, kSyncWarpFunction, {}, {}); }

mlir::Value Device::Arrive(mlir::Location loc, mlir::Value counter, mlir::Value count) {
  return Call(loc, kArriveFunction, b_.getI32Type(), {counter, count});
}

mlir::Value Device::Shared(mlir::Location loc) {
  return Call(loc, kSharedFunction, LLVM::LLVMPointerType::get(b_.getContext()), {});
}

mlir::Value Device::Exp(mlir::Location loc, mlir::Value x) { return Call(loc, kExpFunction, b_.getF32Type(), {x}); }

mlir::Value Device::PackBFloat16(mlir::Location loc, mlir::Value low, mlir::Value high) {
  return Call(loc, kPackBFloat16Function, b_.getI32Type(), {low, high});
}

mlir::Value Device::RoundToTensorFloat32(mlir::Location loc, mlir::Value x) {
  return Call(loc, kRoundTf32Function, b_.getI32Type(), {x});
}

std::array<mlir::Value, 4> Device::Elements(mlir::Location loc, mlir::Value vector) {
  std::array<mlir::Value, 4> elements;
  for (int i = 0; i < 4; ++i) elements[i] = b_.create<LLVM::ExtractElementOp>(loc, vector, Place(loc, i));
  return elements;
}

mlir::Value Device::Place(mlir::Location loc, int i) {
  return b_.create<LLVM::ConstantOp>(loc, b_.getI32Type(), b_.getI32IntegerAttr(i));
}

Device::Words Device::LoadMatrices(mlir::Location loc, mlir::Value address, bool transposed) {
  const llvm::StringRef name = transposed ? kLoadTransposedFunction : kLoadMatricesFunction;
  return Elements(loc, Call(loc, name, mlir::VectorType::get({4}, b_.getI32Type()), {address}));
}

std::array<mlir::Value, 4> Device::MultiplyAdd(mlir::Location loc, const Words& a, mlir::Value b_first,
                                               mlir::Value b_second, llvm::ArrayRef<mlir::Value> c) {
  return MultiplyAdd(loc, kMultiplyAddFunction, a, b_first, b_second, c);
}

std::array<mlir::Value, 4> Device::MultiplyAddTensorFloat32(mlir::Location loc, const Words& a, mlir::Value b_first,
                                                            mlir::Value b_second, llvm::ArrayRef<mlir::Value> c) {
  return MultiplyAdd(loc, kMultiplyAddTf32Function, a, b_first, b_second, c);
}

std::array<mlir::Value, 4> Device::MultiplyAdd(mlir::Location loc, llvm::StringRef name, const Words& a,
                                               mlir::Value b_first, mlir::Value b_second,
                                               llvm::ArrayRef<mlir::Value> c) {
  const mlir::Type type = mlir::VectorType::get({4}, b_.getF32Type());
  mlir::Value sums = b_.create<LLVM::UndefOp>(loc, type);
  for (int i = 0; i < 4; ++i) sums = b_.create<LLVM::InsertElementOp>(loc, sums, c[i], Place(loc, i));
  return Elements(loc, Call(loc, name, type, {a[0], a[1], a[2], a[3], b_first, b_second, sums}));
}

mlir::Value Device::ShuffleXor(mlir::Location loc, mlir::Value value, int mask) {
  mlir::Type type = value.getType(), i32 = b_.getI32Type(), i64 = b_.getI64Type();
  unsigned bits = type.getIntOrFloatBitWidth();
  mlir::Value mask_value = b_.create<arith::ConstantOp>(loc, b_.getI32IntegerAttr(mask));
  auto shuffle = [&](mlir::Value word) { return Call(loc, kShuffleFunction, i32, {word, mask_value}); };
  mlir::Type integer = b_.getIntegerType(bits);
  mlir::Value word = value;
  if (type != integer) word = b_.create<arith::BitcastOp>(loc, integer, value);
  if (bits <= 32) {
    if (bits < 32) word = b_.create<arith::ExtUIOp>(loc, i32, word);
    word = shuffle(word);
    if (bits < 32) word = b_.create<arith::TruncIOp>(loc, integer, word);
  } else {
    mlir::Value half = b_.create<arith::ConstantOp>(loc, b_.getI64IntegerAttr(32));
    mlir::Value low = shuffle(b_.create<arith::TruncIOp>(loc, i32, word));
    mlir::Value high = shuffle(b_.create<arith::TruncIOp>(loc, i32, b_.create<arith::ShRUIOp>(loc, word, half)));
    high = b_.create<arith::ShLIOp>(loc, b_.create<arith::ExtUIOp>(loc, i64, high), half);
    word = b_.create<arith::OrIOp>(loc, high, b_.create<arith::ExtUIOp>(loc, i64, low));
  }
  return type == integer ? word : b_.create<arith::BitcastOp>(loc, type, word).getResult();
}

}  // namespace tandem

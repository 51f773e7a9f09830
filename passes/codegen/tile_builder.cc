#include "passes/codegen/tile_builder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace tandem {

namespace LLVM = mlir::LLVM;
using mlir::Value;

Value TileBuilder::Number(int tile) {
  mlir::OpBuilder& b = v_.builder();
  return b.create<LLVM::ConstantOp>(v_.loc(), b.getI8Type(), b.getI8IntegerAttr(static_cast<int8_t>(tile)));
}

void TileBuilder::Call(const char* intrinsic, mlir::ValueRange arguments) {
  v_.builder().create<LLVM::CallIntrinsicOp>(v_.loc(), mlir::TypeRange{}, llvm::StringRef(intrinsic), arguments);
}

void TileBuilder::Configure() {
  // The layout of LDTILECFG's operand (Intel's Software Developer's Manual): byte 0 is the palette, 16-bit words from
  // byte 16 on are the bytes of a row of each register, bytes from byte 48 on are its rows.
  constexpr int32_t kBytes = 64 | 64 << 16, kRows = 16 | 16 << 8 | 16 << 16 | 16 << 24;
  const int32_t words[16] = {1, 0, 0, 0, kBytes, kBytes, kBytes, kBytes, 0, 0, 0, 0, kRows, kRows, 0, 0};
  mlir::OpBuilder& b = v_.builder();
  auto type = mlir::VectorType::get({16}, b.getI32Type());
  Value data =
      b.create<mlir::arith::ConstantOp>(v_.loc(), mlir::DenseElementsAttr::get(type, llvm::ArrayRef<int32_t>(words)));
  Value memory = v_.Scratch(16);
  b.create<LLVM::StoreOp>(v_.loc(), data, memory, /*alignment=*/64);
  Call("llvm.x86.ldtilecfg", memory);
}

void TileBuilder::Release() { Call("llvm.x86.tilerelease", {}); }
void TileBuilder::Zero(int tile) { Call("llvm.x86.tilezero", Number(tile)); }

void TileBuilder::Load(int tile, Value pointer, int64_t stride) {
  mlir::OpBuilder& b = v_.builder();
  Value bytes = b.create<LLVM::ConstantOp>(v_.loc(), b.getI64Type(), b.getI64IntegerAttr(stride));
  Call("llvm.x86.tileloadd64", {Number(tile), pointer, bytes});
}

void TileBuilder::Store(int tile, Value pointer, int64_t stride) {
  mlir::OpBuilder& b = v_.builder();
  Value bytes = b.create<LLVM::ConstantOp>(v_.loc(), b.getI64Type(), b.getI64IntegerAttr(stride));
  Call("llvm.x86.tilestored64", {Number(tile), pointer, bytes});
}

void TileBuilder::AddProducts(int sum, int a, int b) {
  Call("llvm.x86.tdpbf16ps", {Number(sum), Number(a), Number(b)});
}

}  // namespace tandem

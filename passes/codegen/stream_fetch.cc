#include "passes/codegen/stream_fetch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace tandem {

namespace LLVM = mlir::LLVM;

namespace {

constexpr int64_t kLine = 64;

}  // namespace

void EmitFetch(mlir::OpBuilder& builder, mlir::Location loc, const std::vector<Stream>& streams, mlir::Value first,
               int64_t count) {
  mlir::Value offset = builder.create<mlir::arith::IndexCastOp>(loc, builder.getI64Type(), first);
  for (const Stream& stream : streams) {
    mlir::Value start = builder.create<LLVM::GEPOp>(loc, stream.pointer.getType(), stream.storage, stream.pointer,
                                                    llvm::ArrayRef<LLVM::GEPArg>{offset});
    const int64_t bytes = count * stream.storage.getIntOrFloatBitWidth() / 8;
    for (int64_t byte = 0; byte < bytes; byte += kLine) {
      mlir::Value line = builder.create<LLVM::GEPOp>(loc, stream.pointer.getType(), builder.getI8Type(), start,
                                                     llvm::ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(byte)});
      builder.create<LLVM::Prefetch>(loc, line, /*rw=*/stream.written ? 1 : 0, /*hint=*/3, /*cache=*/1);
    }
  }
}

}  // namespace tandem

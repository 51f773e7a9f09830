#include "passes/codegen/stream_fetch.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace tandem {

namespace LLVM = mlir::LLVM;

namespace {

constexpr int64_t kLine = 64;

}  // namespace

void EmitFetch(IndexBuilder& at, const std::vector<Stream>& streams, mlir::Value first, int64_t count) {
  mlir::OpBuilder& builder = at.builder();
  for (const Stream& stream : streams) {
    mlir::Value start = at.Address(stream.pointer, stream.storage, first);
    const int64_t bytes = count * stream.storage.getIntOrFloatBitWidth() / 8;
    for (int64_t byte = 0; byte < bytes; byte += kLine) {
      mlir::Value line = at.Address(start, builder.getI8Type(), at.Int(byte));
      builder.create<LLVM::Prefetch>(at.loc(), line, /*rw=*/stream.written ? 1 : 0, /*hint=*/3, /*cache=*/1);
    }
  }
}

}  // namespace tandem

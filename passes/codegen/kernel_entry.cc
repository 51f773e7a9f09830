#include "passes/codegen/kernel_entry.h"

namespace tandem {

namespace LLVM = mlir::LLVM;

KernelEntry BeginKernelEntry(mlir::OpBuilder& b, mlir::Location loc, const std::string& symbol, mlir::ModuleOp module,
                             unsigned buffers) {
  mlir::Type pointer = LLVM::LLVMPointerType::get(b.getContext()), i64 = b.getI64Type();
  b.setInsertionPointToEnd(module.getBody());
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), {pointer, i64, i64, i64});
  auto f = b.create<LLVM::LLVMFuncOp>(loc, symbol, type);
  f.setPassthroughAttr(b.getArrayAttr({b.getStringAttr("nounwind")}));
  b.setInsertionPointToStart(f.addEntryBlock(b));
  KernelEntry entry;
  for (unsigned i = 0; i < buffers; ++i) {
    mlir::Value slot = b.create<LLVM::GEPOp>(loc, pointer, pointer, f.getArgument(0),
                                             llvm::ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)}, true);
    entry.buffers.push_back(b.create<LLVM::LoadOp>(loc, pointer, slot));
  }
  entry.begin = f.getArgument(1), entry.end = f.getArgument(2), entry.rows = f.getArgument(3);
  return entry;
}

}  // namespace tandem

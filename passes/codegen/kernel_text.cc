#include "passes/codegen/kernel_text.h"

#include "llvm/Support/raw_ostream.h"
#include "mlir/IR/AsmState.h"
#include "passes/exec/kernel_kind.h"

namespace tandem {

std::string KernelText(mlir::func::FuncOp kernel) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  kernel.getFunctionType().print(stream);
  if (auto kind = exec::GetKernelKind(kernel)) stream << exec::stringifyKernelKind(*kind);
  for (int64_t alias : exec::GetAliases(kernel)) stream << " " << alias;
  mlir::OpPrintingFlags flags;
  flags.enableDebugInfo(false).printGenericOpForm().useLocalScope();  // command-line options do not change the text
  for (mlir::Block& block : kernel.getBody()) {
    mlir::AsmState state(kernel, flags);
    for (mlir::Operation& op : block) {
      op.print(stream, state);
      stream << "\n";
    }
  }
  return stream.str();
}

}  // namespace tandem

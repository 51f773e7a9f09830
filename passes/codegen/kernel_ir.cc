#include "passes/codegen/kernel_ir.h"

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/llvm_memory.h"
#include "base/status_macros.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

namespace tandem {

// Each kernel is a line with its name and the number of bytes of its bitcode, and these bytes.
void AppendKernelIr(absl::string_view name, absl::string_view bitcode, std::string* all) {
  absl::StrAppend(all, name, " ", bitcode.size(), "\n", bitcode);
}

absl::StatusOr<std::string> LlvmIrText(absl::string_view bitcode) {
  const LlvmMemoryScope scope("reading the LLVM IR of kernels");
  llvm::LLVMContext context;
  // LLVM's reader of bitcode needs memory that is aligned and ends in a zero.
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(bitcode.data(), bitcode.size()), "kernel");
  llvm::Expected<std::unique_ptr<llvm::Module>> module = llvm::parseBitcodeFile(*buffer, context);
  if (!module) {
    return absl::DataLossError(absl::StrCat("not LLVM bitcode: ", llvm::toString(module.takeError())));
  }
  std::string text;
  llvm::raw_string_ostream(text) << **module;
  return text;
}

absl::StatusOr<std::string> KernelIrText(absl::string_view all) {
  std::string text;
  while (!all.empty()) {
    const size_t line = all.find('\n'), space = all.substr(0, line).rfind(' ');
    uint64_t length = 0;
    if (line == absl::string_view::npos || space == absl::string_view::npos ||
        !absl::SimpleAtoi(all.substr(space + 1, line - space - 1), &length) || length > all.size() - line - 1) {
      return absl::DataLossError("the LLVM IR of the kernels is damaged: a kernel's name and length are missing");
    }
    const absl::string_view name = all.substr(0, space);
    absl::StatusOr<std::string> ir = LlvmIrText(all.substr(line + 1, length));
    if (!ir.ok()) return absl::DataLossError(absl::StrCat("kernel ", name, ": ", ir.status().message()));
    absl::StrAppend(&text, "; ", name, "\n", *ir, "\n");
    all.remove_prefix(line + 1 + length);
  }
  return text;
}

}  // namespace tandem

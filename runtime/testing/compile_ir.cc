#include "runtime/testing/compile_ir.h"

#include <cstdlib>
#include <memory>
#include <sstream>

#include "llvm/ADT/SmallVector.h"
#include "llvm/ExecutionEngine/Orc/CompileUtils.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

namespace tandem {

std::string CompileIr(const std::string& text) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseIR(llvm::MemoryBufferRef(text, "test"), diagnostic, context);
  if (module == nullptr) {
    diagnostic.print("CompileIr", llvm::errs());
    std::abort();
  }
  auto builder = llvm::cantFail(llvm::orc::JITTargetMachineBuilder::detectHost());
  // As the compiler does.
  builder.setRelocationModel(llvm::Reloc::PIC_);
  builder.setCodeModel(llvm::CodeModel::Small);
  auto machine = llvm::cantFail(builder.createTargetMachine());
  module->setTargetTriple(machine->getTargetTriple().str());
  module->setDataLayout(machine->createDataLayout());
  llvm::orc::SimpleCompiler compile(*machine);
  auto object = llvm::cantFail(compile(*module));
  return object->getBuffer().str();
}

std::string LoopKernel(const std::string& name, const std::string& strides, const std::string& body) {
  std::string addresses;
  std::istringstream in(strides);
  std::string stride;
  for (int k = 0; in >> stride; ++k) {
    std::string n = std::to_string(k);
    addresses += "  %s" + n + " = getelementptr ptr, ptr %args, i64 " + n + "\n  %b" + n + " = load ptr, ptr %s" + n +
                 "\n  %o" + n + " = mul i64 %i, " + stride + "\n  %p" + n + " = getelementptr i8, ptr %b" + n +
                 ", i64 %o" + n + "\n";
  }
  return "define void @" + name + "(ptr %args, i64 %begin, i64 %end, i64 %row_offset) {\n" +
         "entry:\n  %any = icmp slt i64 %begin, %end\n  br i1 %any, label %loop, label %done\n" +
         "loop:\n  %i = phi i64 [%begin, %entry], [%next, %loop]\n" + addresses + body +
         "  %next = add i64 %i, 1\n  %more = icmp slt i64 %next, %end\n  br i1 %more, label %loop, label %done\n" +
         "done:\n  ret void\n}\n";
}

}  // namespace tandem

#include "passes/codegen/gpu/walk.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "passes/codegen/gpu/device.h"
#include "passes/codegen/optimize.h"

namespace tandem {
namespace {

// Adds a function void NAME(ptr params), which loads argument i from the address params[i] and calls `body` with these
// arguments.
void AddEntry(llvm::Module& module, llvm::Function& body, const std::string& name) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* pointer = llvm::PointerType::getUnqual(context);
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), {pointer}, false);
  auto* f = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name, module);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "", f));
  std::vector<llvm::Value*> arguments;
  for (llvm::Argument& argument : body.args()) {
    llvm::Value* slot = b.CreateConstInBoundsGEP1_64(pointer, f->getArg(0), argument.getArgNo());
    arguments.push_back(b.CreateLoad(argument.getType(), b.CreateLoad(pointer, slot)));
  }
  b.CreateCall(&body, arguments);
  b.CreateRetVoid();
}

void AddNumber(llvm::Module& module, const std::string& name, int64_t value) {
  llvm::Type* i64 = llvm::Type::getInt64Ty(module.getContext());
  new llvm::GlobalVariable(module, i64, /*isConstant=*/true, llvm::GlobalValue::ExternalLinkage,
                           llvm::ConstantInt::get(i64, value), name);
}

}  // namespace

absl::StatusOr<std::string> CompileToWalk(llvm::Module& module, const std::vector<std::string>& entries,
                                          int64_t shared_bytes, const CpuTarget& target) {
  bool syncs = false;
  for (const char* name : {kSyncBlockFunction, kSyncWarpFunction, kShuffleFunction, kLoadMatricesFunction,
                           kLoadTransposedFunction, kMultiplyAddFunction, kMultiplyAddTf32Function}) {
    const llvm::Function* f = module.getFunction(name);
    syncs |= f != nullptr && !f->use_empty();
  }
  for (const std::string& entry : entries) {
    llvm::Function* body = module.getFunction(entry);
    body->setName(absl::StrCat(entry, "_thread"));
    body->setLinkage(llvm::GlobalValue::InternalLinkage);
    // Inlining would lose the attribute which says that no two arguments overlap.
    body->addFnAttr(llvm::Attribute::NoInline);
    AddEntry(module, *body, entry);
    AddNumber(module, absl::StrCat(entry, "_shared_bytes"), shared_bytes);
    AddNumber(module, absl::StrCat(entry, "_syncs"), syncs);
  }
  TD_ASSIGN_OR_RETURN(std::unique_ptr<ObjectCompiler> compiler, ObjectCompiler::Create(target, KernelSanitizer::kNone));
  TD_ASSIGN_OR_RETURN(OptimizedObject object, compiler->Compile(module));
  return std::move(object.elf);
}

}  // namespace tandem

#include "passes/codegen/gpu/group_entry.h"

#include <vector>

#include "llvm/IR/IRBuilder.h"
#include "passes/codegen/gpu/device.h"

namespace tandem {
namespace {

// A kernel's parameters behind the buffers: begin, end, row_offset, scratch, guard.
constexpr unsigned kNumOtherParams = 5;
// The address space of device memory: loads of a pointer in it become ld.global, not ld.
constexpr unsigned kGlobal = 1;

}  // namespace

void AddGroupEntry(llvm::Module& module, const std::string& symbol, const std::string& name, int64_t items_per_block) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Function* kernel = module.getFunction(symbol);
  llvm::Type *pointer = llvm::PointerType::getUnqual(context), *i64 = llvm::Type::getInt64Ty(context),
             *i32 = llvm::Type::getInt32Ty(context), *nothing = llvm::Type::getVoidTy(context);
  auto* f = llvm::Function::Create(llvm::FunctionType::get(nothing, {pointer, pointer, pointer}, false),
                                   llvm::GlobalValue::ExternalLinkage, name, module);
  f->addFnAttr(llvm::Attribute::NoUnwind);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "", f));
  // The launch does not change the two tables (members, blocks), so their loads are marked as invariant.
  auto load = [&](llvm::Type* type, llvm::Value* at, uint64_t align) {
    llvm::LoadInst* value = b.CreateAlignedLoad(type, at, llvm::Align(align));
    value->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context, {}));
    return value;
  };
  llvm::Value* block =
      b.CreateZExt(b.CreateCall(module.getOrInsertFunction(kBlockFunction, llvm::FunctionType::get(i32, false))), i64);
  llvm::Value* member = b.CreateZExt(load(i32, b.CreateInBoundsGEP(i32, f->getArg(1), block), 4), i64);
  const unsigned buffers = kernel->arg_size() - kNumOtherParams;
  llvm::Value* row = b.CreateInBoundsGEP(i64, f->getArg(0),
                                         // A member's row of the table has its buffers, its number of elements and its
                                         // first block.
                                         b.CreateNSWMul(member, b.getInt64(buffers + 2)));
  auto field = [&](unsigned i) { return b.CreateConstInBoundsGEP1_64(i64, row, i); };
  std::vector<llvm::Value*> arguments;
  for (unsigned i = 0; i < buffers; ++i) {
    llvm::Value* address = b.CreateAddrSpaceCast(load(llvm::PointerType::get(context, kGlobal), field(i), 8), pointer);
    // Inlining the kernel loses its parameters' alignment attributes. Without them neighbouring elements would not be
    // loaded together.
    if (llvm::MaybeAlign align = kernel->getParamAlign(i)) {
      b.CreateAlignmentAssumption(module.getDataLayout(), address, align->value());
    }
    arguments.push_back(address);
  }
  // The kernel's code begins at `begin` + block * items_per_block. `begin` is negative, so that this is 0 in the
  // member's first block.
  llvm::Value* before = b.CreateNSWMul(load(i64, field(buffers + 1), 8), b.getInt64(items_per_block));
  arguments.push_back(b.CreateNSWSub(b.getInt64(0), before));
  arguments.push_back(load(i64, field(buffers), 8));
  arguments.push_back(b.getInt64(0));
  arguments.push_back(llvm::ConstantPointerNull::get(llvm::cast<llvm::PointerType>(pointer)));
  arguments.push_back(f->getArg(2));
  // The kernel is an entry, which GPU code cannot call, so it is inlined.
  b.CreateCall(kernel, arguments)->addFnAttr(llvm::Attribute::AlwaysInline);
  b.CreateRetVoid();
}

}  // namespace tandem

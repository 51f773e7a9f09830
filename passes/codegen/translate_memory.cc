// Translates the ops of the LLVM dialect that emitters use: addresses, loads and stores, and elements of vectors.
#include "llvm/IR/Constants.h"
#include "llvm/IR/Metadata.h"
#include "passes/codegen/translator.h"

namespace tandem {
namespace {

namespace LLVM = mlir::LLVM;

void Address(Translator& t, LLVM::GEPOp op) {
  llvm::SmallVector<llvm::Value*> indices;
  for (auto index : op.getIndices()) {
    auto constant = mlir::dyn_cast<mlir::IntegerAttr>(index);
    indices.push_back(constant ? t.b.getInt32(constant.getInt()) : t[mlir::cast<mlir::Value>(index)]);
  }
  t.Set(op, t.b.CreateGEP(t.Type(op.getElemType()), t[op.getBase()], indices, "",
                          op.getInbounds() ? llvm::GEPNoWrapFlags::inBounds() : llvm::GEPNoWrapFlags::none()));
}

void Load(Translator& t, LLVM::LoadOp op) {
  if (op.getOrdering() != LLVM::AtomicOrdering::not_atomic) return t.Fail(op);
  llvm::LoadInst* load =
      t.b.CreateAlignedLoad(t.Type(op.getType()), t[op.getAddr()],
                            op.getAlignment() ? llvm::MaybeAlign(*op.getAlignment()) : llvm::MaybeAlign());
  load->setVolatile(op.getVolatile_());
  t.Set(op, load);
}

void Store(Translator& t, LLVM::StoreOp op) {
  if (op.getOrdering() != LLVM::AtomicOrdering::not_atomic) return t.Fail(op);
  llvm::StoreInst* store = t.b.CreateAlignedStore(
      t[op.getValue()], t[op.getAddr()], op.getAlignment() ? llvm::MaybeAlign(*op.getAlignment()) : llvm::MaybeAlign());
  store->setVolatile(op.getVolatile_());
  if (op.getNontemporal()) {
    auto* one = llvm::ConstantAsMetadata::get(t.b.getInt32(1));
    store->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(t.module().getContext(), {one}));
  }
}

void Fence(Translator& t, LLVM::FenceOp op) {
  if (op.getOrdering() != LLVM::AtomicOrdering::seq_cst || op.getSyncscope()) return t.Fail(op);
  t.b.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent);
}

void Fetch(Translator& t, LLVM::Prefetch op) {
  llvm::Value* address = t[op.getAddr()];
  t.b.CreateIntrinsic(llvm::Intrinsic::prefetch, {address->getType()},
                      {address, t.b.getInt32(op.getRw()), t.b.getInt32(op.getHint()), t.b.getInt32(op.getCache())});
}

void MaskedLoad(Translator& t, LLVM::MaskedLoadOp op) {
  llvm::Value* pass = op.getPassThru().empty() ? nullptr : t[op.getPassThru()[0]];
  t.Set(op, t.b.CreateMaskedLoad(t.Type(op.getType()), t[op.getData()], llvm::Align(op.getAlignment()), t[op.getMask()],
                                 pass));
}

void MaskedStore(Translator& t, LLVM::MaskedStoreOp op) {
  t.b.CreateMaskedStore(t[op.getValue()], t[op.getData()], llvm::Align(op.getAlignment()), t[op.getMask()]);
}

void Alloca(Translator& t, LLVM::AllocaOp op) {
  llvm::AllocaInst* memory = t.b.CreateAlloca(t.Type(op.getElemType()), t[op.getArraySize()]);
  if (op.getAlignment() && *op.getAlignment() != 0) memory->setAlignment(llvm::Align(*op.getAlignment()));
  t.Set(op, memory);
}

void LlvmConstant(Translator& t, LLVM::ConstantOp op) { t.Set(op, t.Constant(op.getValue(), op.getType())); }
void Undefined(Translator& t, LLVM::UndefOp op) { t.Set(op, llvm::UndefValue::get(t.Type(op.getType()))); }
void Zero(Translator& t, LLVM::ZeroOp op) { t.Set(op, llvm::Constant::getNullValue(t.Type(op.getType()))); }

void Insert(Translator& t, LLVM::InsertElementOp op) {
  t.Set(op, t.b.CreateInsertElement(t[op.getVector()], t[op.getValue()], t[op.getPosition()]));
}

void Extract(Translator& t, LLVM::ExtractElementOp op) {
  t.Set(op, t.b.CreateExtractElement(t[op.getVector()], t[op.getPosition()]));
}

void Shuffle(Translator& t, LLVM::ShuffleVectorOp op) {
  t.Set(op, t.b.CreateShuffleVector(t[op.getV1()], t[op.getV2()], op.getMask()));
}

void Bitcast(Translator& t, LLVM::BitcastOp op) { t.Set(op, t.b.CreateBitCast(t[op.getArg()], t.Type(op.getType()))); }

void LlvmCompare(Translator& t, LLVM::ICmpOp op) {
  t.Set(op, t.b.CreateICmp(IntegerPredicate(static_cast<unsigned>(op.getPredicate())), t[op.getLhs()], t[op.getRhs()]));
}

// Translates a call of an intrinsic by its name, such as "llvm.x86.avx512bf16.dpbf16ps.512". It must have no overloads.
void Intrinsic(Translator& t, LLVM::CallIntrinsicOp op) {
  const auto id = llvm::Function::lookupIntrinsicID(op.getIntrin());
  if (id == llvm::Intrinsic::not_intrinsic || llvm::Intrinsic::isOverloaded(id)) return t.Fail(op);
  llvm::SmallVector<llvm::Value*> arguments;
  for (mlir::Value v : op.getArgs()) arguments.push_back(t[v]);
  llvm::CallInst* call = t.b.CreateCall(llvm::Intrinsic::getDeclaration(&t.module(), id), arguments);
  if (op->getNumResults() == 1) t.Set(op->getResult(0), call);
}

}  // namespace

void AddMemoryHandlers(Translator::Handlers& handlers) {
  On<LLVM::GEPOp, Address>(handlers);
  On<LLVM::LoadOp, Load>(handlers);
  On<LLVM::StoreOp, Store>(handlers);
  On<LLVM::FenceOp, Fence>(handlers);
  On<LLVM::Prefetch, Fetch>(handlers);
  On<LLVM::MaskedLoadOp, MaskedLoad>(handlers);
  On<LLVM::MaskedStoreOp, MaskedStore>(handlers);
  On<LLVM::AllocaOp, Alloca>(handlers);
  On<LLVM::ConstantOp, LlvmConstant>(handlers);
  On<LLVM::UndefOp, Undefined>(handlers);
  On<LLVM::ZeroOp, Zero>(handlers);
  On<LLVM::InsertElementOp, Insert>(handlers);
  On<LLVM::ExtractElementOp, Extract>(handlers);
  On<LLVM::ShuffleVectorOp, Shuffle>(handlers);
  On<LLVM::BitcastOp, Bitcast>(handlers);
  On<LLVM::ICmpOp, LlvmCompare>(handlers);
  On<LLVM::CallIntrinsicOp, Intrinsic>(handlers);
}

}  // namespace tandem

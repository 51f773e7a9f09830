// Translates scf.for, scf.if, calls and returns.
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/codegen/translator.h"

namespace tandem {
namespace {

namespace LLVM = mlir::LLVM;
namespace scf = mlir::scf;

llvm::SmallVector<llvm::Value*> LlvmValues(Translator& t, mlir::ValueRange values) {
  llvm::SmallVector<llvm::Value*> to;
  for (mlir::Value v : values) to.push_back(t[v]);
  return to;
}

llvm::SmallVector<llvm::Value*> Yielded(Translator& t, mlir::Block& block) {
  return LlvmValues(t, block.getTerminator()->getOperands());
}

void SetAll(Translator& t, mlir::ValueRange values, llvm::ArrayRef<llvm::Value*> to) {
  for (auto [value, v] : llvm::zip_equal(values, to)) t.Set(value, v);
}

// Returns the number of iterations of a loop if it is known to be 0 or 1, otherwise 2.
int KnownTurns(llvm::Value* from, llvm::Value* to, llvm::Value* step) {
  auto* first = llvm::dyn_cast<llvm::ConstantInt>(from);
  auto* end = llvm::dyn_cast<llvm::ConstantInt>(to);
  auto* stride = llvm::dyn_cast<llvm::ConstantInt>(step);
  if (first == nullptr || end == nullptr) return 2;
  if (first->getSExtValue() >= end->getSExtValue()) return 0;
  if (stride == nullptr) return 2;
  return end->getSExtValue() - first->getSExtValue() <= stride->getSExtValue() ? 1 : 2;
}

void For(Translator& t, scf::ForOp op) {
  llvm::Value* from = t[op.getLowerBound()];
  llvm::Value* end = t[op.getUpperBound()];
  llvm::Value* step = t[op.getStep()];
  llvm::SmallVector<llvm::Value*> carried = LlvmValues(t, op.getInitArgs());
  const int turns = KnownTurns(from, end, step);
  if (turns == 0) return SetAll(t, op.getResults(), carried);
  if (turns == 1) {
    t.Set(op.getInductionVar(), from);
    SetAll(t, op.getRegionIterArgs(), carried);
    t.TranslateBlock(*op.getBody());
    return SetAll(t, op.getResults(), Yielded(t, *op.getBody()));
  }
  llvm::BasicBlock* before = t.b.GetInsertBlock();
  llvm::BasicBlock* head = t.NewBlock();
  llvm::BasicBlock* body = t.NewBlock();
  t.b.CreateBr(head);
  t.b.SetInsertPoint(head);
  llvm::PHINode* i = t.b.CreatePHI(from->getType(), 2);
  i->addIncoming(from, before);
  llvm::SmallVector<llvm::PHINode*> phis;
  llvm::SmallVector<llvm::Value*> current;
  for (llvm::Value* v : carried) {
    phis.push_back(t.b.CreatePHI(v->getType(), 2));
    phis.back()->addIncoming(v, before);
    current.push_back(phis.back());
  }
  llvm::Value* more = t.b.CreateICmpSLT(i, end);
  t.b.SetInsertPoint(body);
  t.Set(op.getInductionVar(), i);
  SetAll(t, op.getRegionIterArgs(), current);
  t.TranslateBlock(*op.getBody());
  i->addIncoming(t.b.CreateAdd(i, step), t.b.GetInsertBlock());
  for (auto [phi, v] : llvm::zip_equal(phis, Yielded(t, *op.getBody()))) phi->addIncoming(v, t.b.GetInsertBlock());
  t.b.CreateBr(head);
  llvm::BasicBlock* exit = t.NewBlock();
  t.b.SetInsertPoint(head);
  t.b.CreateCondBr(more, body, exit);
  t.b.SetInsertPoint(exit);
  SetAll(t, op.getResults(), current);
}

void If(Translator& t, scf::IfOp op) {
  llvm::Value* condition = t[op.getCondition()];
  mlir::Block* otherwise = op.elseBlock();
  if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(condition)) {
    mlir::Block* taken = known->isZero() ? otherwise : op.thenBlock();
    if (taken == nullptr) return;
    t.TranslateBlock(*taken);
    return SetAll(t, op.getResults(), Yielded(t, *taken));
  }
  llvm::BasicBlock* before = t.b.GetInsertBlock();
  // Translates one branch of the scf.if; returns the values that it yields and the LLVM block that it ends in.
  auto side = [&](mlir::Block& block, llvm::BasicBlock* begin) {
    t.b.SetInsertPoint(begin);
    t.TranslateBlock(block);
    return std::make_pair(Yielded(t, block), t.b.GetInsertBlock());
  };
  llvm::BasicBlock* then_begin = t.NewBlock();
  auto [then_values, then_end] = side(*op.thenBlock(), then_begin);
  llvm::SmallVector<llvm::Value*> else_values;
  llvm::BasicBlock* else_begin = nullptr;
  llvm::BasicBlock* else_end = before;
  if (otherwise != nullptr) {
    else_begin = t.NewBlock();
    std::tie(else_values, else_end) = side(*otherwise, else_begin);
  }
  llvm::BasicBlock* join = t.NewBlock();
  t.b.SetInsertPoint(then_end);
  t.b.CreateBr(join);
  if (else_begin != nullptr) {
    t.b.SetInsertPoint(else_end);
    t.b.CreateBr(join);
  }
  t.b.SetInsertPoint(before);
  t.b.CreateCondBr(condition, then_begin, else_begin != nullptr ? else_begin : join);
  t.b.SetInsertPoint(join);
  for (unsigned i = 0; i < op.getNumResults(); ++i) {
    llvm::PHINode* phi = t.b.CreatePHI(then_values[i]->getType(), 2);
    phi->addIncoming(then_values[i], then_end);
    phi->addIncoming(else_values[i], else_end);
    t.Set(op.getResult(i), phi);
  }
}

void Call(Translator& t, LLVM::CallOp op) {
  llvm::Function* f = op.getCallee() ? t.module().getFunction(llvm::StringRef(*op.getCallee())) : nullptr;
  if (f == nullptr) return t.Fail(op);
  llvm::CallInst* call = t.b.CreateCall(f, LlvmValues(t, op.getArgOperands()));
  if (op.getNumResults() == 1) t.Set(op.getResult(), call);
}

void Return(Translator& t, LLVM::ReturnOp op) {
  if (op.getNumOperands() == 0) {
    t.b.CreateRetVoid();
  } else {
    t.b.CreateRet(t[op.getOperand(0)]);
  }
}

}  // namespace

void AddControlHandlers(Translator::Handlers& handlers) {
  On<scf::ForOp, For>(handlers);
  On<scf::IfOp, If>(handlers);
  On<LLVM::CallOp, Call>(handlers);
  On<LLVM::ReturnOp, Return>(handlers);
}

}  // namespace tandem

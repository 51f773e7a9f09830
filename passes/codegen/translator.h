// The state of one function's translation to LLVM IR, shared by the files translate*.cc.
#ifndef TANDEM_PASSES_CODEGEN_TRANSLATOR_H_
#define TANDEM_PASSES_CODEGEN_TRANSLATOR_H_

#include <utility>

#include "absl/status/status.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Operation.h"

namespace tandem {

class Translator {
 public:
  using Handler = void (*)(Translator&, mlir::Operation*);
  using Handlers = llvm::DenseMap<mlir::TypeID, Handler>;

  Translator(llvm::Module& module, const Handlers& handlers, int index_bits)
      : b(module.getContext()), module_(module), handlers_(handlers), index_bits_(index_bits) {}

  // The body of `f`, whose declaration the module has already.
  void TranslateBody(mlir::LLVM::LLVMFuncOp f);
  // The ops of a block, without the terminator of one that belongs to scf.
  void TranslateBlock(mlir::Block& block);

  llvm::Type* Type(mlir::Type type);
  llvm::FunctionType* FunctionType(mlir::LLVM::LLVMFuncOp f);
  // Of an integer, a float or a splat or list of such.
  llvm::Constant* Constant(mlir::Attribute attribute, mlir::Type type);

  llvm::Value* operator[](mlir::Value value) { return values_.lookup(value); }
  void Set(mlir::Value value, llvm::Value* to) { values_[value] = to; }
  void Fail(mlir::Operation* op);
  const absl::Status& status() const { return status_; }
  llvm::Module& module() { return module_; }
  llvm::BasicBlock* NewBlock() {
    return llvm::BasicBlock::Create(module_.getContext(), "", b.GetInsertBlock()->getParent());
  }

  // It folds constants only: LLVM's simplifier would believe in loop variables that have but their first value yet.
  llvm::IRBuilder<> b;

 private:
  llvm::Module& module_;
  const Handlers& handlers_;
  const int index_bits_;
  llvm::DenseMap<mlir::Value, llvm::Value*> values_;
  llvm::DenseMap<mlir::Type, llvm::Type*> types_;
  absl::Status status_;
};

// On<Op>(handlers, [](Translator& t, Op op) {...}) translates ops of one class.
template <typename Op, void (*Translate)(Translator&, Op)>
void On(Translator::Handlers& handlers) {
  handlers[mlir::TypeID::get<Op>()] = [](Translator& t, mlir::Operation* op) { Translate(t, mlir::cast<Op>(op)); };
}

// Gives the instructions of floats that are made during its life time the flags of an op of arith or math.
class FastMath {
 public:
  template <typename Op>
  FastMath(Translator& t, Op op) : guard_(t.b) {
    using Flags = mlir::arith::FastMathFlags;
    const Flags from = op.getFastmath();
    if (from == Flags::none) return;
    llvm::FastMathFlags flags;
    flags.setAllowReassoc(bitEnumContainsAny(from, Flags::reassoc));
    flags.setNoNaNs(bitEnumContainsAny(from, Flags::nnan));
    flags.setNoInfs(bitEnumContainsAny(from, Flags::ninf));
    flags.setNoSignedZeros(bitEnumContainsAny(from, Flags::nsz));
    flags.setAllowReciprocal(bitEnumContainsAny(from, Flags::arcp));
    flags.setAllowContract(bitEnumContainsAny(from, Flags::contract));
    flags.setApproxFunc(bitEnumContainsAny(from, Flags::afn));
    t.b.setFastMathFlags(flags);
  }

 private:
  llvm::IRBuilderBase::FastMathFlagGuard guard_;
};

// LLVM's for a predicate of arith.cmpi or llvm.icmp, which are numbered alike.
inline llvm::CmpInst::Predicate IntegerPredicate(unsigned predicate) {
  using llvm::CmpInst;
  static constexpr CmpInst::Predicate kPredicates[] = {
      CmpInst::ICMP_EQ,  CmpInst::ICMP_NE,  CmpInst::ICMP_SLT, CmpInst::ICMP_SLE, CmpInst::ICMP_SGT,
      CmpInst::ICMP_SGE, CmpInst::ICMP_ULT, CmpInst::ICMP_ULE, CmpInst::ICMP_UGT, CmpInst::ICMP_UGE};
  return kPredicates[predicate];
}

void AddArithHandlers(Translator::Handlers& handlers);
void AddMathHandlers(Translator::Handlers& handlers);
void AddMemoryHandlers(Translator::Handlers& handlers);
void AddControlHandlers(Translator::Handlers& handlers);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_TRANSLATOR_H_

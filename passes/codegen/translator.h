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

  // Translates the body of `f`, which the module has declared already.
  void TranslateBody(mlir::LLVM::LLVMFuncOp f);
  // Translates the ops of a block, except the terminator if the block belongs to an scf op.
  void TranslateBlock(mlir::Block& block);

  llvm::Type* Type(mlir::Type type);
  llvm::FunctionType* FunctionType(mlir::LLVM::LLVMFuncOp f);
  // Returns the constant for an integer, a float, or a splat or list of such.
  llvm::Constant* Constant(mlir::Attribute attribute, mlir::Type type);

  llvm::Value* operator[](mlir::Value value) { return values_.lookup(value); }
  void Set(mlir::Value value, llvm::Value* to) { values_[value] = to; }
  void Fail(mlir::Operation* op);
  const absl::Status& status() const { return status_; }
  llvm::Module& module() { return module_; }
  llvm::BasicBlock* NewBlock() {
    return llvm::BasicBlock::Create(module_.getContext(), "", b.GetInsertBlock()->getParent());
  }

  // This builder folds constants only. LLVM's simplifier would replace a loop variable by its first value, the only one
  // that it knows while the loop is being translated.
  llvm::IRBuilder<> b;

 private:
  llvm::Module& module_;
  const Handlers& handlers_;
  const int index_bits_;
  llvm::DenseMap<mlir::Value, llvm::Value*> values_;
  llvm::DenseMap<mlir::Type, llvm::Type*> types_;
  absl::Status status_;
};

// On<Op>(handlers, [](Translator& t, Op op) {...}) registers the function that translates ops of class Op.
template <typename Op, void (*Translate)(Translator&, Op)>
void On(Translator::Handlers& handlers) {
  handlers[mlir::TypeID::get<Op>()] = [](Translator& t, mlir::Operation* op) { Translate(t, mlir::cast<Op>(op)); };
}

// During its lifetime, float instructions that are created get the fast-math flags of an op of arith or math.
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

// Returns LLVM's predicate for one of arith.cmpi or llvm.icmp, which are numbered alike.
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

// Translates the ops of arith, each to one instruction or intrinsic.
#include "llvm/IR/Intrinsics.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/codegen/translator.h"

namespace tandem {
namespace {

namespace arith = mlir::arith;
using llvm::CmpInst;
using llvm::Instruction;

void Constant(Translator& t, arith::ConstantOp op) { t.Set(op, t.Constant(op.getValue(), op.getType())); }

template <typename Op, Instruction::BinaryOps kOpcode>
void Binary(Translator& t, Op op) {
  t.Set(op, t.b.CreateBinOp(kOpcode, t[op.getLhs()], t[op.getRhs()]));
}

template <typename Op, llvm::Value* (*Create)(Translator&, llvm::Value*, llvm::Value*, bool, bool)>
void Wrapping(Translator& t, Op op) {
  const bool no_unsigned_wrap = bitEnumContainsAll(op.getOverflowFlags(), arith::IntegerOverflowFlags::nuw);
  const bool no_signed_wrap = bitEnumContainsAll(op.getOverflowFlags(), arith::IntegerOverflowFlags::nsw);
  t.Set(op, Create(t, t[op.getLhs()], t[op.getRhs()], no_unsigned_wrap, no_signed_wrap));
}

llvm::Value* Add(Translator& t, llvm::Value* a, llvm::Value* b, bool nuw, bool nsw) {
  return t.b.CreateAdd(a, b, "", nuw, nsw);
}
llvm::Value* Sub(Translator& t, llvm::Value* a, llvm::Value* b, bool nuw, bool nsw) {
  return t.b.CreateSub(a, b, "", nuw, nsw);
}
llvm::Value* Mul(Translator& t, llvm::Value* a, llvm::Value* b, bool nuw, bool nsw) {
  return t.b.CreateMul(a, b, "", nuw, nsw);
}
llvm::Value* Shl(Translator& t, llvm::Value* a, llvm::Value* b, bool nuw, bool nsw) {
  return t.b.CreateShl(a, b, "", nuw, nsw);
}

template <typename Op, Instruction::BinaryOps kOpcode>
void FloatBinary(Translator& t, Op op) {
  FastMath flags(t, op);
  t.Set(op, t.b.CreateBinOp(kOpcode, t[op.getLhs()], t[op.getRhs()]));
}

template <typename Op, llvm::Intrinsic::ID kId>
void FloatChoice(Translator& t, Op op) {
  FastMath flags(t, op);
  t.Set(op, t.b.CreateBinaryIntrinsic(kId, t[op.getLhs()], t[op.getRhs()]));
}

template <typename Op, llvm::Intrinsic::ID kId>
void IntegerChoice(Translator& t, Op op) {
  t.Set(op, t.b.CreateBinaryIntrinsic(kId, t[op.getLhs()], t[op.getRhs()]));
}

void Negate(Translator& t, arith::NegFOp op) {
  FastMath flags(t, op);
  t.Set(op, t.b.CreateFNeg(t[op.getOperand()]));
}

template <typename Op, Instruction::CastOps kOpcode>
void Cast(Translator& t, Op op) {
  t.Set(op, t.b.CreateCast(kOpcode, t[op.getIn()], t.Type(op.getType())));
}

template <typename Op, bool kSigned>
void IndexCast(Translator& t, Op op) {
  t.Set(op, t.b.CreateIntCast(t[op.getIn()], t.Type(op.getType()), kSigned));
}

void Compare(Translator& t, arith::CmpIOp op) {
  t.Set(op, t.b.CreateICmp(IntegerPredicate(static_cast<unsigned>(op.getPredicate())), t[op.getLhs()], t[op.getRhs()]));
}

void CompareFloats(Translator& t, arith::CmpFOp op) {
  // LLVM's predicates in the order of arith::CmpFPredicate.
  static constexpr CmpInst::Predicate kPredicates[] = {
      CmpInst::FCMP_FALSE, CmpInst::FCMP_OEQ, CmpInst::FCMP_OGT, CmpInst::FCMP_OGE,
      CmpInst::FCMP_OLT,   CmpInst::FCMP_OLE, CmpInst::FCMP_ONE, CmpInst::FCMP_ORD,
      CmpInst::FCMP_UEQ,   CmpInst::FCMP_UGT, CmpInst::FCMP_UGE, CmpInst::FCMP_ULT,
      CmpInst::FCMP_ULE,   CmpInst::FCMP_UNE, CmpInst::FCMP_UNO, CmpInst::FCMP_TRUE};
  FastMath flags(t, op);
  t.Set(op, t.b.CreateFCmp(kPredicates[static_cast<unsigned>(op.getPredicate())], t[op.getLhs()], t[op.getRhs()]));
}

void Select(Translator& t, arith::SelectOp op) {
  t.Set(op, t.b.CreateSelect(t[op.getCondition()], t[op.getTrueValue()], t[op.getFalseValue()]));
}

void AddIntegers(Translator::Handlers& h) {
  On<arith::AddIOp, Wrapping<arith::AddIOp, Add>>(h);
  On<arith::SubIOp, Wrapping<arith::SubIOp, Sub>>(h);
  On<arith::MulIOp, Wrapping<arith::MulIOp, Mul>>(h);
  On<arith::ShLIOp, Wrapping<arith::ShLIOp, Shl>>(h);
  On<arith::DivUIOp, Binary<arith::DivUIOp, Instruction::UDiv>>(h);
  On<arith::DivSIOp, Binary<arith::DivSIOp, Instruction::SDiv>>(h);
  On<arith::RemUIOp, Binary<arith::RemUIOp, Instruction::URem>>(h);
  On<arith::RemSIOp, Binary<arith::RemSIOp, Instruction::SRem>>(h);
  On<arith::AndIOp, Binary<arith::AndIOp, Instruction::And>>(h);
  On<arith::OrIOp, Binary<arith::OrIOp, Instruction::Or>>(h);
  On<arith::XOrIOp, Binary<arith::XOrIOp, Instruction::Xor>>(h);
  On<arith::ShRUIOp, Binary<arith::ShRUIOp, Instruction::LShr>>(h);
  On<arith::ShRSIOp, Binary<arith::ShRSIOp, Instruction::AShr>>(h);
  On<arith::MaxSIOp, IntegerChoice<arith::MaxSIOp, llvm::Intrinsic::smax>>(h);
  On<arith::MinSIOp, IntegerChoice<arith::MinSIOp, llvm::Intrinsic::smin>>(h);
  On<arith::MaxUIOp, IntegerChoice<arith::MaxUIOp, llvm::Intrinsic::umax>>(h);
  On<arith::MinUIOp, IntegerChoice<arith::MinUIOp, llvm::Intrinsic::umin>>(h);
  On<arith::CmpIOp, Compare>(h);
}

void AddFloats(Translator::Handlers& h) {
  On<arith::AddFOp, FloatBinary<arith::AddFOp, Instruction::FAdd>>(h);
  On<arith::SubFOp, FloatBinary<arith::SubFOp, Instruction::FSub>>(h);
  On<arith::MulFOp, FloatBinary<arith::MulFOp, Instruction::FMul>>(h);
  On<arith::DivFOp, FloatBinary<arith::DivFOp, Instruction::FDiv>>(h);
  On<arith::RemFOp, FloatBinary<arith::RemFOp, Instruction::FRem>>(h);
  On<arith::MaximumFOp, FloatChoice<arith::MaximumFOp, llvm::Intrinsic::maximum>>(h);
  On<arith::MinimumFOp, FloatChoice<arith::MinimumFOp, llvm::Intrinsic::minimum>>(h);
  On<arith::MaxNumFOp, FloatChoice<arith::MaxNumFOp, llvm::Intrinsic::maxnum>>(h);
  On<arith::MinNumFOp, FloatChoice<arith::MinNumFOp, llvm::Intrinsic::minnum>>(h);
  On<arith::NegFOp, Negate>(h);
  On<arith::CmpFOp, CompareFloats>(h);
}

void AddCasts(Translator::Handlers& h) {
  On<arith::ExtUIOp, Cast<arith::ExtUIOp, Instruction::ZExt>>(h);
  On<arith::ExtSIOp, Cast<arith::ExtSIOp, Instruction::SExt>>(h);
  On<arith::TruncIOp, Cast<arith::TruncIOp, Instruction::Trunc>>(h);
  On<arith::ExtFOp, Cast<arith::ExtFOp, Instruction::FPExt>>(h);
  On<arith::TruncFOp, Cast<arith::TruncFOp, Instruction::FPTrunc>>(h);
  On<arith::SIToFPOp, Cast<arith::SIToFPOp, Instruction::SIToFP>>(h);
  On<arith::UIToFPOp, Cast<arith::UIToFPOp, Instruction::UIToFP>>(h);
  On<arith::FPToSIOp, Cast<arith::FPToSIOp, Instruction::FPToSI>>(h);
  On<arith::FPToUIOp, Cast<arith::FPToUIOp, Instruction::FPToUI>>(h);
  On<arith::BitcastOp, Cast<arith::BitcastOp, Instruction::BitCast>>(h);
  On<arith::IndexCastOp, IndexCast<arith::IndexCastOp, true>>(h);
  On<arith::IndexCastUIOp, IndexCast<arith::IndexCastUIOp, false>>(h);
}

}  // namespace

void AddArithHandlers(Translator::Handlers& h) {
  On<arith::ConstantOp, Constant>(h);
  On<arith::SelectOp, Select>(h);
  AddIntegers(h);
  AddFloats(h);
  AddCasts(h);
}

}  // namespace tandem

// Translates the ops of math, to intrinsics where LLVM makes instructions of them, otherwise to calls of the C library.
#include "llvm/IR/Intrinsics.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/codegen/lower_math.h"
#include "passes/codegen/translator.h"

namespace tandem {
namespace {

namespace math = mlir::math;

// Translates a float op with one operand to an intrinsic.
template <typename Op, llvm::Intrinsic::ID kId>
void Unary(Translator& t, Op op) {
  FastMath flags(t, op);
  t.Set(op, t.b.CreateUnaryIntrinsic(kId, t[op.getOperand()]));
}

void ReciprocalRoot(Translator& t, math::RsqrtOp op) {
  FastMath flags(t, op);
  llvm::Value* root = t.b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, t[op.getOperand()]);
  t.Set(op, t.b.CreateFDiv(llvm::ConstantFP::get(root->getType(), 1.0), root));
}

void MultiplyAdd(Translator& t, math::FmaOp op) {
  FastMath flags(t, op);
  t.Set(op,
        t.b.CreateIntrinsic(llvm::Intrinsic::fma, {t.Type(op.getType())}, {t[op.getA()], t[op.getB()], t[op.getC()]}));
}

void CopySign(Translator& t, math::CopySignOp op) {
  FastMath flags(t, op);
  t.Set(op, t.b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, t[op.getLhs()], t[op.getRhs()]));
}

// Translates an integer op with one operand to an intrinsic. The intrinsic's flag, false here, would make the result
// for one operand (0 or the least number) undefined.
template <typename Op, llvm::Intrinsic::ID kId>
void IntegerUnary(Translator& t, Op op) {
  t.Set(op, t.b.CreateIntrinsic(kId, {t.Type(op.getType())}, {t[op.getOperand()], t.b.getFalse()}));
}

template <typename Op>
void Libm(Translator& t, Op op) {
  const std::string name = LibmFunction(op);
  if (name.empty()) return t.Fail(op);
  llvm::SmallVector<llvm::Value*> arguments;
  llvm::SmallVector<llvm::Type*> types;
  for (mlir::Value operand : op->getOperands()) {
    arguments.push_back(t[operand]);
    types.push_back(t.Type(operand.getType()));
  }
  auto* type = llvm::FunctionType::get(t.Type(op.getType()), types, false);
  t.Set(op, t.b.CreateCall(t.module().getOrInsertFunction(name, type), arguments));
}

template <typename... Ops>
void OnLibm(Translator::Handlers& handlers) {
  (On<Ops, Libm<Ops>>(handlers), ...);
}

}  // namespace

void AddMathHandlers(Translator::Handlers& h) {
  On<math::AbsFOp, Unary<math::AbsFOp, llvm::Intrinsic::fabs>>(h);
  On<math::CeilOp, Unary<math::CeilOp, llvm::Intrinsic::ceil>>(h);
  On<math::FloorOp, Unary<math::FloorOp, llvm::Intrinsic::floor>>(h);
  On<math::RoundOp, Unary<math::RoundOp, llvm::Intrinsic::round>>(h);
  On<math::RoundEvenOp, Unary<math::RoundEvenOp, llvm::Intrinsic::roundeven>>(h);
  On<math::TruncOp, Unary<math::TruncOp, llvm::Intrinsic::trunc>>(h);
  On<math::SqrtOp, Unary<math::SqrtOp, llvm::Intrinsic::sqrt>>(h);
  On<math::RsqrtOp, ReciprocalRoot>(h);
  On<math::FmaOp, MultiplyAdd>(h);
  On<math::CopySignOp, CopySign>(h);
  On<math::AbsIOp, IntegerUnary<math::AbsIOp, llvm::Intrinsic::abs>>(h);
  On<math::CountLeadingZerosOp, IntegerUnary<math::CountLeadingZerosOp, llvm::Intrinsic::ctlz>>(h);
  OnLibm<math::ExpOp, math::Exp2Op, math::ExpM1Op, math::LogOp, math::Log2Op, math::Log1pOp, math::Log10Op,
         math::TanhOp, math::ErfOp, math::PowFOp, math::SinOp, math::CosOp, math::AtanOp, math::Atan2Op>(h);
}

}  // namespace tandem

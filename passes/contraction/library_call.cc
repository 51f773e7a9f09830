// Computes a contraction by a kernel library's primitive.
#include "graph/ir/contract.h"
#include "passes/analysis/cost_model.h"
#include "passes/contraction/library_calls.h"

namespace tandem {
namespace {

// Direct convolutions of bfloat16 images, measured on layers of the model S0 (small images) and of ResNet-50: the
// forward pass reaches the library's rate, and the input gradient kBFloat16InputGrad of it. A filter gradient takes
// kBFloat16FilterGradCall seconds more per call, which matters for small images.
constexpr double kBFloat16InputGrad = 0.9;
constexpr double kBFloat16FilterGradCall = 35e-6;

double Elements(mlir::Value v, int64_t rows) {
  double elements = 1;
  for (int64_t d : td::TypeOf(v).getShape()) elements *= mlir::ShapedType::isDynamic(d) ? rows : d;
  return elements;
}

std::optional<Weighing> WeighLibraryOp(const Contraction& c) { return Profitable(LibrarySeconds(c)); }

Weighing WeighPrimitive(const format::LibraryCall&, const CallContext&) { return Profitable(); }

}  // namespace

double LibrarySeconds(const Contraction& c) {
  const bool bfloat16 = td::TypeOf(c.op->getOperand(0)).getElementType().isBF16();
  const int64_t rows = c.microbatches.rows;
  Work work;
  if (auto cost = mlir::dyn_cast<td::CostOp>(c.op)) {
    const bool batched = llvm::any_of(c.op->getOperandTypes(), td::IsBatched);
    (bfloat16 ? work.library_bf16_flops : work.library_flops) =
        static_cast<double>(cost.getFlops()) * (batched ? rows : 1);
  }
  for (mlir::Value v : {c.spec.x, c.spec.kernel, c.spec.y}) work.bytes += (bfloat16 ? 2.0 : 4.0) * Elements(v, rows);
  work.library_calls = 1;
  const double seconds = CostOf(c.machine, work).seconds;
  if (!bfloat16) return seconds;
  if (mlir::isa<td::Conv2DInputGradOp>(c.op)) return seconds / kBFloat16InputGrad;
  return mlir::isa<td::Conv2DFilterGradOp>(c.op) ? seconds + kBFloat16FilterGradCall : seconds;
}

extern const Candidate kLibraryCall = {exec::Algorithm::kLibrary, Lowering::kLibrary, WeighLibraryOp, LowerToCall,
                                       WeighPrimitive};

}  // namespace tandem

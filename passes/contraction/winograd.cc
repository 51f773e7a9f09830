// Computes 3x3 convolutions with stride 1, and their gradients, by Winograd's algorithm: with fewer multiplications, in
// generated kernels. Errors and where it is profitable: docs/developers/winograd.md.
//
// Kernels are transformed at the top of the step, once for all microbatches. If nothing else reads the convolution's
// result, the bias, residual and relu that follow become its epilogue. Images, kernel and bias may be bfloat16. Results
// are rounded to bfloat16 after the epilogue. On a CPU that multiplies bfloat16 numbers faster than float32 numbers the
// transformed values are rounded to bfloat16 too.
#include "passes/exec/winograd.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "graph/ir/contract.h"
#include "mlir/IR/Matchers.h"
#include "passes/base/pass_util.h"
#include "passes/contraction/candidate.h"
#include "passes/contraction/epilogue.h"
#include "passes/contraction/winograd_cost.h"

namespace tandem {
namespace {

constexpr double kMargin = 1.1;  // Winograd must be faster by this factor, since times are estimates
constexpr int64_t kMaxPad = 2;

std::optional<WinogradRole> RoleOf(mlir::Operation* op) {
  if (mlir::isa<td::Conv2DOp>(op)) return WinogradRole::kForward;
  if (mlir::isa<td::Conv2DInputGradOp>(op)) return WinogradRole::kInputGrad;
  if (mlir::isa<td::Conv2DFilterGradOp>(op)) return WinogradRole::kFilterGrad;
  return std::nullopt;
}

// Returns why Winograd's algorithm cannot compute the op; "" if it can.
std::string WhyNoWinograd(const Contraction& c) {
  const td::LibraryCallSpec& spec = c.spec;
  for (mlir::Value v : {spec.x, spec.kernel, spec.y}) {
    const mlir::Type element = td::TypeOf(v).getElementType();
    if (!element.isF32() && !element.isBF16()) return "it computes in float32 and bfloat16";
  }
  // The gradient of a kernel must be float32, since the gradients of all lanes (parts of the batch) are added up.
  if (spec.weights < 0 && !td::TypeOf(spec.kernel).getElementType().isF32()) return "its gradients are float32";
  if (!td::IsBatched(spec.x.getType()) || !td::IsBatched(spec.y.getType())) return "it is of batched images only";
  llvm::ArrayRef<int64_t> kernel = td::TypeOf(spec.kernel).getShape();
  if (kernel[0] != 3 || kernel[1] != 3) return absl::StrCat("a kernel of ", kernel[0], "x", kernel[1], " is not 3x3");
  for (int i = 0; i < 2; ++i) {
    if (spec.strides[i] != 1) return absl::StrCat("a stride of ", spec.strides[i], " is not 1");
    if (spec.pad_low[i] > kMaxPad || spec.pad_high[i] > kMaxPad) return "it pads by more than 2";
  }
  if (spec.weights < 0) return "";
  // A kernel that the map (loop over microbatches) itself computes cannot be transformed in front of the map.
  mlir::Value weights = c.op->getOperand(spec.weights);
  const bool outside =
      c.microbatches.known ? mlir::isa<mlir::BlockArgument>(weights) : !mlir::matchPattern(weights, mlir::m_Constant());
  return outside ? "" : "its kernel is computed where it is used";
}

WinogradShape ShapeOf(const Contraction& c, WinogradRole role) {
  llvm::ArrayRef<int64_t> x = td::TypeOf(c.spec.x).getShape(), y = td::TypeOf(c.spec.y).getShape();
  WinogradShape shape = {x[1], x[2], y[1], y[2], x[3], y[3], c.spec.pad_low[0], c.spec.pad_low[1], 0, 0};
  const auto is_bfloat16 = [](mlir::Value v) { return td::TypeOf(v).getElementType().isBF16(); };
  shape.bfloat16_products = is_bfloat16(c.op->getOperand(0)) && c.target.has_bfloat16_products() &&
                            c.machine.vector_bf16 > c.machine.vector_f32;
  shape.bfloat16_dx = role == WinogradRole::kInputGrad && is_bfloat16(c.op->getResult(0));
  shape.tile = c.tile;
  return shape;
}

std::optional<Weighing> WeighWinograd(const Contraction& c) {
  const std::optional<WinogradRole> role = RoleOf(c.op);
  if (!role || !c.target.generates_contractions()) return std::nullopt;
  if (std::string why = WhyNoWinograd(c); !why.empty()) return Unable(std::move(why));
  if (c.config.isStrictFloat32()) return Unable("strict_float32 has a direct convolution's errors");
  const WinogradChoice best =
      BestWinograd(c.machine, ShapeOf(c, *role), *role, c.microbatches.rows, c.microbatches.count);
  Weighing weighing = Profitable(best.seconds);
  weighing.tile = best.tile;
  weighing.block = best.block;
  if (best.seconds * kMargin >= LibrarySeconds(c)) {
    weighing.why_not = absl::StrFormat("it is not faster than library by a factor of %.1f", kMargin);
  }
  return weighing;
}

// Inserts the transform of the kernel in front of the map (loop over microbatches), and returns the transformed kernel
// as an argument of the map's body.
mlir::Value Transformed(mlir::Operation* op, const td::LibraryCallSpec& spec, const WinogradShape& s, bool adjoint) {
  auto map = op->getParentOfType<exec::MapMicrobatchesOp>();
  auto argument = mlir::cast<mlir::BlockArgument>(op->getOperand(spec.weights));
  const int64_t rows = adjoint ? s.channels_out : s.channels_in, columns = adjoint ? s.channels_in : s.channels_out;
  mlir::Value plain = map.getOperand(argument.getArgNumber());
  mlir::OpBuilder b = BehindValue(map, plain);
  mlir::Type element = s.bfloat16_products ? mlir::Type(b.getBF16Type()) : mlir::Type(b.getF32Type());
  mlir::Type type = exec::TransformedKernelType(element, s.tile, rows, columns);
  mlir::Value u = b.create<exec::WinogradKernelOp>(op->getLoc(), type, plain, s.tile, adjoint);
  map.getOperandsMutable().append(u);
  return map.getBody().front().addArgument(type, op->getLoc());
}

mlir::LogicalResult LowerWinograd(const Contraction& c, exec::ContractionAttr choice) {
  mlir::Operation* op = c.op;
  const td::LibraryCallSpec& spec = c.spec;
  const WinogradRole role = *RoleOf(op);
  WinogradShape s = ShapeOf(c, role);
  s.tile = choice.getTile();
  s.block = choice.getBlock();
  mlir::Type scratch = exec::ScratchType(op->getContext(), s, role == WinogradRole::kFilterGrad);
  mlir::OpBuilder b(op);
  mlir::Location loc = op->getLoc();
  if (role == WinogradRole::kForward) {
    const EpilogueOps epilogue = EpilogueOf(
        op, [](mlir::Value bias) { return bias; }, [](td::AddOp, mlir::Value) { return true; });
    mlir::Value kernel = Transformed(op, spec, s, false);
    b.setInsertionPoint(epilogue.last());
    auto conv = b.create<exec::WinogradConv2DOp>(loc, epilogue.last()->getResult(0).getType(), scratch, spec.x, kernel,
                                                 epilogue.bias, epilogue.residual, s.tile, s.block, spec.pad_low,
                                                 epilogue.relu);
    ReplaceAll(epilogue, conv.getOutput());
    return mlir::success();
  }
  if (role == WinogradRole::kInputGrad) {
    mlir::Value kernel = Transformed(op, spec, s, true);
    auto grad = b.create<exec::WinogradInputGradOp>(loc, op->getResult(0).getType(), scratch, spec.y, kernel, s.tile,
                                                    s.block, spec.pad_low);
    op->getResult(0).replaceAllUsesWith(grad.getDx());
  } else {
    auto grad = b.create<exec::WinogradFilterGradOp>(loc, op->getResult(0).getType(), scratch, spec.x, spec.y, s.tile,
                                                     s.block, spec.pad_low, s.bfloat16_products);
    op->getResult(0).replaceAllUsesWith(grad.getDkernel());
  }
  op->erase();
  return mlir::success();
}

}  // namespace

const Candidate kWinograd = {exec::Algorithm::kWinograd, Lowering::kInMaps, WeighWinograd, LowerWinograd};

}  // namespace tandem

// exec.contraction: types and reference semantics, which are those of ops of td, and scalar code.
#include "passes/exec/contraction.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/ir/contract.h"
#include "graph/ir/message.h"
#include "graph/ir/reference_util.h"
#include "graph/ir/window.h"
#include "passes/exec/algorithm.h"

#define GET_OP_CLASSES
#include "passes/exec/contraction.cc.inc"

namespace tandem::exec {

using mlir::RankedTensorType;
using mlir::Value;
using mlir::ValueRange;
using td::BatchRule;
using td::Conv2DFilterGradOp;
using td::Conv2DOp;
using td::ElementalContext;
using td::FusionKind;
using td::IsBatched;
using td::MatMulOp;
using td::RefContext;
using td::RefTensor;
using td::RowElements;
using td::Str;
using td::TypeOf;
using td::WindowEmitter;

void ExecDialect::registerContractions() {
  addOperations<
#define GET_OP_LIST
#include "passes/exec/contraction.cc.inc"
      >();
}

bool IsContraction(mlir::Operation* op, ContractionKind kind, Algorithm algorithm) {
  auto contraction = mlir::dyn_cast<ContractionOp>(op);
  return contraction && contraction.getKind() == kind && contraction.getAlgorithm() == algorithm;
}

std::string ReportedName(mlir::Operation* op) {
  const std::string name = op->getName().getStringRef().str();
  auto contraction = mlir::dyn_cast<ContractionOp>(op);
  if (!contraction) return name;
  return absl::StrCat(name, "(", stringifyContractionKind(contraction.getKind()).str(), ",",
                      stringifyAlgorithm(contraction.getAlgorithm()).str(), ")");
}

int64_t TapsOf(mlir::Type kernel) {
  llvm::ArrayRef<int64_t> shape = mlir::cast<RankedTensorType>(kernel).getShape();
  return shape[0] * shape[1] * shape[2];
}

int64_t LinesBytes(mlir::Type x, mlir::Type kernel, llvm::ArrayRef<int64_t> pad_low, llvm::ArrayRef<int64_t> pad_high) {
  llvm::ArrayRef<int64_t> image = mlir::cast<RankedTensorType>(x).getShape();
  const int64_t lines = mlir::cast<RankedTensorType>(kernel).getDimSize(0);
  return 4 * lines * (image[2] + pad_low[1] + pad_high[1]) * image[3];
}

namespace {

PackedShape MakePackedShape(Value x, Value dy, llvm::ArrayRef<int64_t> size, llvm::ArrayRef<int64_t> strides,
                            llvm::ArrayRef<int64_t> pad_low) {
  llvm::ArrayRef<int64_t> in = TypeOf(x).getShape(), out = TypeOf(dy).getShape();
  PackedShape s;
  s.height = in[1], s.width = in[2], s.channels_in = in[3];
  s.out_height = out[1], s.out_width = out[2], s.channels_out = out[3];
  for (int d = 0; d < 2; ++d) {
    s.kernel[d] = size[d];
    s.stride[d] = strides[d];
    s.pad_low[d] = pad_low[d];
  }
  return s;
}

bool HasCode(ContractionKind kind, Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::kFewTaps:
      return kind != ContractionKind::kMatMul;
    case Algorithm::kLowChannel:
      return kind == ContractionKind::kConv2D;
    case Algorithm::kWeightGradBlocks:
      return kind != ContractionKind::kConv2D;
    case Algorithm::kFilterGradTiles:
      return kind == ContractionKind::kConv2DFilterGrad;
    default:
      return false;
  }
}

// True if the first operand is dy, the gradient of the output, and the second is x.
bool BeginsWithDy(ContractionKind kind, Algorithm algorithm) {
  return kind == ContractionKind::kConv2DFilterGrad && algorithm == Algorithm::kFewTaps;
}

}  // namespace

PackedShape PackedShapeOf(ContractionOp op) {
  return MakePackedShape(op.getX(), op.getY(), op.getSize(), op.getStrides(), op.getPadLow());
}

Value ContractionOp::getX() { return BeginsWithDy(getKind(), getAlgorithm()) ? getB() : getA(); }
Value ContractionOp::getWeights() { return getKind() == ContractionKind::kConv2D ? getB() : getOutput(); }
Value ContractionOp::getY() {
  if (getKind() == ContractionKind::kConv2D) return getOutput();
  return BeginsWithDy(getKind(), getAlgorithm()) ? getA() : getB();
}

llvm::LogicalResult ContractionOp::inferReturnTypes(mlir::MLIRContext* context, std::optional<mlir::Location> loc,
                                                    ValueRange operands, mlir::DictionaryAttr attributes,
                                                    mlir::OpaqueProperties properties, mlir::RegionRange regions,
                                                    llvm::SmallVectorImpl<mlir::Type>& types) {
  const Properties& p = *properties.as<Properties*>();
  const ContractionKind kind = p.kind.getValue();
  const Algorithm algorithm = p.algorithm.getValue();
  const auto f32_result = mlir::UnitAttr::get(context);
  if (kind == ContractionKind::kMatMul) {
    MatMulOp::Properties q;
    q.transpose_a = mlir::BoolAttr::get(context, true);
    q.f32_result = f32_result;
    return MatMulOp::inferReturnTypes(context, loc, operands, attributes, &q, regions, types);
  }
  if (kind == ContractionKind::kConv2D) {
    Conv2DOp::Properties q;
    q.strides = p.strides;
    q.pad_low = p.pad_low;
    q.pad_high = p.pad_high;
    q.f32_result = f32_result;
    return Conv2DOp::inferReturnTypes(context, loc, operands, attributes, &q, regions, types);
  }
  Conv2DFilterGradOp::Properties q;
  q.size = p.size;
  q.strides = p.strides;
  q.pad_low = p.pad_low;
  q.pad_high = p.pad_high;
  q.f32_result = f32_result;
  llvm::SmallVector<Value> x_dy(operands);
  if (BeginsWithDy(kind, algorithm)) std::swap(x_dy[0], x_dy[1]);
  if (failed(Conv2DFilterGradOp::inferReturnTypes(context, loc, x_dy, attributes, &q, regions, types))) {
    return mlir::failure();
  }
  if (algorithm == Algorithm::kFilterGradTiles) {
    const PackedShape shape = MakePackedShape(x_dy[0], x_dy[1], p.size, p.strides, p.pad_low);
    types.push_back(FloatScratchType(context, PackedScratch(shape).floats));
  }
  return mlir::success();
}

llvm::LogicalResult ContractionOp::verify() {
  if (!HasCode(getKind(), getAlgorithm())) {
    return emitOpError() << "has no code for " << stringifyContractionKind(getKind()) << " by "
                         << stringifyAlgorithm(getAlgorithm());
  }
  if (llvm::any_of(getSize(), [](int64_t n) { return n < 1; })) {
    return emitOpError() << "size " << Str(getSize()) << " must be at least 1";
  }
  if (getAlgorithm() != Algorithm::kFilterGradTiles) return mlir::success();
  RankedTensorType x = TypeOf(getA()), dy = TypeOf(getB());
  const auto is_packable = [](RankedTensorType t) {
    return t.getRank() == 4 && IsBatched(t) && t.getElementType().isBF16();
  };
  if (!is_packable(x) || !is_packable(dy)) {
    return emitOpError() << "needs batched bfloat16 images [batch, height, width, channels], not " << x << " and "
                         << dy;
  }
  if (x.getDimSize(3) % kTileRows != 0 || dy.getDimSize(3) % kTileRows != 0) {
    return emitOpError() << "needs multiples of " << kTileRows << " channels, not " << x.getDimSize(3) << " and "
                         << dy.getDimSize(3);
  }
  return mlir::success();
}

BatchRule ContractionOp::getBatchRule() {
  if (getKind() == ContractionKind::kConv2D) return BatchRule::kPerExample;
  return getAlgorithm() == Algorithm::kWeightGradBlocks ? BatchRule::kScatter : BatchRule::kBatchSum;
}

// Operations of one row: each element of y is a sum of products with all weights of its output channel.
int64_t ContractionOp::getFlops() {
  RankedTensorType weights = TypeOf(getWeights());
  return 2 * RowElements(getY().getType()) * (RowElements(weights) / weights.getShape().back());
}

FusionKind ContractionOp::getFusionKind() {
  const bool fuses = getAlgorithm() == Algorithm::kFewTaps || getAlgorithm() == Algorithm::kLowChannel;
  return fuses ? FusionKind::kWindow : FusionKind::kNone;
}

namespace {

// Builds the td op that computes the same as `op`.
mlir::Operation* BuildSame(ContractionOp op) {
  mlir::OpBuilder b(op.getContext());
  if (op.getKind() == ContractionKind::kMatMul) {
    return b.create<MatMulOp>(op.getLoc(), op.getX(), op.getY(), /*transpose_a=*/true, /*transpose_b=*/false,
                              /*f32_result=*/true);
  }
  if (op.getKind() == ContractionKind::kConv2D) {
    return b.create<Conv2DOp>(op.getLoc(), op.getX(), op.getWeights(), op.getStrides(), op.getPadLow(), op.getPadHigh(),
                              /*f32_result=*/true);
  }
  return b.create<Conv2DFilterGradOp>(op.getLoc(), op.getX(), op.getY(), op.getSize(), op.getStrides(), op.getPadLow(),
                                      op.getPadHigh(), /*f32_result=*/true);
}

}  // namespace

ContractionOp BuildContraction(mlir::OpBuilder& builder, mlir::Operation* op, Algorithm algorithm) {
  if (auto product = mlir::dyn_cast<MatMulOp>(op)) {
    return builder.create<ContractionOp>(op->getLoc(), ContractionKind::kMatMul, product.getA(), product.getB(),
                                         algorithm);
  }
  if (auto forward = mlir::dyn_cast<Conv2DOp>(op)) {
    return builder.create<ContractionOp>(op->getLoc(), ContractionKind::kConv2D, forward.getX(), forward.getKernel(),
                                         algorithm, llvm::ArrayRef<int64_t>(), forward.getStrides(),
                                         forward.getPadLow(), forward.getPadHigh());
  }
  constexpr ContractionKind kKind = ContractionKind::kConv2DFilterGrad;
  auto grad = mlir::cast<Conv2DFilterGradOp>(op);
  Value a = grad.getX(), b = grad.getDy();
  if (BeginsWithDy(kKind, algorithm)) std::swap(a, b);
  return builder.create<ContractionOp>(op->getLoc(), kKind, a, b, algorithm, grad.getSize(), grad.getStrides(),
                                       grad.getPadLow(), grad.getPadHigh());
}

absl::Status ContractionOp::evaluate(absl::Span<const RefTensor* const> operands, const RefContext& context,
                                     std::vector<RefTensor>& results) {
  if (getScratch()) results[1] = td::MakeResult(getScratch().getType(), context.batch);
  const RefTensor* of_same[] = {operands[0], operands[1]};
  if (BeginsWithDy(getKind(), getAlgorithm())) std::swap(of_same[0], of_same[1]);
  mlir::Operation* same = BuildSame(*this);
  absl::Status status = mlir::cast<td::ReferenceOp>(same).evaluate(of_same, context, results);
  same->erase();
  return status;
}

namespace {

// Returns an element of a convolution: the sum over all taps.
Value EmitConvolution(WindowEmitter& e, ElementalContext& c, llvm::ArrayRef<int64_t> kernel, ValueRange indices) {
  Value sum;
  for (int64_t ky = 0; ky < kernel[0]; ++ky) {
    for (int64_t kx = 0; kx < kernel[1]; ++kx) {
      for (int64_t i = 0; i < kernel[2]; ++i) {
        Value channel = e.Index(i);
        Value x = e.Tap(c, 0, indices, ky, kx, channel);
        Value w = c.Operand(1, {e.Index(ky), e.Index(kx), channel, indices[3]});
        sum = e.AddF(sum, e.MulF(x, w));
      }
    }
  }
  return sum;
}

// Returns what an element of dy adds to an element of its filter gradient. `indices`: those of the element of dy, then
// those of an element of the result in the same output channel.
Value EmitFilterGradAddend(WindowEmitter& e, ElementalContext& c, ValueRange indices) {
  int64_t tap[2] = {0, 0};
  for (int i = 0; i < 2; ++i) {
    if (auto constant = indices[4 + i].getDefiningOp<mlir::arith::ConstantIndexOp>()) tap[i] = constant.value();
  }
  return e.MulF(c.Operand(0, indices.take_front(4)), e.Tap(c, 1, indices, tap[0], tap[1], indices[6]));
}

}  // namespace

Value ContractionOp::emitElement(ElementalContext& c, unsigned, ValueRange indices) {
  llvm::ArrayRef<int64_t> kernel = TypeOf(getWeights()).getShape();
  WindowEmitter e(c, td::GetWindowGeometry(getX().getType(), getY().getType(), kernel, getStrides(), getPadLow()));
  return getKind() == ContractionKind::kConv2D ? EmitConvolution(e, c, kernel, indices)
                                               : EmitFilterGradAddend(e, c, indices);
}

}  // namespace tandem::exec

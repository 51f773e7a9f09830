// td.depthwise_conv2d and its gradients: types, reference semantics and generated code.
#include "graph/ir/contract.h"
#include "graph/ir/convolution.h"
#include "graph/ir/message.h"
#include "graph/ir/reference_util.h"
#include "graph/ir/window.h"

namespace tandem::td {

using llvm::failed;
using mlir::emitOptionalError;
using mlir::failure;
using mlir::RankedTensorType;
using mlir::success;
using mlir::Value;
using mlir::ValueRange;

namespace {

using Ints = llvm::ArrayRef<int64_t>;
using Types = llvm::SmallVectorImpl<mlir::Type>;
using MaybeLocation = std::optional<mlir::Location>;

llvm::LogicalResult CheckOperands(MaybeLocation loc, Value image, Value other, llvm::StringRef other_name) {
  RankedTensorType a = TypeOf(image), b = TypeOf(other);
  if (failed(CheckSameElementType(loc, a, b))) return failure();
  if (a.getRank() != 4 || b.getRank() != 4) {
    return emitOptionalError(loc, "image ", Str(image), " and ", other_name, " ", Str(other),
                             " must have 4 dimensions");
  }
  return success();
}

// Fails unless each of the `out` channels can read one of the `in` channels.
llvm::LogicalResult CheckChannels(MaybeLocation loc, int64_t in, int64_t out) {
  if (in > 0 && out % in == 0) return success();
  return emitOptionalError(loc, "has ", out, " output channels, which is no multiple of the input's ", in);
}

llvm::LogicalResult CheckKernel(MaybeLocation loc, Value kernel) {
  if (TypeOf(kernel).getDimSize(2) == 1) return success();
  return emitOptionalError(loc, "kernel ", Str(kernel), " must be [height, width, 1, channels x multiplier]");
}

// Calls f(image index, output index, kernel index) for every pair of an output element and a tap inside the image.
template <typename F>
void ForEachTap(const Shape& x, const Shape& y, const WindowGeometry& g, F f) {
  const int64_t multiplier = y[3] / x[3], kh = g.axes[0].window, kw = g.axes[1].window;
  ForEachIndex(y, [&](const Shape& at, int64_t out) {
    for (int64_t ky = 0; ky < kh; ++ky) {
      for (int64_t kx = 0; kx < kw; ++kx) {
        const int64_t iy = at[1] * g.axes[0].stride + ky - g.axes[0].low;
        const int64_t ix = at[2] * g.axes[1].stride + kx - g.axes[1].low;
        if (iy < 0 || iy >= x[1] || ix < 0 || ix >= x[2]) continue;
        f(((at[0] * x[1] + iy) * x[2] + ix) * x[3] + at[3] / multiplier, out, (ky * kw + kx) * y[3] + at[3]);
      }
    }
  });
}

// Returns the input channel that output channel `o` reads.
Value InputChannel(ElementalContext& c, WindowEmitter& e, Value o, int64_t in, int64_t out) {
  return in == out ? o : Value(c.builder().create<mlir::arith::DivUIOp>(c.loc(), o, e.Index(out / in)));
}

}  // namespace

// td.depthwise_conv2d

llvm::LogicalResult DepthwiseConv2DOp::inferReturnTypes(mlir::MLIRContext*, MaybeLocation loc, ValueRange operands,
                                                        mlir::DictionaryAttr, mlir::OpaqueProperties properties,
                                                        mlir::RegionRange, Types& types) {
  const Properties& p = *properties.as<Properties*>();
  if (failed(CheckGeometry(loc, p.strides, p.pad_low, p.pad_high)) ||
      failed(CheckOperands(loc, operands[0], operands[1], "kernel")) || failed(CheckKernel(loc, operands[1]))) {
    return failure();
  }
  RankedTensorType x = TypeOf(operands[0]), k = TypeOf(operands[1]);
  if (failed(CheckChannels(loc, x.getDimSize(3), k.getDimSize(3)))) return failure();
  Ints strides = p.strides, low = p.pad_low, high = p.pad_high;
  llvm::SmallVector<int64_t> shape = {x.getDimSize(0), 0, 0, k.getDimSize(3)};
  for (int i = 0; i < 2; ++i) {
    const int64_t room = x.getDimSize(1 + i) + low[i] + high[i] - k.getDimSize(i);
    if (room < 0)
      return emitOptionalError(loc, "input ", Str(operands[0]), " is smaller than the kernel ", Str(operands[1]));
    shape[1 + i] = room / strides[i] + 1;
  }
  types.push_back(RankedTensorType::get(shape, x.getElementType()));
  return success();
}

BatchRule DepthwiseConv2DOp::getBatchRule() { return BatchRule::kPerExample; }
int64_t DepthwiseConv2DOp::getFlops() {
  RankedTensorType k = TypeOf(getKernel());
  return 2 * RowElements(getType()) * k.getDimSize(0) * k.getDimSize(1);
}

LibraryCallSpec DepthwiseConv2DOp::getLibraryCallSpec() {
  LibraryCallSpec spec = ConvolutionSpec(LibraryPrimitive::kConv2D, getX(), getKernel(), getResult(), getStrides(),
                                         getPadLow(), getPadHigh());
  spec.weights = 1;
  spec.takes_epilogue = true;
  return spec;
}

absl::Status DepthwiseConv2DOp::evaluate(absl::Span<const RefTensor* const> operands, const RefContext&,
                                         std::vector<RefTensor>& results) {
  const RefTensor &x = *operands[0], &k = *operands[1];
  RefTensor y = MakeResult(getType(), x.shape[0]);
  ForEachTap(x.shape, y.shape,
             GetWindowGeometry(getX().getType(), getType(), TypeOf(getKernel()).getShape(), getStrides(), getPadLow()),
             [&](int64_t xi, int64_t yi, int64_t ki) { y.values[yi] += x.values[xi] * k.values[ki]; });
  results[0] = std::move(y);
  return absl::OkStatus();
}

Value DepthwiseConv2DOp::emitElement(ElementalContext& c, unsigned, ValueRange indices) {
  RankedTensorType k = TypeOf(getKernel());
  WindowEmitter e(c, GetWindowGeometry(getX().getType(), getType(), k.getShape(), getStrides(), getPadLow()));
  Value channel = InputChannel(c, e, indices[3], TypeOf(getX()).getDimSize(3), k.getDimSize(3)), sum;
  for (int64_t ky = 0; ky < k.getDimSize(0); ++ky) {
    for (int64_t kx = 0; kx < k.getDimSize(1); ++kx) {
      Value w = c.Operand(1, {e.Index(ky), e.Index(kx), e.Index(0), indices[3]});
      sum = e.AddF(sum, e.MulF(e.Tap(c, 0, indices, ky, kx, channel), w));
    }
  }
  return sum;
}

llvm::LogicalResult DepthwiseConv2DOp::buildGradient(mlir::OpBuilder& b, ValueRange result_grads,
                                                     llvm::SmallVectorImpl<Value>& operand_grads) {
  operand_grads[0] = b.create<DepthwiseConv2DInputGradOp>(getLoc(), result_grads[0], getKernel(),
                                                          TypeOf(getX()).getShape().take_back(3), getStrides(),
                                                          getPadLow(), getPadHigh());
  operand_grads[1] = b.create<DepthwiseConv2DFilterGradOp>(getLoc(), result_grads[0], getX(),
                                                           TypeOf(getKernel()).getShape().take_front(2), getStrides(),
                                                           getPadLow(), getPadHigh());
  return success();
}

// td.depthwise_conv2d_input_grad

llvm::LogicalResult DepthwiseConv2DInputGradOp::inferReturnTypes(mlir::MLIRContext*, MaybeLocation loc,
                                                                 ValueRange operands, mlir::DictionaryAttr,
                                                                 mlir::OpaqueProperties properties, mlir::RegionRange,
                                                                 Types& types) {
  const Properties& p = *properties.as<Properties*>();
  if (failed(CheckGeometry(loc, p.strides, p.pad_low, p.pad_high)) ||
      failed(CheckOperands(loc, operands[0], operands[1], "kernel")) || failed(CheckKernel(loc, operands[1]))) {
    return failure();
  }
  Ints size = p.size;
  RankedTensorType dy = TypeOf(operands[0]), k = TypeOf(operands[1]);
  if (size.size() != 3)
    return emitOptionalError(loc, "size ", Str(size), " must be the input's height, width and channels");
  if (dy.getDimSize(3) != k.getDimSize(3)) {
    return emitOptionalError(loc, "gradient ", Str(operands[0]), " and kernel ", Str(operands[1]),
                             " differ in channels");
  }
  if (failed(CheckChannels(loc, size[2], k.getDimSize(3)))) return failure();
  types.push_back(RankedTensorType::get({dy.getDimSize(0), size[0], size[1], size[2]}, dy.getElementType()));
  return success();
}

BatchRule DepthwiseConv2DInputGradOp::getBatchRule() { return BatchRule::kPerExample; }
int64_t DepthwiseConv2DInputGradOp::getFlops() {
  RankedTensorType k = TypeOf(getKernel());
  return 2 * RowElements(getDy().getType()) * k.getDimSize(0) * k.getDimSize(1);
}

LibraryCallSpec DepthwiseConv2DInputGradOp::getLibraryCallSpec() {
  LibraryCallSpec spec = ConvolutionSpec(LibraryPrimitive::kConv2DInputGrad, getResult(), getKernel(), getDy(),
                                         getStrides(), getPadLow(), getPadHigh());
  spec.weights = 1;
  return spec;
}

absl::Status DepthwiseConv2DInputGradOp::evaluate(absl::Span<const RefTensor* const> operands, const RefContext&,
                                                  std::vector<RefTensor>& results) {
  const RefTensor &dy = *operands[0], &k = *operands[1];
  RefTensor dx = MakeResult(getType(), dy.shape[0]);
  ForEachTap(dx.shape, dy.shape,
             GetWindowGeometry(getType(), getDy().getType(), TypeOf(getKernel()).getShape(), getStrides(), getPadLow()),
             [&](int64_t xi, int64_t yi, int64_t ki) { dx.values[xi] += dy.values[yi] * k.values[ki]; });
  results[0] = std::move(dx);
  return absl::OkStatus();
}

Value DepthwiseConv2DInputGradOp::emitElement(ElementalContext& c, unsigned, ValueRange indices) {
  RankedTensorType k = TypeOf(getKernel());
  WindowEmitter e(c, GetWindowGeometry(getType(), getDy().getType(), k.getShape(), getStrides(), getPadLow()));
  const int64_t multiplier = k.getDimSize(3) / getType().getDimSize(3);
  return e.SumOverWindows(indices, [&](Value oy, Value ox, Value ky, Value kx) {
    if (getStrides()[0] > 1) ky = e.AtMost(ky, k.getDimSize(0) - 1);
    if (getStrides()[1] > 1) kx = e.AtMost(kx, k.getDimSize(1) - 1);
    Value sum;
    for (int64_t m = 0; m < multiplier; ++m) {
      Value o = indices[3];
      if (multiplier > 1) {
        o = c.builder().create<mlir::arith::MulIOp>(c.loc(), o, e.Index(multiplier));
        o = c.builder().create<mlir::arith::AddIOp>(c.loc(), o, e.Index(m));
      }
      Value dy = c.Operand(0, {indices[0], oy, ox, o}), w = c.Operand(1, {ky, kx, e.Index(0), o});
      sum = e.AddF(sum, e.MulF(dy, w));
    }
    return sum;
  });
}

llvm::LogicalResult DepthwiseConv2DInputGradOp::buildGradient(mlir::OpBuilder& b, ValueRange result_grads,
                                                              llvm::SmallVectorImpl<Value>& operand_grads) {
  // dx is linear in dy and in the kernel, so the gradients for both are a convolution and a filter gradient.
  operand_grads[0] =
      b.create<DepthwiseConv2DOp>(getLoc(), result_grads[0], getKernel(), getStrides(), getPadLow(), getPadHigh());
  operand_grads[1] = b.create<DepthwiseConv2DFilterGradOp>(getLoc(), getDy(), result_grads[0],
                                                           TypeOf(getKernel()).getShape().take_front(2), getStrides(),
                                                           getPadLow(), getPadHigh());
  return success();
}

// td.depthwise_conv2d_filter_grad

llvm::LogicalResult DepthwiseConv2DFilterGradOp::inferReturnTypes(mlir::MLIRContext*, MaybeLocation loc,
                                                                  ValueRange operands, mlir::DictionaryAttr,
                                                                  mlir::OpaqueProperties properties, mlir::RegionRange,
                                                                  Types& types) {
  const Properties& p = *properties.as<Properties*>();
  if (failed(CheckGeometry(loc, p.strides, p.pad_low, p.pad_high)) ||
      failed(CheckOperands(loc, operands[1], operands[0], "gradient")))
    return failure();
  Ints size = p.size;
  RankedTensorType dy = TypeOf(operands[0]), x = TypeOf(operands[1]);
  if (size.size() != 2) return emitOptionalError(loc, "size ", Str(size), " must be the kernel's height and width");
  if (x.getDimSize(0) != dy.getDimSize(0)) {
    return emitOptionalError(loc, "input ", Str(operands[1]), " and gradient ", Str(operands[0]), " differ in rows");
  }
  if (failed(CheckChannels(loc, x.getDimSize(3), dy.getDimSize(3)))) return failure();
  types.push_back(RankedTensorType::get({size[0], size[1], 1, dy.getDimSize(3)}, dy.getElementType()));
  return success();
}

BatchRule DepthwiseConv2DFilterGradOp::getBatchRule() { return BatchRule::kBatchSum; }
int64_t DepthwiseConv2DFilterGradOp::getFlops() {
  return 2 * RowElements(getDy().getType()) * getSize()[0] * getSize()[1];
}

LibraryCallSpec DepthwiseConv2DFilterGradOp::getLibraryCallSpec() {
  LibraryCallSpec spec = ConvolutionSpec(LibraryPrimitive::kConv2DFilterGrad, getX(), getResult(), getDy(),
                                         getStrides(), getPadLow(), getPadHigh());
  spec.reduces_batch = IsBatched(getX().getType());
  return spec;
}

absl::Status DepthwiseConv2DFilterGradOp::evaluate(absl::Span<const RefTensor* const> operands, const RefContext&,
                                                   std::vector<RefTensor>& results) {
  const RefTensor &dy = *operands[0], &x = *operands[1];
  RefTensor dk = MakeResult(getType(), 0);
  ForEachTap(x.shape, dy.shape,
             GetWindowGeometry(getX().getType(), getDy().getType(), getSize(), getStrides(), getPadLow()),
             [&](int64_t xi, int64_t yi, int64_t ki) { dk.values[ki] += x.values[xi] * dy.values[yi]; });
  results[0] = std::move(dk);
  return absl::OkStatus();
}

// `indices`: the four indices of an element of dy, then the indices of a tap of the kernel in the same channel.
Value DepthwiseConv2DFilterGradOp::emitElement(ElementalContext& c, unsigned, ValueRange indices) {
  RankedTensorType x = TypeOf(getX()), dy = TypeOf(getDy());
  WindowEmitter e(c, GetWindowGeometry(x, dy, getSize(), getStrides(), getPadLow()));
  int64_t tap[2] = {0, 0};
  for (int i = 0; i < 2; ++i) {
    if (auto constant = indices[4 + i].getDefiningOp<mlir::arith::ConstantIndexOp>()) tap[i] = constant.value();
  }
  Value channel = InputChannel(c, e, indices[3], x.getDimSize(3), dy.getDimSize(3));
  return e.MulF(c.Operand(0, indices.take_front(4)), e.Tap(c, 1, indices, tap[0], tap[1], channel));
}

llvm::LogicalResult DepthwiseConv2DFilterGradOp::buildGradient(mlir::OpBuilder& b, ValueRange result_grads,
                                                               llvm::SmallVectorImpl<Value>& operand_grads) {
  // dk, a sum of products of dy and x, is linear in both, so the gradients for them are a convolution and an input
  // gradient.
  operand_grads[0] =
      b.create<DepthwiseConv2DOp>(getLoc(), getX(), result_grads[0], getStrides(), getPadLow(), getPadHigh());
  operand_grads[1] =
      b.create<DepthwiseConv2DInputGradOp>(getLoc(), getDy(), result_grads[0], TypeOf(getX()).getShape().take_back(3),
                                           getStrides(), getPadLow(), getPadHigh());
  return success();
}

}  // namespace tandem::td

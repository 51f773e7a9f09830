#include "graph/ir/contract.h"

#include "absl/strings/str_cat.h"
#include "graph/ir/build.h"
#include "graph/ir/convolution.h"
#include "graph/ir/message.h"
#include "graph/ir/reference_util.h"

#define GET_OP_CLASSES
#include "graph/ir/contract.cc.inc"

namespace tandem::td {

using mlir::emitOptionalError;
using mlir::failure;
using mlir::RankedTensorType;
using mlir::success;
using mlir::Value;
using mlir::ValueRange;

void TdDialect::registerContractOps() {
  addOperations<
#define GET_OP_LIST
#include "graph/ir/contract.cc.inc"
      >();
}

namespace {

using Ints = llvm::ArrayRef<int64_t>;

// Strides and pads of a window that slides over an image.
struct Geometry {
  int64_t strides[2], low[2], high[2];
};

Geometry MakeGeometry(Ints strides, Ints low, Ints high) {
  return {{strides[0], strides[1]}, {low[0], low[1]}, {high[0], high[1]}};
}

llvm::LogicalResult CheckImages(std::optional<mlir::Location> loc, Value image, Value kernel, bool kernel_is_image) {
  RankedTensorType a = TypeOf(image), b = TypeOf(kernel);
  if (failed(CheckSameElementType(loc, a, b))) return failure();
  if (a.getRank() != 4)
    return emitOptionalError(loc, "image ", Str(image), " must have 4 dimensions [batch, height, width, channels]");
  if (b.getRank() != 4) {
    return emitOptionalError(loc, kernel_is_image ? "image " : "kernel ", Str(kernel), " must have 4 dimensions",
                             kernel_is_image ? " [batch, height, width, channels]" : " [height, width, in, out]");
  }
  return success();
}

RankedTensorType WithShape(Value like, Ints shape, bool f32_result) {
  mlir::Type element = TypeOf(like).getElementType();
  return RankedTensorType::get(shape, f32_result ? mlir::Float32Type::get(element.getContext()) : element);
}

// The loops of a convolution: f(row, oy, ox, y, x, ky, kx) for every pair of output pixel and kernel element inside the
// image.
template <typename F>
void ForEachTap(int64_t rows, const Shape& y_shape, const Shape& x_shape, int64_t kh, int64_t kw, const Geometry& g,
                F f) {
  for (int64_t n = 0; n < rows; ++n) {
    for (int64_t oy = 0; oy < y_shape[1]; ++oy) {
      for (int64_t ox = 0; ox < y_shape[2]; ++ox) {
        for (int64_t ky = 0; ky < kh; ++ky) {
          int64_t y = oy * g.strides[0] + ky - g.low[0];
          if (y < 0 || y >= x_shape[1]) continue;
          for (int64_t kx = 0; kx < kw; ++kx) {
            int64_t x = ox * g.strides[1] + kx - g.low[1];
            if (x < 0 || x >= x_shape[2]) continue;
            f(((n * y_shape[1] + oy) * y_shape[2] + ox) * y_shape[3],
              ((n * x_shape[1] + y) * x_shape[2] + x) * x_shape[3], (ky * kw + kx) * x_shape[3] * y_shape[3]);
          }
        }
      }
    }
  }
}

// Floating-point operations for one row: two per tap, input channel and output channel.
int64_t ConvFlops(RankedTensorType y, int64_t kh, int64_t kw, int64_t in_channels) {
  return 2 * y.getDimSize(1) * y.getDimSize(2) * y.getDimSize(3) * kh * kw * in_channels;
}

}  // namespace

// td.matmul

llvm::LogicalResult MatMulOp::inferReturnTypes(mlir::MLIRContext*, std::optional<mlir::Location> loc,
                                               ValueRange operands, mlir::DictionaryAttr,
                                               mlir::OpaqueProperties properties, mlir::RegionRange,
                                               llvm::SmallVectorImpl<mlir::Type>& types) {
  auto* p = properties.as<Properties*>();
  bool ta = p->transpose_a && p->transpose_a.getValue(), tb = p->transpose_b && p->transpose_b.getValue();
  RankedTensorType a = TypeOf(operands[0]), b = TypeOf(operands[1]);
  if (a.getRank() < 2 || b.getRank() < 2) {
    return emitOptionalError(loc, "operands ", Str(operands[0]), " and ", Str(operands[1]), " must be matrices");
  }
  if (failed(CheckSameElementType(loc, a, b))) return failure();
  if (a.getRank() > 2 || b.getRank() > 2) {
    // All dimensions of `a` but the last are its rows: rows of the result too, or (transpose_a) rows that are summed
    // up.
    Ints rows = a.getShape().drop_back();
    bool sums = ta && !tb && rows == b.getShape().drop_back();
    if (!sums && (ta || b.getRank() > 2)) {
      return emitOptionalError(loc, "does not multiply ", Str(operands[0]), ta ? " (transposed)" : "", " by ",
                               Str(operands[1]), tb ? " (transposed)" : "", ": batch_matmul may be meant");
    }
    llvm::SmallVector<int64_t> shape = {a.getShape().back()};
    if (!sums) shape.assign(rows.begin(), rows.end());
    if (!sums && a.getShape().back() != b.getDimSize(tb ? 1 : 0)) {
      return emitOptionalError(loc, "inner sizes of ", Str(operands[0]), " and ", Str(operands[1]),
                               tb ? " (transposed)" : "", " differ");
    }
    shape.push_back(tb ? b.getDimSize(0) : b.getShape().back());
    types.push_back(WithShape(operands[0], shape, p->f32_result != nullptr));
    return success();
  }
  if (a.getDimSize(ta ? 0 : 1) != b.getDimSize(tb ? 1 : 0)) {
    return emitOptionalError(loc, "inner sizes of ", Str(operands[0]), ta ? " (transposed)" : "", " and ",
                             Str(operands[1]), tb ? " (transposed)" : "", " differ");
  }
  int64_t m = a.getDimSize(ta ? 1 : 0), n = b.getDimSize(tb ? 0 : 1);
  if (mlir::ShapedType::isDynamic(n))
    return emitOptionalError(loc, "the batch of ", Str(operands[1]), " would become columns; it must stay dimension 0");
  types.push_back(WithShape(operands[0], {m, n}, p->f32_result != nullptr));
  return success();
}

BatchRule MatMulOp::getBatchRule() {
  if (IsBatched(getA().getType()) && IsBatched(getB().getType())) return BatchRule::kBatchSum;
  return IsBatched(getA().getType()) && !getTransposeA() ? BatchRule::kPerExample : BatchRule::kMixing;
}

int64_t MatMulOp::getFlops() {
  int64_t flops = 2;
  for (int64_t d : TypeOf(getA()).getShape()) flops *= mlir::ShapedType::isDynamic(d) ? 1 : d;
  RankedTensorType b = TypeOf(getB());
  return flops * (getTransposeB() ? b.getDimSize(0) : b.getShape().back());
}

absl::Status MatMulOp::evaluate(absl::Span<const RefTensor* const> operands, const RefContext& context,
                                std::vector<RefTensor>& results) {
  const RefTensor &a = *operands[0], &b = *operands[1];
  RefTensor r = MakeResult(getType(), context.batch);
  // Sizes as stored: rows are all dimensions but the last.
  int64_t columns_a = a.shape.back(), columns_b = b.shape.back();
  int64_t rows_a = NumElements(absl::MakeConstSpan(a.shape).first(a.shape.size() - 1));
  int64_t m = getTransposeA() ? columns_a : rows_a, k = getTransposeA() ? rows_a : columns_a, n = r.shape.back();
  int64_t a_row = getTransposeA() ? 1 : columns_a, a_col = getTransposeA() ? columns_a : 1;
  int64_t b_row = getTransposeB() ? 1 : columns_b, b_col = getTransposeB() ? columns_b : 1;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t l = 0; l < k; ++l) {
      double x = a.values[i * a_row + l * a_col];
      for (int64_t j = 0; j < n; ++j) r.values[i * n + j] += x * b.values[l * b_row + j * b_col];
    }
  }
  results[0] = std::move(r);
  return absl::OkStatus();
}

LibraryCallSpec MatMulOp::getLibraryCallSpec() {
  LibraryCallSpec spec{LibraryPrimitive::kMatMul};
  spec.x = getA();
  spec.kernel = getB();
  spec.y = getResult();
  spec.transpose_a = getTransposeA();
  spec.transpose_b = getTransposeB();
  spec.reduces_batch = IsBatched(getA().getType()) && IsBatched(getB().getType());
  spec.takes_epilogue = true;
  if (!IsBatched(getB().getType())) spec.weights = 1;
  return spec;
}

static Value BuildMatMul(mlir::OpBuilder& b, mlir::Location loc, Value x, Value y, bool tx, bool ty) {
  return b.create<MatMulOp>(loc, x, y, tx, ty).getResult();
}

llvm::LogicalResult MatMulOp::buildGradient(mlir::OpBuilder& builder, ValueRange result_grads,
                                            llvm::SmallVectorImpl<Value>& operand_grads) {
  Value dy = result_grads[0], a = getA(), b = getB();
  bool ta = getTransposeA(), tb = getTransposeB();
  mlir::Location loc = getLoc();
  operand_grads[0] = ta ? BuildMatMul(builder, loc, b, dy, tb, true) : BuildMatMul(builder, loc, dy, b, false, !tb);
  operand_grads[1] = tb ? BuildMatMul(builder, loc, dy, a, true, ta) : BuildMatMul(builder, loc, a, dy, !ta, false);
  return success();
}

// td.conv2d

llvm::LogicalResult Conv2DOp::inferReturnTypes(mlir::MLIRContext*, std::optional<mlir::Location> loc,
                                               ValueRange operands, mlir::DictionaryAttr,
                                               mlir::OpaqueProperties properties, mlir::RegionRange,
                                               llvm::SmallVectorImpl<mlir::Type>& types) {
  auto* p = properties.as<Properties*>();
  Ints strides = p->strides, low = p->pad_low, high = p->pad_high;
  if (failed(CheckGeometry(loc, strides, low, high)) || failed(CheckImages(loc, operands[0], operands[1], false)))
    return failure();
  RankedTensorType x = TypeOf(operands[0]), k = TypeOf(operands[1]);
  if (x.getDimSize(3) != k.getDimSize(2)) {
    return emitOptionalError(loc, "input ", Str(operands[0]), " has ", x.getDimSize(3), " channels, but the kernel ",
                             Str(operands[1]), " takes ", k.getDimSize(2));
  }
  llvm::SmallVector<int64_t> shape = {x.getDimSize(0), 0, 0, k.getDimSize(3)};
  for (int i = 0; i < 2; ++i) {
    int64_t room = x.getDimSize(1 + i) + low[i] + high[i] - k.getDimSize(i);
    if (room < 0) {
      return emitOptionalError(loc, "input ", Str(operands[0]), " is smaller than the kernel ", Str(operands[1]),
                               low[0] + high[0] + low[1] + high[1] == 0 ? " with VALID padding" : " with its padding");
    }
    shape[1 + i] = room / strides[i] + 1;
  }
  types.push_back(WithShape(operands[0], shape, p->f32_result != nullptr));
  return success();
}

BatchRule Conv2DOp::getBatchRule() { return BatchRule::kPerExample; }
int64_t Conv2DOp::getFlops() {
  RankedTensorType k = TypeOf(getKernel());
  return ConvFlops(getType(), k.getDimSize(0), k.getDimSize(1), k.getDimSize(2));
}

LibraryCallSpec Conv2DOp::getLibraryCallSpec() {
  LibraryCallSpec spec = ConvolutionSpec(LibraryPrimitive::kConv2D, getX(), getKernel(), getResult(), getStrides(),
                                         getPadLow(), getPadHigh());
  spec.weights = 1;
  spec.takes_epilogue = true;
  return spec;
}

absl::Status Conv2DOp::evaluate(absl::Span<const RefTensor* const> operands, const RefContext&,
                                std::vector<RefTensor>& results) {
  const RefTensor &x = *operands[0], &k = *operands[1];
  RefTensor y = MakeResult(getType(), x.shape[0]);
  int64_t ci = x.shape[3], co = y.shape[3];
  ForEachTap(x.shape[0], y.shape, x.shape, k.shape[0], k.shape[1],
             MakeGeometry(getStrides(), getPadLow(), getPadHigh()), [&](int64_t yo, int64_t xo, int64_t ko) {
               for (int64_t c = 0; c < ci; ++c) {
                 for (int64_t o = 0; o < co; ++o) y.values[yo + o] += x.values[xo + c] * k.values[ko + c * co + o];
               }
             });
  results[0] = std::move(y);
  return absl::OkStatus();
}

llvm::LogicalResult Conv2DOp::buildGradient(mlir::OpBuilder& b, ValueRange result_grads,
                                            llvm::SmallVectorImpl<Value>& operand_grads) {
  RankedTensorType x = TypeOf(getX()), k = TypeOf(getKernel());
  operand_grads[0] = b.create<Conv2DInputGradOp>(getLoc(), result_grads[0], getKernel(), x.getShape().slice(1, 2),
                                                 getStrides(), getPadLow(), getPadHigh());
  operand_grads[1] = b.create<Conv2DFilterGradOp>(getLoc(), getX(), result_grads[0], k.getShape().take_front(2),
                                                  getStrides(), getPadLow(), getPadHigh());
  return success();
}

// td.conv2d_input_grad

llvm::LogicalResult Conv2DInputGradOp::inferReturnTypes(mlir::MLIRContext*, std::optional<mlir::Location> loc,
                                                        ValueRange operands, mlir::DictionaryAttr,
                                                        mlir::OpaqueProperties properties, mlir::RegionRange,
                                                        llvm::SmallVectorImpl<mlir::Type>& types) {
  auto* p = properties.as<Properties*>();
  if (failed(CheckGeometry(loc, p->strides, p->pad_low, p->pad_high)) ||
      failed(CheckImages(loc, operands[0], operands[1], false)))
    return failure();
  Ints size = p->size;
  RankedTensorType dy = TypeOf(operands[0]), k = TypeOf(operands[1]);
  if (size.size() != 2) return emitOptionalError(loc, "size ", Str(size), " must be the input's height and width");
  if (dy.getDimSize(3) != k.getDimSize(3))
    return emitOptionalError(loc, "gradient ", Str(operands[0]), " and kernel ", Str(operands[1]),
                             " differ in channels");
  types.push_back(
      WithShape(operands[0], {dy.getDimSize(0), size[0], size[1], k.getDimSize(2)}, p->f32_result != nullptr));
  return success();
}

BatchRule Conv2DInputGradOp::getBatchRule() { return BatchRule::kPerExample; }
int64_t Conv2DInputGradOp::getFlops() {
  RankedTensorType k = TypeOf(getKernel());
  return ConvFlops(TypeOf(getDy()), k.getDimSize(0), k.getDimSize(1), k.getDimSize(2));
}

LibraryCallSpec Conv2DInputGradOp::getLibraryCallSpec() {
  LibraryCallSpec spec = ConvolutionSpec(LibraryPrimitive::kConv2DInputGrad, getResult(), getKernel(), getDy(),
                                         getStrides(), getPadLow(), getPadHigh());
  spec.weights = 1;
  return spec;
}

absl::Status Conv2DInputGradOp::evaluate(absl::Span<const RefTensor* const> operands, const RefContext&,
                                         std::vector<RefTensor>& results) {
  const RefTensor &dy = *operands[0], &k = *operands[1];
  RefTensor dx = MakeResult(getType(), dy.shape[0]);
  int64_t ci = dx.shape[3], co = dy.shape[3];
  ForEachTap(dy.shape[0], dy.shape, dx.shape, k.shape[0], k.shape[1],
             MakeGeometry(getStrides(), getPadLow(), getPadHigh()), [&](int64_t yo, int64_t xo, int64_t ko) {
               for (int64_t c = 0; c < ci; ++c) {
                 for (int64_t o = 0; o < co; ++o) dx.values[xo + c] += dy.values[yo + o] * k.values[ko + c * co + o];
               }
             });
  results[0] = std::move(dx);
  return absl::OkStatus();
}

llvm::LogicalResult Conv2DInputGradOp::buildGradient(mlir::OpBuilder& b, ValueRange result_grads,
                                                     llvm::SmallVectorImpl<Value>& operand_grads) {
  // The gradient op is linear in both operands, dx = A(k)^T dy, so its own gradients are convolutions too.
  operand_grads[0] =
      b.create<Conv2DOp>(getLoc(), result_grads[0], getKernel(), getStrides(), getPadLow(), getPadHigh());
  operand_grads[1] =
      b.create<Conv2DFilterGradOp>(getLoc(), result_grads[0], getDy(), TypeOf(getKernel()).getShape().take_front(2),
                                   getStrides(), getPadLow(), getPadHigh());
  return success();
}

// td.conv2d_filter_grad

llvm::LogicalResult Conv2DFilterGradOp::inferReturnTypes(mlir::MLIRContext*, std::optional<mlir::Location> loc,
                                                         ValueRange operands, mlir::DictionaryAttr,
                                                         mlir::OpaqueProperties properties, mlir::RegionRange,
                                                         llvm::SmallVectorImpl<mlir::Type>& types) {
  auto* p = properties.as<Properties*>();
  if (failed(CheckGeometry(loc, p->strides, p->pad_low, p->pad_high)) ||
      failed(CheckImages(loc, operands[0], operands[1], true)))
    return failure();
  Ints size = p->size;
  RankedTensorType x = TypeOf(operands[0]), dy = TypeOf(operands[1]);
  if (size.size() != 2) return emitOptionalError(loc, "size ", Str(size), " must be the kernel's height and width");
  if (x.getDimSize(0) != dy.getDimSize(0))
    return emitOptionalError(loc, "input ", Str(operands[0]), " and gradient ", Str(operands[1]), " differ in rows");
  types.push_back(
      WithShape(operands[0], {size[0], size[1], x.getDimSize(3), dy.getDimSize(3)}, p->f32_result != nullptr));
  return success();
}

BatchRule Conv2DFilterGradOp::getBatchRule() { return BatchRule::kBatchSum; }
int64_t Conv2DFilterGradOp::getFlops() {
  return ConvFlops(TypeOf(getDy()), getSize()[0], getSize()[1], TypeOf(getX()).getDimSize(3));
}

LibraryCallSpec Conv2DFilterGradOp::getLibraryCallSpec() {
  LibraryCallSpec spec = ConvolutionSpec(LibraryPrimitive::kConv2DFilterGrad, getX(), getResult(), getDy(),
                                         getStrides(), getPadLow(), getPadHigh());
  spec.reduces_batch = IsBatched(getX().getType());
  return spec;
}

absl::Status Conv2DFilterGradOp::evaluate(absl::Span<const RefTensor* const> operands, const RefContext&,
                                          std::vector<RefTensor>& results) {
  const RefTensor &x = *operands[0], &dy = *operands[1];
  RefTensor dk = MakeResult(getType(), 0);
  int64_t ci = x.shape[3], co = dy.shape[3];
  ForEachTap(x.shape[0], dy.shape, x.shape, dk.shape[0], dk.shape[1],
             MakeGeometry(getStrides(), getPadLow(), getPadHigh()), [&](int64_t yo, int64_t xo, int64_t ko) {
               for (int64_t c = 0; c < ci; ++c) {
                 for (int64_t o = 0; o < co; ++o) dk.values[ko + c * co + o] += x.values[xo + c] * dy.values[yo + o];
               }
             });
  results[0] = std::move(dk);
  return absl::OkStatus();
}

llvm::LogicalResult Conv2DFilterGradOp::buildGradient(mlir::OpBuilder& b, ValueRange result_grads,
                                                      llvm::SmallVectorImpl<Value>& operand_grads) {
  // dk, a sum over taps of x dy, is linear in both operands, so its gradients are a convolution and an input gradient.
  operand_grads[0] =
      b.create<Conv2DInputGradOp>(getLoc(), getDy(), result_grads[0], TypeOf(getX()).getShape().slice(1, 2),
                                  getStrides(), getPadLow(), getPadHigh());
  operand_grads[1] = b.create<Conv2DOp>(getLoc(), getX(), result_grads[0], getStrides(), getPadLow(), getPadHigh());
  return success();
}

}  // namespace tandem::td

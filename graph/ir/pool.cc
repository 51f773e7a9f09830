// Types, reference semantics and gradients of pooling; pool_elemental.cc has the generated code.
#include "graph/ir/pool.h"

#include <algorithm>
#include <limits>

#include "graph/ir/message.h"
#include "graph/ir/reference_util.h"

#define GET_OP_CLASSES
#include "graph/ir/pool.cc.inc"

namespace tandem::td {

using mlir::emitOptionalError;
using mlir::failure;
using mlir::RankedTensorType;
using mlir::success;
using mlir::Value;
using mlir::ValueRange;

void TdDialect::registerPoolOps() {
  addOperations<
#define GET_OP_LIST
#include "graph/ir/pool.cc.inc"
      >();
}

namespace {

using Ints = llvm::ArrayRef<int64_t>;
using Types = llvm::SmallVectorImpl<mlir::Type>;
using MaybeLocation = std::optional<mlir::Location>;

// Fails unless windows lie in the image, or extend beyond its border by pads smaller than the window.
template <typename Properties>
llvm::LogicalResult CheckWindows(MaybeLocation loc, const Properties& p) {
  Ints window = p.window, strides = p.strides, low = p.pad_low, high = p.pad_high;
  if (window.size() != 2 || strides.size() != 2 || low.size() != 2 || high.size() != 2) {
    return emitOptionalError(loc, "needs a window, strides and pads for height and width, not window ", Str(window),
                             ", strides ", Str(strides), ", low ", Str(low), " and high ", Str(high));
  }
  for (int i = 0; i < 2; ++i) {
    if (window[i] < 1 || strides[i] < 1) {
      return emitOptionalError(loc, "window ", Str(window), " and strides ", Str(strides), " must be at least 1");
    }
    if (low[i] < 0 || high[i] < 0) {
      return emitOptionalError(loc, "pads low ", Str(low), " and high ", Str(high), " must not be negative");
    }
    if (low[i] >= window[i] || high[i] >= window[i]) {
      return emitOptionalError(loc, "pads low ", Str(low), " and high ", Str(high), " must be smaller than the window ",
                               Str(window), ", or a window would lie outside of the image");
    }
  }
  return success();
}

// Returns the type of the pooled image.
template <typename Properties>
mlir::FailureOr<RankedTensorType> PooledType(MaybeLocation loc, RankedTensorType x, const Properties& p) {
  if (failed(CheckWindows(loc, p))) return failure();
  if (x.getRank() != 4)
    return emitOptionalError(loc, "image ", Str(x), " must have 4 dimensions [batch, height, width, channels]");
  Ints window = p.window, strides = p.strides, low = p.pad_low, high = p.pad_high;
  llvm::SmallVector<int64_t> shape(x.getShape());
  for (int i = 0; i < 2; ++i) {
    int64_t room = x.getDimSize(1 + i) + low[i] + high[i] - window[i];
    if (room < 0 || x.getDimSize(1 + i) == 0) {
      return emitOptionalError(loc, "image ", Str(x), " is smaller than the window ", Str(window),
                               low[0] + high[0] + low[1] + high[1] == 0 ? " with VALID padding" : " with its padding");
    }
    shape[1 + i] = room / strides[i] + 1;
  }
  return x.clone(shape);
}

// Fails unless `dy` has the type of the pooled image `x`.
template <typename Properties>
llvm::LogicalResult CheckGradient(MaybeLocation loc, RankedTensorType x, RankedTensorType dy, const Properties& p) {
  mlir::FailureOr<RankedTensorType> y = PooledType(loc, x, p);
  if (failed(y)) return failure();
  if (*y == dy) return success();
  return emitOptionalError(loc, "gradient is ", dy, ", but the windows of image ", Str(x), " give ", *y);
}

// Returns the type of the image, for a gradient that knows its height and width.
template <typename Properties>
mlir::FailureOr<RankedTensorType> ImageType(MaybeLocation loc, RankedTensorType dy, const Properties& p) {
  Ints size = p.size;
  if (size.size() != 2 || size[0] < 1 || size[1] < 1)
    return emitOptionalError(loc, "size ", Str(size), " must be the image's height and width");
  if (dy.getRank() != 4)
    return emitOptionalError(loc, "gradient ", Str(dy), " must have 4 dimensions [batch, height, width, channels]");
  RankedTensorType x = dy.clone({dy.getDimSize(0), size[0], size[1], dy.getDimSize(3)});
  if (failed(CheckGradient(loc, x, dy, p))) return failure();
  return x;
}

// Calls f(offset of the pooled element, [offsets of the window's elements inside the image]) for every window; offsets
// are those of channel 0.
template <typename F>
void ForEachWindow(int64_t rows, int64_t channels, const WindowGeometry& g, F f) {
  const WindowAxis &v = g.axes[0], &h = g.axes[1];
  std::vector<int64_t> inside;
  for (int64_t n = 0; n < rows; ++n) {
    for (int64_t oy = 0; oy < v.out; ++oy) {
      for (int64_t ox = 0; ox < h.out; ++ox) {
        inside.clear();
        int64_t top = oy * v.stride - v.low, left = ox * h.stride - h.low;
        for (int64_t y = std::max<int64_t>(top, 0); y < std::min(top + v.window, v.in); ++y) {
          for (int64_t x = std::max<int64_t>(left, 0); x < std::min(left + h.window, h.in); ++x)
            inside.push_back(((n * v.in + y) * h.in + x) * channels);
        }
        f(((n * v.out + oy) * h.out + ox) * channels, inside);
      }
    }
  }
}

int64_t WindowFlops(mlir::Type pooled, Ints window) { return RowElements(pooled) * window[0] * window[1]; }

}  // namespace

// td.max_pool

llvm::LogicalResult MaxPoolOp::inferReturnTypes(mlir::MLIRContext*, MaybeLocation loc, ValueRange operands,
                                                mlir::DictionaryAttr, mlir::OpaqueProperties properties,
                                                mlir::RegionRange, Types& types) {
  mlir::FailureOr<RankedTensorType> y = PooledType(loc, TypeOf(operands[0]), *properties.as<Properties*>());
  if (failed(y)) return failure();
  types.push_back(*y);
  return success();
}

int64_t MaxPoolOp::getFlops() { return WindowFlops(getType(), getWindow()); }

absl::Status MaxPoolOp::evaluate(absl::Span<const RefTensor* const> operands, const RefContext&,
                                 std::vector<RefTensor>& results) {
  const RefTensor& x = *operands[0];
  RefTensor y = MakeResult(getType(), x.shape[0]);
  int64_t channels = x.shape[3];
  ForEachWindow(x.shape[0], channels,
                GetWindowGeometry(getX().getType(), getType(), getWindow(), getStrides(), getPadLow()),
                [&](int64_t at, const std::vector<int64_t>& inside) {
                  for (int64_t c = 0; c < channels; ++c) {
                    double best = -std::numeric_limits<double>::infinity();
                    for (int64_t i : inside) {
                      double v = x.values[i + c];
                      if (v > best || v != v) best = v;
                    }
                    y.values[at + c] = best;
                  }
                });
  results[0] = std::move(y);
  return absl::OkStatus();
}

llvm::LogicalResult MaxPoolOp::buildGradient(mlir::OpBuilder& b, ValueRange grads,
                                             llvm::SmallVectorImpl<Value>& operand_grads) {
  operand_grads[0] =
      b.create<MaxPoolGradOp>(getLoc(), getX(), grads[0], getWindow(), getStrides(), getPadLow(), getPadHigh());
  return success();
}

// td.max_pool_grad

llvm::LogicalResult MaxPoolGradOp::inferReturnTypes(mlir::MLIRContext*, MaybeLocation loc, ValueRange operands,
                                                    mlir::DictionaryAttr, mlir::OpaqueProperties properties,
                                                    mlir::RegionRange, Types& types) {
  RankedTensorType x = TypeOf(operands[0]), dy = TypeOf(operands[1]);
  if (failed(CheckGradient(loc, x, dy, *properties.as<Properties*>()))) return failure();
  types.push_back(x);
  return success();
}

int64_t MaxPoolGradOp::getFlops() { return WindowFlops(getDy().getType(), getWindow()); }

absl::Status MaxPoolGradOp::evaluate(absl::Span<const RefTensor* const> operands, const RefContext&,
                                     std::vector<RefTensor>& results) {
  const RefTensor &x = *operands[0], &dy = *operands[1];
  RefTensor dx = MakeResult(getType(), x.shape[0]);
  int64_t channels = x.shape[3];
  ForEachWindow(x.shape[0], channels,
                GetWindowGeometry(getType(), getDy().getType(), getWindow(), getStrides(), getPadLow()),
                [&](int64_t at, const std::vector<int64_t>& inside) {
                  for (int64_t c = 0; c < channels; ++c) {
                    int64_t best = inside[0] + c;
                    for (int64_t i : inside) {
                      if (x.values[i + c] > x.values[best]) best = i + c;
                    }
                    dx.values[best] += dy.values[at + c];
                  }
                });
  results[0] = std::move(dx);
  return absl::OkStatus();
}

// td.max_pool_argmax

llvm::LogicalResult MaxPoolArgmaxOp::inferReturnTypes(mlir::MLIRContext* context, MaybeLocation loc,
                                                      ValueRange operands, mlir::DictionaryAttr,
                                                      mlir::OpaqueProperties properties, mlir::RegionRange,
                                                      Types& types) {
  const Properties& p = *properties.as<Properties*>();
  mlir::FailureOr<RankedTensorType> y = PooledType(loc, TypeOf(operands[0]), p);
  if (failed(y)) return failure();
  Ints window = p.window;
  if (window[0] > kNoMaximum / window[1])
    return emitOptionalError(loc, "window ", Str(window), " has more than ", kNoMaximum, " elements");
  types.push_back(RankedTensorType::get(y->getShape(), FromDType(context, DType::kUInt8)));
  return success();
}

int64_t MaxPoolArgmaxOp::getFlops() { return WindowFlops(getType(), getWindow()); }

absl::Status MaxPoolArgmaxOp::evaluate(absl::Span<const RefTensor* const> operands, const RefContext&,
                                       std::vector<RefTensor>& results) {
  const RefTensor& x = *operands[0];
  RefTensor argmax = MakeResult(getType(), x.shape[0]);
  WindowGeometry g = GetWindowGeometry(getX().getType(), getType(), getWindow(), getStrides(), getPadLow());
  const WindowAxis &v = g.axes[0], &h = g.axes[1];
  const Shape& shape = argmax.shape;
  const int64_t channels = shape[3];
  ForEachIndex(shape, [&](const Shape& index, int64_t linear) {
    int64_t winner = kNoMaximum;
    double best = 0;
    for (int64_t jy = 0; jy < v.window; ++jy) {
      for (int64_t jx = 0; jx < h.window; ++jx) {
        int64_t iy = index[1] * v.stride - v.low + jy, ix = index[2] * h.stride - h.low + jx;
        if (iy < 0 || iy >= v.in || ix < 0 || ix >= h.in) continue;
        double value = x.values[((index[0] * v.in + iy) * h.in + ix) * channels + index[3]];
        if (winner != kNoMaximum && !(value > best)) continue;
        best = value;
        winner = jy * h.window + jx;
      }
    }
    argmax.values[linear] = static_cast<double>(getPositive() && !(best > 0) ? kNoMaximum : winner);
  });
  results[0] = std::move(argmax);
  return absl::OkStatus();
}

// td.max_pool_argmax_grad

llvm::LogicalResult MaxPoolArgmaxGradOp::inferReturnTypes(mlir::MLIRContext*, MaybeLocation loc, ValueRange operands,
                                                          mlir::DictionaryAttr, mlir::OpaqueProperties properties,
                                                          mlir::RegionRange, Types& types) {
  mlir::FailureOr<RankedTensorType> x = ImageType(loc, TypeOf(operands[1]), *properties.as<Properties*>());
  if (failed(x)) return failure();
  if (TypeOf(operands[0]).getShape() != TypeOf(operands[1]).getShape()) {
    return emitOptionalError(loc, "places of maxima ", Str(operands[0].getType()), " and gradient ",
                             Str(operands[1].getType()), " differ in shape");
  }
  types.push_back(*x);
  return success();
}

int64_t MaxPoolArgmaxGradOp::getFlops() { return WindowFlops(getDy().getType(), getWindow()); }

absl::Status MaxPoolArgmaxGradOp::evaluate(absl::Span<const RefTensor* const> operands, const RefContext&,
                                           std::vector<RefTensor>& results) {
  const RefTensor &argmax = *operands[0], &dy = *operands[1];
  RefTensor dx = MakeResult(getType(), dy.shape[0]);
  WindowGeometry g = GetWindowGeometry(getType(), getDy().getType(), getWindow(), getStrides(), getPadLow());
  const WindowAxis &v = g.axes[0], &h = g.axes[1];
  const int64_t channels = dy.shape[3];
  ForEachIndex(dy.shape, [&](const Shape& index, int64_t linear) {
    const auto winner = static_cast<int64_t>(argmax.values[linear]);
    if (winner >= v.window * h.window) return;
    int64_t iy = index[1] * v.stride - v.low + winner / h.window, ix = index[2] * h.stride - h.low + winner % h.window;
    if (iy < 0 || iy >= v.in || ix < 0 || ix >= h.in) return;
    dx.values[((index[0] * v.in + iy) * h.in + ix) * channels + index[3]] += dy.values[linear];
  });
  results[0] = std::move(dx);
  return absl::OkStatus();
}

// td.avg_pool

llvm::LogicalResult AvgPoolOp::inferReturnTypes(mlir::MLIRContext*, MaybeLocation loc, ValueRange operands,
                                                mlir::DictionaryAttr, mlir::OpaqueProperties properties,
                                                mlir::RegionRange, Types& types) {
  mlir::FailureOr<RankedTensorType> y = PooledType(loc, TypeOf(operands[0]), *properties.as<Properties*>());
  if (failed(y)) return failure();
  types.push_back(*y);
  return success();
}

int64_t AvgPoolOp::getFlops() { return WindowFlops(getType(), getWindow()); }

absl::Status AvgPoolOp::evaluate(absl::Span<const RefTensor* const> operands, const RefContext&,
                                 std::vector<RefTensor>& results) {
  const RefTensor& x = *operands[0];
  RefTensor y = MakeResult(getType(), x.shape[0]);
  int64_t channels = x.shape[3];
  ForEachWindow(x.shape[0], channels,
                GetWindowGeometry(getX().getType(), getType(), getWindow(), getStrides(), getPadLow()),
                [&](int64_t at, const std::vector<int64_t>& inside) {
                  for (int64_t c = 0; c < channels; ++c) {
                    double sum = 0;
                    for (int64_t i : inside) sum += x.values[i + c];
                    y.values[at + c] = sum / static_cast<double>(inside.size());
                  }
                });
  results[0] = std::move(y);
  return absl::OkStatus();
}

llvm::LogicalResult AvgPoolOp::buildGradient(mlir::OpBuilder& b, ValueRange grads,
                                             llvm::SmallVectorImpl<Value>& operand_grads) {
  operand_grads[0] = b.create<AvgPoolGradOp>(getLoc(), grads[0], TypeOf(getX()).getShape().slice(1, 2), getWindow(),
                                             getStrides(), getPadLow(), getPadHigh());
  return success();
}

// td.avg_pool_grad

llvm::LogicalResult AvgPoolGradOp::inferReturnTypes(mlir::MLIRContext*, MaybeLocation loc, ValueRange operands,
                                                    mlir::DictionaryAttr, mlir::OpaqueProperties properties,
                                                    mlir::RegionRange, Types& types) {
  mlir::FailureOr<RankedTensorType> x = ImageType(loc, TypeOf(operands[0]), *properties.as<Properties*>());
  if (failed(x)) return failure();
  types.push_back(*x);
  return success();
}

int64_t AvgPoolGradOp::getFlops() { return WindowFlops(getDy().getType(), getWindow()); }

absl::Status AvgPoolGradOp::evaluate(absl::Span<const RefTensor* const> operands, const RefContext&,
                                     std::vector<RefTensor>& results) {
  const RefTensor& dy = *operands[0];
  RefTensor dx = MakeResult(getType(), dy.shape[0]);
  int64_t channels = dy.shape[3];
  ForEachWindow(dy.shape[0], channels,
                GetWindowGeometry(getType(), getDy().getType(), getWindow(), getStrides(), getPadLow()),
                [&](int64_t at, const std::vector<int64_t>& inside) {
                  for (int64_t c = 0; c < channels; ++c) {
                    double share = dy.values[at + c] / static_cast<double>(inside.size());
                    for (int64_t i : inside) dx.values[i + c] += share;
                  }
                });
  results[0] = std::move(dx);
  return absl::OkStatus();
}

llvm::LogicalResult AvgPoolGradOp::buildGradient(mlir::OpBuilder& b, ValueRange grads,
                                                 llvm::SmallVectorImpl<Value>& operand_grads) {
  operand_grads[0] = b.create<AvgPoolOp>(getLoc(), grads[0], getWindow(), getStrides(), getPadLow(), getPadHigh());
  return success();
}

}  // namespace tandem::td

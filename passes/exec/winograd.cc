#include "passes/exec/winograd.h"

#include "absl/strings/str_cat.h"
#include "base/bfloat16.h"
#include "graph/ir/message.h"
#include "graph/ir/reference_util.h"
#include "passes/exec/algorithm.h"
#include "passes/exec/toom_cook.h"

#define GET_OP_CLASSES
#include "passes/exec/winograd.cc.inc"

namespace tandem::exec {

using td::BatchRule;
using td::IsBatched;
using td::MakeResult;
using td::RefContext;
using td::RefTensor;
using td::Str;
using td::ToShape;
using td::TypeOf;

void ExecDialect::registerWinogradOps() {
  addOperations<
#define GET_OP_LIST
#include "passes/exec/winograd.cc.inc"
      >();
}

using mlir::RankedTensorType;
using mlir::success;

RankedTensorType TransformedKernelType(mlir::Type element_type, int64_t tile, int64_t rows, int64_t columns) {
  return RankedTensorType::get({(tile + 2) * (tile + 2), PanelRows(rows, element_type.isBF16()) * PadChannels(columns)},
                               element_type);
}

RankedTensorType ScratchType(mlir::MLIRContext* context, const WinogradShape& shape, bool filter_grad) {
  return FloatScratchType(context, ScratchOf(shape, filter_grad).floats);
}

namespace {

bool IsBFloat16(mlir::Type type) { return mlir::getElementTypeOrSelf(type).isBF16(); }

WinogradShape MakeShape(mlir::Type x, mlir::Type y, int64_t tile, int64_t block, llvm::ArrayRef<int64_t> pad_low) {
  auto from = mlir::cast<RankedTensorType>(x), to = mlir::cast<RankedTensorType>(y);
  WinogradShape s;
  s.height = from.getDimSize(1);
  s.width = from.getDimSize(2);
  s.channels_in = from.getDimSize(3);
  s.out_height = to.getDimSize(1);
  s.out_width = to.getDimSize(2);
  s.channels_out = to.getDimSize(3);
  s.pad_top = pad_low[0];
  s.pad_left = pad_low[1];
  s.tile = tile;
  s.block = block;
  return s;
}

bool IsTile(int64_t tile) { return tile >= 2 && tile <= 4; }

// Checks that `x` and `y` are batched images whose sizes fit tile, block and padding.
llvm::LogicalResult CheckImages(mlir::Operation* op, mlir::Type x, mlir::Type y, int64_t tile, int64_t block,
                                llvm::ArrayRef<int64_t> pad_low) {
  auto from = mlir::cast<RankedTensorType>(x), to = mlir::cast<RankedTensorType>(y);
  if (from.getRank() != 4 || to.getRank() != 4) {
    return op->emitOpError() << "needs images [batch, height, width, channels], not " << Str(x) << " and " << Str(y);
  }
  if (!IsBatched(x) || !IsBatched(y)) {
    return op->emitOpError() << "works on batched images only, not on " << Str(x) << " and " << Str(y);
  }
  if (!IsTile(tile) || block < 1) {
    return op->emitOpError() << "needs a tile of 2, 3 or 4 pixels and a positive block, not " << tile << " and "
                             << block;
  }
  if (pad_low.size() != 2) return op->emitOpError() << "needs pad_low for height and width, not " << Str(pad_low);
  for (int i = 0; i < 2; ++i) {
    // The zeros behind the image follow from the sizes of output and input and the zeros in front.
    int64_t high = to.getDimSize(i + 1) + 2 - from.getDimSize(i + 1) - pad_low[i];
    if (pad_low[i] < 0 || pad_low[i] > 2 || high < 0 || high > 2) {
      return op->emitOpError() << "needs pads of 0 to 2 on each side, but has " << pad_low[i] << " and " << high
                               << " in dimension " << i + 1;
    }
  }
  return success();
}

llvm::LogicalResult CheckScratch(mlir::Operation* op, const WinogradShape& s, bool filter_grad) {
  mlir::Type scratch = ScratchType(op->getContext(), s, filter_grad);
  if (op->getResult(1).getType() != scratch)
    return op->emitOpError() << "needs scratch memory " << scratch << ", not " << op->getResult(1).getType();
  return success();
}

llvm::LogicalResult CheckKernel(mlir::Operation* op, mlir::Type kernel, int64_t tile, int64_t rows, int64_t columns) {
  auto type = mlir::cast<RankedTensorType>(kernel);
  mlir::Type expected = TransformedKernelType(type.getElementType(), tile, rows, columns);
  if (type != expected) return op->emitOpError() << "needs a transformed kernel " << expected << ", not " << type;
  return success();
}

using Matrix = std::vector<double>;  // elements in row-major order

// Returns the matrix as products read it: rounded to bfloat16 if they multiply such numbers.
Matrix Rounded(Matrix m, bool bfloat16) {
  if (bfloat16) {
    for (double& v : m) v = RoundToBFloat16(v);
  }
  return m;
}

// Returns m x m^T for x [n, n].
Matrix OnBothSides(const RationalMatrix& m, const Matrix& x) {
  const int n = m.columns, r = m.rows;
  Matrix half(r * n), y(r * r);
  for (int i = 0; i < r; ++i) {
    for (int j = 0; j < n; ++j) {
      for (int k = 0; k < n; ++k) half[i * n + j] += m.at(i, k).value() * x[k * n + j];
    }
  }
  for (int i = 0; i < r; ++i) {
    for (int j = 0; j < r; ++j) {
      for (int k = 0; k < n; ++k) y[i * r + j] += half[i * n + k] * m.at(j, k).value();
    }
  }
  return y;
}

// Calls f(offset of row `row`'s pixel or -1 outside of the image, place in the patch) for an n x n patch at (y, x).
template <typename F>
void ForPatch(const Shape& image, int64_t row, int64_t y, int64_t x, int64_t n, F f) {
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      bool inside = y + i >= 0 && y + i < image[1] && x + j >= 0 && x + j < image[2];
      f(inside ? ((row * image[1] + y + i) * image[2] + x + j) * image[3] : -1, i * n + j);
    }
  }
}

// Returns the transformed patches of all channels, [channel][points].
std::vector<Matrix> Patches(const RefTensor& image, const RationalMatrix& m, int64_t row, int64_t y, int64_t x,
                            bool bfloat16) {
  std::vector<Matrix> patches;
  const int n = m.columns;
  for (int64_t c = 0; c < image.shape[3]; ++c) {
    Matrix patch(n * n);
    ForPatch(image.shape, row, y, x, n, [&](int64_t offset, int64_t at) {
      if (offset >= 0) patch[at] = image.values[offset + c];
    });
    patches.push_back(Rounded(OnBothSides(m, patch), bfloat16));
  }
  return patches;
}

// Calls f(row, top and left of the tile in y) for all tiles in order.
template <typename F>
void ForTiles(const WinogradShape& s, int64_t rows, F f) {
  for (int64_t n = 0; n < rows; ++n) {
    for (int64_t i = 0; i < s.tiles_down(); ++i) {
      for (int64_t j = 0; j < s.tiles_across(); ++j) f(n, i * s.tile, j * s.tile);
    }
  }
}

// Returns the sums over channels of patches times the transformed kernel, for result channel `column`.
Matrix ProductAt(const std::vector<Matrix>& patches, const RefTensor& kernel, int64_t columns, int64_t column) {
  const int64_t rows = static_cast<int64_t>(patches.size()), points = kernel.shape[0];
  const bool bfloat16 = kernel.dtype == DType::kBFloat16;
  Matrix sum(points);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t p = 0; p < points; ++p) {
      sum[p] += patches[r][p] * kernel.values[p * kernel.shape[1] + PanelOffset(rows, columns, r, column, bfloat16)];
    }
  }
  return sum;
}

// Operations of one image: the products and two transforms of every tile. A multiply-add is two operations; transforms
// are counted as dense.
int64_t Flops(const WinogradShape& s) {
  const int64_t a = s.alpha(), m = s.tile;
  const int64_t transforms = 2 * (s.channels_in * 2 * a * a * a + s.channels_out * (m * a * a + m * m * a));
  return s.tiles() * (2 * s.points() * s.channels_in * s.channels_out + transforms);
}

}  // namespace

WinogradShape ShapeOf(WinogradConv2DOp op) {
  WinogradShape s =
      MakeShape(op.getX().getType(), op.getOutput().getType(), op.getTile(), op.getBlock(), op.getPadLow());
  s.bfloat16_products = IsBFloat16(op.getKernel().getType());
  return s;
}
WinogradShape ShapeOf(WinogradInputGradOp op) {
  WinogradShape s = MakeShape(op.getDx().getType(), op.getDy().getType(), op.getTile(), op.getBlock(), op.getPadLow());
  s.bfloat16_products = IsBFloat16(op.getKernel().getType());
  s.bfloat16_dx = IsBFloat16(op.getDx().getType());
  return s;
}
WinogradShape ShapeOf(WinogradFilterGradOp op) {
  WinogradShape s = MakeShape(op.getX().getType(), op.getDy().getType(), op.getTile(), op.getBlock(), op.getPadLow());
  s.bfloat16_products = op.getBfloat16Products();
  return s;
}

// exec.winograd_kernel

llvm::LogicalResult WinogradKernelOp::verify() {
  RankedTensorType k = TypeOf(getKernel());
  if (k.getRank() != 4 || k.getDimSize(0) != 3 || k.getDimSize(1) != 3)
    return emitOpError() << "needs a kernel [3, 3, in, out], not " << Str(k);
  if (!IsTile(getTile())) return emitOpError() << "needs a tile of 2, 3 or 4 pixels, not " << getTile();
  int64_t rows = k.getDimSize(getAdjoint() ? 3 : 2), columns = k.getDimSize(getAdjoint() ? 2 : 3);
  return CheckKernel(*this, getOutput().getType(), getTile(), rows, columns);
}

BatchRule WinogradKernelOp::getBatchRule() { return BatchRule::kPerExample; }
int64_t WinogradKernelOp::getFlops() {
  const int64_t a = getTile() + 2;
  return 2 * (3 * 3 * a + 3 * a * a) * TypeOf(getKernel()).getDimSize(2) * TypeOf(getKernel()).getDimSize(3);
}

absl::Status WinogradKernelOp::evaluate(absl::Span<const RefTensor* const> operands, const RefContext&,
                                        std::vector<RefTensor>& results) {
  const RefTensor& k = *operands[0];
  RefTensor u = MakeResult(getOutput().getType(), 0);
  const int64_t in = k.shape[2], out = k.shape[3];
  for (int64_t c = 0; c < in; ++c) {
    for (int64_t o = 0; o < out; ++o) {
      Matrix g(9);
      for (int64_t tap = 0; tap < 9; ++tap) g[tap] = k.values[(tap * in + c) * out + o];
      Matrix transformed = OnBothSides(GetWinogradMatrices(getTile()).kernel, g);
      const bool bfloat16 = u.dtype == DType::kBFloat16;
      int64_t offset = getAdjoint() ? PanelOffset(out, in, o, c, bfloat16) : PanelOffset(in, out, c, o, bfloat16);
      for (size_t p = 0; p < transformed.size(); ++p) u.values[p * u.shape[1] + offset] = transformed[p];
    }
  }
  results[0] = std::move(u);
  return absl::OkStatus();
}

// exec.winograd_conv2d

llvm::LogicalResult WinogradConv2DOp::verify() {
  if (mlir::failed(CheckImages(*this, getX().getType(), getOutput().getType(), getTile(), getBlock(), getPadLow())))
    return mlir::failure();
  WinogradShape s = ShapeOf(*this);
  if (mlir::failed(CheckScratch(*this, s, false))) return mlir::failure();
  if (getBias() && TypeOf(getBias()).getShape() != llvm::ArrayRef<int64_t>{s.channels_out})
    return emitOpError() << "needs a bias [" << s.channels_out << "], not " << Str(getBias().getType());
  if (getResidual() && getResidual().getType() != getOutput().getType())
    return emitOpError() << "needs a residual of its result's type " << getOutput().getType() << ", not "
                         << getResidual().getType();
  return CheckKernel(*this, getKernel().getType(), getTile(), s.channels_in, s.channels_out);
}

BatchRule WinogradConv2DOp::getBatchRule() { return BatchRule::kPerExample; }
int64_t WinogradConv2DOp::getFlops() { return Flops(ShapeOf(*this)); }

absl::Status WinogradConv2DOp::evaluate(absl::Span<const RefTensor* const> operands, const RefContext& context,
                                        std::vector<RefTensor>& results) {
  const WinogradShape s = ShapeOf(*this);
  const WinogradMatrices& w = GetWinogradMatrices(s.tile);
  RefTensor y = MakeResult(getOutput().getType(), operands[0]->shape[0]);
  ForTiles(s, operands[0]->shape[0], [&](int64_t n, int64_t top, int64_t left) {
    std::vector<Matrix> v = Patches(*operands[0], w.input, n, top - s.pad_top, left - s.pad_left, s.bfloat16_products);
    for (int64_t k = 0; k < s.channels_out; ++k) {
      Matrix tile = OnBothSides(w.output, ProductAt(v, *operands[1], s.channels_out, k));
      ForPatch(y.shape, n, top, left, s.tile, [&](int64_t offset, int64_t at) {
        if (offset < 0) return;
        double value = tile[at] + (getBias() ? operands[2]->values[k] : 0);
        if (getResidual()) value += operands.back()->values[offset + k];
        y.values[offset + k] = getRelu() && value < 0 ? 0 : value;
      });
    }
  });
  results[0] = std::move(y);
  results[1] = MakeResult(getScratch().getType(), context.batch);
  return absl::OkStatus();
}

// exec.winograd_input_grad

llvm::LogicalResult WinogradInputGradOp::verify() {
  if (mlir::failed(CheckImages(*this, getDx().getType(), getDy().getType(), getTile(), getBlock(), getPadLow())))
    return mlir::failure();
  WinogradShape s = ShapeOf(*this);
  if (mlir::failed(CheckScratch(*this, s, false))) return mlir::failure();
  return CheckKernel(*this, getKernel().getType(), getTile(), s.channels_out, s.channels_in);
}

BatchRule WinogradInputGradOp::getBatchRule() { return BatchRule::kPerExample; }
int64_t WinogradInputGradOp::getFlops() { return Flops(ShapeOf(*this)); }

absl::Status WinogradInputGradOp::evaluate(absl::Span<const RefTensor* const> operands, const RefContext& context,
                                           std::vector<RefTensor>& results) {
  const WinogradShape s = ShapeOf(*this);
  const WinogradMatrices& w = GetWinogradMatrices(s.tile);
  const RationalMatrix spread = w.input.Transposed(), gather = w.output.Transposed();
  RefTensor dx = MakeResult(getDx().getType(), operands[0]->shape[0]);
  ForTiles(s, operands[0]->shape[0], [&](int64_t n, int64_t top, int64_t left) {
    std::vector<Matrix> v = Patches(*operands[0], gather, n, top, left, s.bfloat16_products);
    for (int64_t c = 0; c < s.channels_in; ++c) {
      Matrix tile = OnBothSides(spread, ProductAt(v, *operands[1], s.channels_in, c));
      ForPatch(dx.shape, n, top - s.pad_top, left - s.pad_left, s.alpha(), [&](int64_t offset, int64_t at) {
        if (offset >= 0) dx.values[offset + c] += tile[at];
      });
    }
  });
  results[0] = std::move(dx);
  results[1] = MakeResult(getScratch().getType(), context.batch);
  return absl::OkStatus();
}

// exec.winograd_filter_grad

llvm::LogicalResult WinogradFilterGradOp::verify() {
  if (mlir::failed(CheckImages(*this, getX().getType(), getDy().getType(), getTile(), getBlock(), getPadLow())))
    return mlir::failure();
  WinogradShape s = ShapeOf(*this);
  if (mlir::failed(CheckScratch(*this, s, true))) return mlir::failure();
  const Shape kernel = {3, 3, s.channels_in, s.channels_out};
  if (ToShape(getDkernel().getType()) != kernel) {
    return emitOpError() << "gives a kernel " << ShapeString(kernel) << ", not " << Str(getDkernel().getType());
  }
  return success();
}

BatchRule WinogradFilterGradOp::getBatchRule() { return BatchRule::kBatchSum; }
int64_t WinogradFilterGradOp::getFlops() { return Flops(ShapeOf(*this)); }

absl::Status WinogradFilterGradOp::evaluate(absl::Span<const RefTensor* const> operands, const RefContext& context,
                                            std::vector<RefTensor>& results) {
  const WinogradShape s = ShapeOf(*this);
  const WinogradMatrices& w = GetWinogradMatrices(s.tile);
  const RationalMatrix gather = w.output.Transposed(), back = w.kernel.Transposed();
  std::vector<Matrix> sums(s.channels_in * s.channels_out, Matrix(s.points()));
  ForTiles(s, operands[0]->shape[0], [&](int64_t n, int64_t top, int64_t left) {
    std::vector<Matrix> v = Patches(*operands[0], w.input, n, top - s.pad_top, left - s.pad_left, s.bfloat16_products);
    std::vector<Matrix> d = Patches(*operands[1], gather, n, top, left, s.bfloat16_products);
    for (int64_t c = 0; c < s.channels_in; ++c) {
      for (int64_t k = 0; k < s.channels_out; ++k) {
        for (int64_t p = 0; p < s.points(); ++p) sums[c * s.channels_out + k][p] += v[c][p] * d[k][p];
      }
    }
  });
  RefTensor dk = MakeResult(getDkernel().getType(), 0);
  for (size_t pair = 0; pair < sums.size(); ++pair) {
    Matrix g = OnBothSides(back, sums[pair]);
    for (size_t tap = 0; tap < g.size(); ++tap) dk.values[tap * sums.size() + pair] = g[tap];
  }
  results[0] = std::move(dk);
  results[1] = MakeResult(getScratch().getType(), context.batch);
  return absl::OkStatus();
}

}  // namespace tandem::exec

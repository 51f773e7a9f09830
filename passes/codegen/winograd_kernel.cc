// Emits kernels of Winograd convolutions (passes/exec/winograd.td). Convolutions and input gradients work on rows
// [begin, end) and give each row the same bits whatever the other rows are; filter gradients sum over these rows;
// transforms of kernels work on elements [begin, end) of the kernel. Without AVX512-BF16 products of bfloat16 numbers
// are multiply-adds of float32.

#include "passes/codegen/linear_transform.h"
#include "passes/codegen/vector_kernel.h"
#include "passes/codegen/winograd_products.h"
#include "passes/codegen/winograd_tiles.h"
#include "passes/exec/winograd.h"

namespace tandem {
namespace {

using mlir::Value;
using Values = VectorBuilder::Values;

class WinogradEmitter : private VectorKernel {
 public:
  using VectorKernel::VectorKernel;

  void Emit() {
    kernel_.walk([&](mlir::Operation* op) {
      if (auto f = mlir::dyn_cast<exec::WinogradKernelOp>(op)) TransformKernel(f);
      if (auto f = mlir::dyn_cast<exec::WinogradConv2DOp>(op)) Forward(f);
      if (auto f = mlir::dyn_cast<exec::WinogradInputGradOp>(op)) InputGrad(f);
      if (auto f = mlir::dyn_cast<exec::WinogradFilterGradOp>(op)) FilterGrad(f);
    });
    End();
  }

 private:
  Value Buffer(Value operand) { return buffers_[mlir::cast<mlir::BlockArgument>(operand).getArgNumber()]; }
  Value Result(mlir::Value result) {
    mlir::Operation* end = kernel_.getBody().front().getTerminator();
    return VectorKernel::Result(llvm::find(end->getOperands(), result) - end->operand_begin());
  }

  // Where the intermediate values of one block of tiles are in the scratch memory.
  struct Stages {
    Value sum, rows;
    TileMatrix x, y;
  };

  static bool IsBFloat16(Value v) { return td::TypeOf(v).getElementType().isBF16(); }

  Stages MakeStages(Value scratch, const WinogradShape& s, bool filter_grad) {
    const WinogradScratch at = ScratchOf(s, filter_grad);
    const int64_t rows = TileRows(s);
    Stages stages;
    stages.x = {v_.At(scratch, at.x), rows, s.channels_in};
    stages.y = {v_.At(scratch, at.y), rows, s.channels_out};
    stages.sum = v_.At(scratch, at.kernel);
    stages.rows = v_.At(scratch, at.rows);
    return stages;
  }

  void ForBlocks(const WinogradShape& s, const std::function<void(const TileBlock&)>& body) {
    Value last = v_.Mul(end_, s.tiles());
    v_.For(v_.Mul(begin_, s.tiles()), last, s.block, [&](Value first) {
      body({&s, first, v_.Min(v_.Int(s.block), v_.Sub(last, first))});
    });
  }

  static ImageMatrix ImageX(Value pointer, Value x, const WinogradShape& s) {
    return {pointer, s.height, s.width, s.channels_in, s.pad_top, s.pad_left, IsBFloat16(x)};
  }
  static ImageMatrix ImageY(Value pointer, Value y, const WinogradShape& s) {
    return {pointer, s.out_height, s.out_width, s.channels_out, 0, 0, IsBFloat16(y)};
  }

  void Forward(exec::WinogradConv2DOp op) {
    const WinogradShape s = exec::ShapeOf(op);
    const WinogradMatrices& w = GetWinogradMatrices(static_cast<int>(s.tile));
    Stages stages = MakeStages(Result(op.getScratch()), s, false);
    if (s.bfloat16_products) stages.x.elements = TileElements::kBFloat16;
    TileEpilogue epilogue;
    epilogue.relu = op.getRelu();
    if (Value residual = op.getResidual()) epilogue.residual = ImageY(Buffer(residual), residual, s);
    if (Value bias = op.getBias()) {
      epilogue.bias = Buffer(bias);
      epilogue.bfloat16_bias = IsBFloat16(bias);
    }
    ForBlocks(s, [&](const TileBlock& block) {
      EmitGatherTiles(v_, block, w.input, ImageX(Buffer(op.getX()), op.getX(), s), stages.x);
      EmitTileProducts(v_, s.points(), block.count, s.block, stages.x, Buffer(op.getKernel()), stages.y);
      EmitStoreTiles(v_, block, w.output, stages.y, epilogue, ImageY(Result(op.getOutput()), op.getOutput(), s));
    });
  }

  void InputGrad(exec::WinogradInputGradOp op) {
    const WinogradShape s = exec::ShapeOf(op);
    const WinogradMatrices& w = GetWinogradMatrices(static_cast<int>(s.tile));
    Stages stages = MakeStages(Result(op.getScratch()), s, false);
    if (s.bfloat16_products) stages.y.elements = TileElements::kBFloat16;
    ForBlocks(s, [&](const TileBlock& block) {
      EmitGatherTiles(v_, block, w.output.Transposed(), ImageY(Buffer(op.getDy()), op.getDy(), s), stages.y);
      EmitTileProducts(v_, s.points(), block.count, s.block, stages.y, Buffer(op.getKernel()), stages.x);
      EmitAddTiles(v_, block, w.input.Transposed(), stages.x, stages.rows, ImageX(Result(op.getDx()), op.getDx(), s));
    });
  }

  void FilterGrad(exec::WinogradFilterGradOp op) {
    const WinogradShape s = exec::ShapeOf(op);
    const WinogradMatrices& w = GetWinogradMatrices(static_cast<int>(s.tile));
    Stages stages = MakeStages(Result(op.getScratch()), s, true);
    if (s.bfloat16_products) stages.x.elements = stages.y.elements = TileElements::kBFloat16Pairs;
    const int64_t row = PadChannels(s.channels_out), panel = s.channels_in * row;
    // The first block of tiles writes the sum instead of adding to it. So the sum is cleared only if there are no
    // tiles.
    v_.If(v_.AtMost(v_.Sub(end_, begin_), 0), [&] { EmitZeros(v_, stages.sum, v_.Int(s.points() * panel), panel); });
    ForBlocks(s, [&](const TileBlock& block) {
      EmitGatherTiles(v_, block, w.input, ImageX(Buffer(op.getX()), op.getX(), s), stages.x);
      EmitGatherTiles(v_, block, w.output.Transposed(), ImageY(Buffer(op.getDy()), op.getDy(), s), stages.y);
      Value adds = v_.AtLeast(v_.Sub(block.first, v_.Mul(begin_, s.tiles())), 1);
      EmitTileOuterProducts(v_, s.points(), block.count, stages.x, stages.y, stages.sum, adds);
    });
    const RationalMatrix back = w.kernel.Transposed();
    Value dk = Result(op.getDkernel());
    v_.For(0, s.channels_in, 1, [&](Value c) {
      Value from = v_.At(stages.sum, v_.Mul(c, row)), to = v_.At(dk, v_.Mul(c, s.channels_out));
      ForChannels(v_, s.channels_out, [&](Value k, int64_t live) {
        Values sums;
        for (int64_t p = 0; p < s.points(); ++p) sums.push_back(v_.Load(v_.At(v_.At(from, k), p * panel)));
        Values taps = EmitTransform2D(v_, back, sums);
        for (int64_t tap = 0; tap < 9; ++tap) {
          v_.Store(taps[tap], v_.At(v_.At(to, k), tap * s.channels_in * s.channels_out), live);
        }
      });
    });
  }

  // Computes the transformed kernel in groups of rows. For each point, a group's rows of one block of columns are
  // stored together. In the adjoint transform, for input gradients, the rows of a group are neighbours in the kernel,
  // so that one cache line has all of them.
  void TransformKernel(exec::WinogradKernelOp op) {
    if (IsBFloat16(op.getKernel()) || IsBFloat16(op.getOutput())) return TransformKernel16(op);
    llvm::ArrayRef<int64_t> shape = td::TypeOf(op.getKernel()).getShape();
    const int64_t rows = shape[op.getAdjoint() ? 3 : 2], columns = shape[op.getAdjoint() ? 2 : 3];
    const int64_t group = v_.width(), whole_groups = rows / group;
    if (op.getAdjoint()) staged_ = v_.Scratch(9 * kWinogradColumns * group);
    // A call computes the groups that begin in elements [begin, end) of the kernel, as if the elements of a group were
    // stored together.
    const int64_t group_elements = group * 9 * columns;
    auto group_of = [&](Value element) { return v_.Div(v_.Add(element, group_elements - 1), group_elements); };
    Value first = group_of(begin_), last = group_of(end_);
    v_.For(first, v_.Min(last, v_.Int(whole_groups)), 1,
           [&](Value g) { TransformRows(op, v_.Mul(g, group), group, rows, columns); });
    if (rows % group != 0) {
      v_.If(v_.And(v_.AtMost(first, whole_groups), v_.AtLeast(last, whole_groups + 1)),
            [&] { TransformRows(op, v_.Int(whole_groups * group), rows % group, rows, columns); });
    }
    if (Streams(rows, columns)) v_.Fence();
  }

  // True if a transformed kernel is too large for a cache, so that it is stored without going through the caches.
  bool Streams(int64_t rows, int64_t columns) const {
    constexpr int64_t kStreamedBytes = int64_t{16} << 20;
    return columns % v_.width() == 0 && 36 * 4 * rows * columns >= kStreamedBytes;
  }

  // Transforms `count` rows from `first` on.
  void TransformRows(exec::WinogradKernelOp op, Value first, int64_t count, int64_t rows, int64_t columns) {
    const int64_t whole = columns / kWinogradColumns * kWinogradColumns;
    v_.For(0, whole, kWinogradColumns, [&](Value column) {
      TransformBlock(op, first, count, column, kWinogradColumns, kWinogradColumns, rows, columns);
    });
    if (whole < columns) {
      TransformBlock(op, first, count, v_.Int(whole), PadChannels(columns) - whole, columns - whole, rows, columns);
    }
  }

  // Transforms a block of `width` columns that are together in memory; those behind the first `live_columns` are
  // padding and get zeros.
  void TransformBlock(exec::WinogradKernelOp op, Value first_row, int64_t count, Value first_column, int64_t width,
                      int64_t live_columns, int64_t rows, int64_t columns) {
    const RationalMatrix& matrix = GetWinogradMatrices(static_cast<int>(op.getTile())).kernel;
    const bool adjoint = op.getAdjoint(), streams = Streams(rows, columns);
    const int64_t tap_elements = rows * columns, panel = rows * PadChannels(columns), vector_width = v_.width();
    Value source = v_.At(v_.At(Buffer(op.getKernel()), v_.Mul(first_row, adjoint ? 1 : columns)),
                         v_.Mul(first_column, adjoint ? rows : 1));
    Value target = v_.At(v_.At(Result(op.getOutput()), v_.Mul(first_column, rows)), v_.Mul(first_row, width));
    if (adjoint) {
      // Copies the taps to [tap][column][row], so that reading them transposed below touches few lines of the
      // first-level cache.
      for (int64_t tap = 0; tap < 9; ++tap) {
        v_.For(0, live_columns, 1, [&](Value column) {
          Value line = v_.Load(v_.At(v_.At(source, tap * tap_elements), v_.Mul(column, rows)), count);
          v_.Store(line, v_.At(v_.At(staged_, tap * kWinogradColumns * vector_width), v_.Mul(column, vector_width)));
        });
      }
    }
    v_.For(0, count, 1, [&](Value r) {
      auto vector = [&](Value column, int64_t live) {
        Values taps;
        for (int64_t tap = 0; tap < 9; ++tap) {
          if (adjoint) {
            Value base = v_.At(v_.At(staged_, r), v_.Mul(column, vector_width));
            taps.push_back(v_.LoadStrided(v_.At(base, tap * kWinogradColumns * vector_width), vector_width, live));
          } else {
            Value base = v_.At(v_.At(source, v_.Mul(r, columns)), column);
            taps.push_back(v_.Load(v_.At(base, tap * tap_elements), live));
          }
        }
        Values points = EmitTransform2D(v_, matrix, taps);
        Value place = v_.At(v_.At(target, v_.Mul(r, width)), column);
        for (size_t p = 0; p < points.size(); ++p) {
          Value address = v_.At(place, static_cast<int64_t>(p) * panel);
          streams ? v_.Stream(points[p], address) : v_.Store(points[p], address);
        }
      };
      const int64_t whole = live_columns / vector_width * vector_width;
      v_.For(0, whole, vector_width, [&](Value column) { vector(column, vector_width); });
      for (int64_t c = whole; c < width; c += vector_width) vector(v_.Int(c), std::max<int64_t>(0, live_columns - c));
    });
  }

  // Transforms a kernel from or to bfloat16 numbers, row by row.
  void TransformKernel16(exec::WinogradKernelOp op) {
    const RationalMatrix& matrix = GetWinogradMatrices(static_cast<int>(op.getTile())).kernel;
    llvm::ArrayRef<int64_t> shape = td::TypeOf(op.getKernel()).getShape();
    const int64_t in = shape[2], out = shape[3];
    const int64_t rows = op.getAdjoint() ? out : in, columns = op.getAdjoint() ? in : out;
    const int64_t row_stride = op.getAdjoint() ? 1 : out, column_stride = op.getAdjoint() ? out : 1;
    const bool from16 = IsBFloat16(op.getKernel()), to16 = IsBFloat16(op.getOutput());
    Value from = Buffer(op.getKernel()), to = Result(op.getOutput());
    // bfloat16 results are computed two rows at a time, whose pairs of numbers are as long as a float.
    const int64_t together = to16 ? 2 : 1, groups = PanelRows(rows, to16) / together;
    const int64_t panel = groups * PadChannels(columns);
    // Returns row r of the transformed kernel, columns [column, column + live), for all points.
    auto transformed = [&](Value r, Value column, int64_t live) {
      Values taps;
      Value first = v_.Add(v_.Mul(r, row_stride), v_.Mul(column, column_stride));
      Value base = from16 ? v_.At16(from, first) : v_.At(from, first);
      for (int64_t tap = 0; tap < 9; ++tap) {
        Value address = from16 ? v_.At16(base, tap * in * out) : v_.At(base, tap * in * out);
        if (column_stride == 1) {
          taps.push_back(from16 ? v_.Load16(address, live) : v_.Load(address, live));
        } else {
          taps.push_back(from16 ? v_.LoadStrided16(address, column_stride, live)
                                : v_.LoadStrided(address, column_stride, live));
        }
      }
      return EmitTransform2D(v_, matrix, taps);
    };
    // Transforms one block of columns of group `g`; padding gets zeros.
    auto block = [&](Value g, Value first, int64_t width, int64_t live_columns) {
      Value target = v_.At(v_.At(to, v_.Mul(first, groups)), v_.Mul(g, width));
      auto vector = [&](Value column, int64_t live) {
        Value r = v_.Mul(g, together), c = v_.Add(first, column), place = v_.At(target, column);
        Values points = transformed(r, c, live), second;
        if (to16) {
          // An odd last row is paired with zeros.
          Value next = v_.Add(r, 1);
          second = transformed(rows % 2 ? v_.Min(next, v_.Int(rows - 1)) : next, c, live);
          if (rows % 2) {
            Value there = v_.Within(next, rows);
            for (Value& point : second) point = v_.Select(there, point, v_.Splat(0));
          }
        }
        for (size_t p = 0; p < points.size(); ++p) {
          Value at = v_.At(place, static_cast<int64_t>(p) * panel);
          if (to16) {
            v_.StorePairs(v_.Pairs(points[p], second[p]), at);
          } else {
            v_.Store(points[p], at);
          }
        }
      };
      const int64_t whole = live_columns / v_.width() * v_.width();
      v_.For(0, whole, v_.width(), [&](Value column) { vector(column, v_.width()); });
      for (int64_t c = whole; c < width; c += v_.width()) vector(v_.Int(c), std::max<int64_t>(0, live_columns - c));
    };
    // A call computes the groups of rows that begin in elements [begin, end) of the kernel, as if the elements of a row
    // were stored together.
    const int64_t group_elements = 9 * columns * together;
    auto group_of = [&](Value element) { return v_.Div(v_.Add(element, group_elements - 1), group_elements); };
    const int64_t whole = columns / kWinogradColumns * kWinogradColumns;
    v_.For(group_of(begin_), group_of(end_), 1, [&](Value g) {
      v_.For(0, whole, kWinogradColumns, [&](Value first) { block(g, first, kWinogradColumns, kWinogradColumns); });
      if (whole < columns) block(g, v_.Int(whole), PadChannels(columns) - whole, columns - whole);
    });
  }

  Value staged_;  // copy of the taps of a group of rows, for the adjoint transform (input gradients) only
};

}  // namespace

extern const Emitter kWinogradEmitter = {
    "Winograd",
    IsKernelOf<exec::WinogradKernelOp, exec::WinogradConv2DOp, exec::WinogradInputGradOp, exec::WinogradFilterGradOp>,
    EmitBy<WinogradEmitter>, /*has_vectors=*/true};

}  // namespace tandem

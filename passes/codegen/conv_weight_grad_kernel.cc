#include "passes/codegen/conv_weight_grad_kernel.h"

#include <algorithm>

#include "graph/ir/contract.h"
#include "graph/ir/reference_util.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "passes/codegen/kernel_entry.h"
#include "passes/codegen/lane_tree.h"
#include "passes/codegen/register_tile.h"
#include "passes/codegen/vector_builder.h"

namespace tandem {
namespace {

namespace LLVM = mlir::LLVM;
using mlir::Value;
using Values = VectorBuilder::Values;

// For each tap the pixels of dy whose window reaches an image there are a rectangle. Its columns of x and dy are
// copied, so that the products run over memory in order: rows of x as tiles [row / tile][pixel][tile], columns of dy as
// [pixel][two vectors]. What is padding is neither copied nor multiplied.
class ConvWeightGradEmitter {
 public:
  ConvWeightGradEmitter(mlir::func::FuncOp kernel, const std::string& symbol, mlir::ModuleOp module, int lanes)
      : op_(mlir::cast<td::Conv2DWeightGradOp>(kernel.getBody().front().front())),
        b_(kernel.getContext()),
        v_(b_, kernel.getLoc(), lanes),
        tile_(RegisterTileRows(lanes)),
        width_(kRegisterTileVectors * lanes) {
    llvm::ArrayRef<int64_t> x = td::TypeOf(op_.getX()).getShape(), dy = td::TypeOf(op_.getDy()).getShape();
    height_[0] = x[1], height_[1] = x[2], channels_ = x[3];
    out_[0] = dy[1], out_[1] = dy[2], columns_ = dy[3];
    depth_ = op_.getLanes() * op_.getLaneRows() * out_[0] * out_[1];
    Begin(kernel, symbol, module);
  }

  void Emit() {
    // Parts of the result that belong to one tap.
    Value first = v_.Div(begin_, channels_), last = v_.Div(v_.Add(end_, channels_ - 1), channels_);
    v_.For(first, last, 1, [&](Value tap) {
      Value origin = v_.Mul(tap, channels_);
      Value from = v_.Max(v_.Sub(begin_, origin), v_.Int(0));
      Value to = v_.Min(v_.Sub(end_, origin), v_.Int(channels_));
      const Window window = WindowOf(tap);
      v_.For(from, to, kConvWeightGradRows,
             [&](Value channel) { Rows(origin, channel, v_.Min(v_.Add(channel, kConvWeightGradRows), to), window); });
    });
    b_.create<LLVM::ReturnOp>(v_.loc(), mlir::ValueRange{});
  }

 private:
  // Pixels [from, to) of dy by dimension, and what has to be added to a pixel's place times the stride.
  struct Window {
    Value from[2], to[2], shift[2], pixels;
  };

  void Begin(mlir::func::FuncOp kernel, const std::string& symbol, mlir::ModuleOp module) {
    const KernelEntry entry = BeginKernelEntry(b_, kernel.getLoc(), symbol, module, 3);
    x_ = entry.buffers[0], dy_ = entry.buffers[1], output_ = entry.buffers[2];
    begin_ = v_.Index(entry.begin), end_ = v_.Index(entry.end), batch_ = v_.Index(entry.rows);
    tiles_ = v_.Scratch(kConvWeightGradRows * depth_);
    panel_ = v_.Scratch(width_ * depth_);
  }

  Window WindowOf(Value tap) {
    Window w;
    Value place[2] = {v_.Div(tap, op_.getSize()[1]), v_.Rem(tap, op_.getSize()[1])};
    for (int d = 0; d < 2; ++d) {
      const int64_t stride = op_.getStrides()[d], pad = op_.getPadLow()[d];
      w.shift[d] = v_.Add(place[d], -pad);
      // The first pixel whose place times the stride plus the shift is not negative, the last that is in the image.
      Value missing = v_.Max(v_.Sub(v_.Int(0), w.shift[d]), v_.Int(0));
      w.from[d] = v_.Div(v_.Add(missing, stride - 1), stride);
      Value reach = v_.Max(v_.Sub(v_.Int(height_[d] + stride - 1), w.shift[d]), v_.Int(0));
      w.to[d] = v_.Max(v_.Min(v_.Div(reach, stride), v_.Int(out_[d])), w.from[d]);
    }
    w.pixels = b_.create<mlir::arith::MulIOp>(v_.loc(), v_.Sub(w.to[0], w.from[0]), v_.Sub(w.to[1], w.from[1]));
    return w;
  }

  // Calls copy(address in the image, number of the pixel in the window) for all examples.
  void ForPixels(const Window& w, Value base, bool of_x, const std::function<void(Value, Value)>& copy) {
    const int64_t rows = of_x ? height_[0] : out_[0], across = of_x ? height_[1] : out_[1];
    const int64_t channels = of_x ? channels_ : columns_;
    auto at = [&](int d, Value i) { return of_x ? v_.Add(v_.Mul(i, op_.getStrides()[d]), w.shift[d]) : i; };
    v_.For(v_.Int(0), batch_, 1, Values{v_.Int(0)}, [&](Value n, const Values& image) {
      return v_.For(w.from[0], w.to[0], 1, image, [&](Value i, const Values& row) {
        Value line = v_.Mul(v_.Add(v_.Mul(n, rows), at(0, i)), across);
        return v_.For(w.from[1], w.to[1], 1, row, [&](Value j, const Values& pixel) {
          copy(v_.At(base, v_.Mul(v_.Add(line, at(1, j)), channels)), pixel[0]);
          return Values{v_.Add(pixel[0], 1)};
        });
      });
    });
  }

  // Channels [from, to) of the tap whose rows of the result begin at `origin`.
  void Rows(Value origin, Value from, Value to, const Window& window) {
    Value rest = v_.Rem(v_.Sub(to, from), tile_), middle = v_.Sub(to, rest);
    auto tile_of = [&](Value channel) { return v_.At(tiles_, v_.Mul(v_.Sub(channel, from), depth_)); };
    v_.For(from, middle, tile_, [&](Value channel) {
      Value tile = tile_of(channel);
      ForPixels(window, v_.At(x_, channel), true,
                [&](Value pixel, Value k) { v_.Store(v_.Load(pixel, tile_), v_.At(tile, v_.Mul(k, tile_)), tile_); });
    });
    // Single rows are tiles of one.
    v_.For(middle, to, 1, [&](Value channel) {
      Value tile = tile_of(channel);
      ForPixels(window, v_.At(x_, channel), true,
                [&](Value pixel, Value k) { v_.Store(v_.Load(pixel, 1), v_.At(tile, k), 1); });
    });
    auto panel = [&](Value column, int64_t live) {
      ForPixels(window, v_.At(dy_, column), false, [&](Value pixel, Value k) {
        for (int64_t n = 0; n < live; n += v_.lanes()) {
          v_.Store(v_.Load(v_.At(pixel, n), std::min<int64_t>(v_.lanes(), live - n)),
                   v_.At(v_.At(panel_, v_.Mul(k, width_)), n));
        }
      });
      auto tile = [&](Value channel, int64_t rows) {
        Tile(v_.At(v_.At(output_, v_.Mul(v_.Add(origin, channel), columns_)), column), tile_of(channel), rows, live,
             window);
      };
      v_.For(from, middle, tile_, [&](Value channel) { tile(channel, tile_); });
      v_.For(middle, to, 1, [&](Value channel) { tile(channel, 1); });
    };
    const int64_t whole = columns_ / width_ * width_;
    v_.For(0, whole, width_, [&](Value column) { panel(column, width_); });
    if (whole < columns_) panel(v_.Int(whole), columns_ - whole);
  }

  void Tile(Value out, Value tile, int64_t rows, int64_t live, const Window& window) {
    const int64_t vectors = TileVectors(v_, live);
    Values sums = EmitLaneTree(v_, batch_, op_.getLanes(), op_.getLaneRows(),
                               [&](int64_t lane) { return Lane(lane, tile, rows, vectors, window); });
    StoreTile(v_, sums, rows, out, columns_, live);
  }

  // The products of one lane's pixels.
  Values Lane(int64_t lane, Value tile, int64_t rows, int64_t vectors, const Window& window) {
    const int64_t lane_rows = op_.getLaneRows();
    auto pixels = [&](Value examples) {
      return b_.create<mlir::arith::MulIOp>(v_.loc(), examples, window.pixels).getResult();
    };
    return v_.For(pixels(v_.Int(lane * lane_rows)), pixels(v_.Min(batch_, v_.Int((lane + 1) * lane_rows))), 1,
                  Values(rows * vectors, v_.Splat(0)), [&](Value k, const Values& sums) {
                    Values right = LoadTileRow(v_, v_.At(panel_, v_.Mul(k, width_)), vectors * v_.lanes());
                    return AddOuterProduct(v_, sums, rows, v_.At(tile, v_.Mul(k, rows)), right);
                  });
  }

  td::Conv2DWeightGradOp op_;
  mlir::OpBuilder b_;
  VectorBuilder v_;
  const int64_t tile_, width_;  // rows and columns of a register tile
  int64_t height_[2], channels_, out_[2], columns_;
  int64_t depth_;  // pixels of dy in a full batch
  Value x_, dy_, output_, begin_, end_, batch_;
  Value tiles_, panel_;
};

}  // namespace

bool IsConvWeightGradKernel(mlir::func::FuncOp kernel) {
  return mlir::isa<td::Conv2DWeightGradOp>(kernel.getBody().front().front());
}

void EmitConvWeightGradKernel(mlir::func::FuncOp kernel, const std::string& symbol, mlir::ModuleOp module,
                              int vector_bits) {
  ConvWeightGradEmitter(kernel, symbol, module, vector_bits / 32).Emit();
}

}  // namespace tandem

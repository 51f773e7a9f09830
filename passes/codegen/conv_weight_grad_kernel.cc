// Emits kernels of convolutions' weight gradients, whose rows threads share out among themselves: a call computes rows
// [begin, end) of the result, where row r is input channel r / taps of tap r % taps, from the first `rows` examples of
// the operands. Rows of a few channels share the copies of the operands for all taps. Bits do not depend on how the
// result is split (see weight_grad_kernel.cc). The copies lie on the stack: ConvWeightGradStackBytes.
#include <algorithm>

#include "graph/ir/contract.h"
#include "graph/ir/reference_util.h"
#include "passes/codegen/lane_tree.h"
#include "passes/codegen/register_tile.h"
#include "passes/codegen/vector_kernel.h"
#include "passes/codegen/weight_grad_stack.h"
#include "passes/exec/contraction.h"
#include "runtime/commands/block_kernel.h"

namespace tandem {
namespace {

using mlir::Value;
using Values = VectorBuilder::Values;

// Vectors of a register tile's rows. The copies are read from the second-level cache, and tiles of 8 x 3 read fewer
// bytes per multiply-add than tiles of 8 x 2.
constexpr int64_t kTileVectors = 3;
constexpr int64_t kPairFloats = 4;  // size of a pair of two addresses, in floats
// With more pixels of x than this, fewer channels are copied together.
constexpr int64_t kMaxKept = 2048;

// Returns the number of pixels of x that are copied. A single tap with a stride needs only some of them.
int64_t KeptPixels(int64_t taps, int64_t x_pixels, int64_t dy_pixels) { return taps == 1 ? dy_pixels : x_pixels; }

// Returns the number of channels whose tiles are copied together: fewer if many pixels are kept.
int64_t BlockChannels(int64_t taps, int64_t kept) {
  int64_t channels = ImageBlockChannels(taps);
  while (channels > 8 && channels * kept > ImageBlockChannels(taps) * kMaxKept) channels /= 2;
  return channels;
}

// Blocks of channels of x are copied as tiles [channel / tile][pixel][tile] and, for all taps of a block, columns of dy
// as [pixel][width], so that products run over memory in order. For each tap, the pixels of dy whose window is inside
// the image at that tap are a rectangle. The addresses of the pairs of pixels are listed, so that padding is not
// multiplied.
class ConvWeightGradEmitter : private VectorKernel {
 public:
  explicit ConvWeightGradEmitter(const EmitRequest& request)
      : VectorKernel(request),
        op_(mlir::cast<exec::ContractionOp>(kernel_.getBody().front().front())),
        tile_(RegisterTileRows(v_.width())),
        width_(kTileVectors * v_.width()) {
    llvm::ArrayRef<int64_t> x = td::TypeOf(op_.getX()).getShape(), dy = td::TypeOf(op_.getY()).getShape();
    size_[0] = x[1], size_[1] = x[2], channels_ = x[3];
    out_[0] = dy[1], out_[1] = dy[2], columns_ = dy[3];
    taps_ = op_.getSize()[0] * op_.getSize()[1];
    const int64_t batch = op_.getLanes() * op_.getLaneRows();
    depth_ = batch * out_[0] * out_[1];
    kept_ = KeptPixels(taps_, batch * size_[0] * size_[1], depth_);
    block_ = BlockChannels(taps_, kept_);
    x_ = StoredFloats::Of(buffers_[0], op_.getX()), dy_ = StoredFloats::Of(buffers_[1], op_.getY());
    tiles_ = v_.Scratch(block_ * kept_);
    panel_ = v_.Scratch(width_ * depth_);
    pairs_ = v_.Scratch(taps_ * depth_ * kPairFloats);
  }

  void Emit() {
    v_.For(0, taps_, 1, [&](Value tap) { List(tap); });
    Value first = v_.Div(begin_, taps_), last = v_.Div(v_.Add(end_, taps_ - 1), taps_);
    v_.For(first, last, block_, [&](Value channel) { Block(channel, v_.Min(v_.Add(channel, block_), last)); });
    End();
  }

 private:
  // The pixels [from, to) of dy, in each dimension, whose pixel of x is inside the image at one tap. The pixel of x is
  // the pixel of dy times the stride, plus `shift`.
  struct Window {
    Value from[2], to[2], shift[2], pixels;
  };

  Window WindowOf(Value tap) {
    Window w;
    Value place[2] = {v_.Div(tap, op_.getSize()[1]), v_.Rem(tap, op_.getSize()[1])};
    for (int d = 0; d < 2; ++d) {
      const int64_t stride = op_.getStrides()[d], pad = op_.getPadLow()[d];
      w.shift[d] = v_.Add(place[d], -pad);
      // From the first pixel whose pixel of x is not negative to the last one whose pixel of x is in the image.
      Value missing = v_.Max(v_.Sub(v_.Int(0), w.shift[d]), v_.Int(0));
      w.from[d] = v_.Div(v_.Add(missing, stride - 1), stride);
      Value reach = v_.Max(v_.Sub(v_.Int(size_[d] + stride - 1), w.shift[d]), v_.Int(0));
      w.to[d] = v_.Max(v_.Min(v_.Div(reach, stride), v_.Int(out_[d])), w.from[d]);
    }
    w.pixels = v_.Mul(v_.Sub(w.to[0], w.from[0]), v_.Sub(w.to[1], w.from[1]));
    return w;
  }

  // Calls visit(number of the pair, pixel of x, pixel of dy) for all pairs of pixels in a window, in all images.
  void ForPairs(const Window& w, const std::function<void(Value, Value, Value)>& visit) {
    auto place = [&](int d, Value i) { return v_.Add(v_.Mul(i, op_.getStrides()[d]), w.shift[d]); };
    v_.For(v_.Int(0), rows_, 1, Values{v_.Int(0)}, [&](Value n, const Values& image) {
      return v_.For(w.from[0], w.to[0], 1, image, [&](Value i, const Values& row) {
        Value of_x = v_.Mul(v_.Add(v_.Mul(n, size_[0]), place(0, i)), size_[1]);
        Value of_dy = v_.Mul(v_.Add(v_.Mul(n, out_[0]), i), out_[1]);
        return v_.For(w.from[1], w.to[1], 1, row, [&](Value j, const Values& pair) {
          visit(pair[0], v_.Add(of_x, place(1, j)), v_.Add(of_dy, j));
          return Values{v_.Add(pair[0], 1)};
        });
      });
    });
  }

  Value PairsOf(Value tap) { return v_.At(pairs_, v_.Mul(tap, depth_ * kPairFloats)); }

  // Writes the list of addresses, in the copies of x and dy, of a tap's pairs of pixels.
  void List(Value tap) {
    Value list = PairsOf(tap);
    ForPairs(WindowOf(tap), [&](Value number, Value of_x, Value of_dy) {
      Value pair = v_.At(list, v_.Mul(number, kPairFloats));
      v_.StorePointer(v_.At(tiles_, v_.Mul(taps_ == 1 ? number : of_x, tile_)), pair);
      v_.StorePointer(v_.At(panel_, v_.Mul(of_dy, width_)), v_.At(pair, kPairFloats / 2));
    });
  }

  // Copies channels [from, to) of all pixels of x that are needed, as tiles.
  void CopyTiles(Value from, Value to) {
    Value middle = v_.Sub(to, v_.Rem(v_.Sub(to, from), tile_));
    auto copy = [&](Value number, Value of_x) {
      const StoredFloats pixel = v_.At(x_, v_.Mul(of_x, channels_));
      Value place = v_.At(tiles_, v_.Mul(number, tile_));
      v_.For(from, middle, tile_, [&](Value channel) {
        v_.Store(v_.Load(v_.At(pixel, channel), tile_), v_.At(place, v_.Mul(v_.Sub(channel, from), kept_)), tile_);
      });
      Value rest = v_.At(place, v_.Mul(v_.Sub(middle, from), kept_));
      v_.For(middle, to, 1, [&](Value channel) {
        v_.Store(v_.Load(v_.At(pixel, channel), 1), v_.At(rest, v_.Sub(channel, middle)), 1);
      });
    };
    if (taps_ == 1) {
      ForPairs(WindowOf(v_.Int(0)), [&](Value number, Value of_x, Value) { copy(number, of_x); });
    } else {
      v_.For(v_.Int(0), v_.Mul(rows_, size_[0] * size_[1]), 1, [&](Value pixel) { copy(pixel, pixel); });
    }
  }

  void CopyPanel(Value column, int64_t live) {
    v_.For(v_.Int(0), v_.Mul(rows_, out_[0] * out_[1]), 1, [&](Value k) {
      const StoredFloats from = v_.At(dy_, v_.Add(v_.Mul(k, columns_), column));
      Value to = v_.At(panel_, v_.Mul(k, width_));
      for (int64_t n = 0; n < live; n += v_.width()) {
        v_.Store(v_.Load(v_.At(from, n), std::min<int64_t>(v_.width(), live - n)), v_.At(to, n));
      }
    });
  }

  // Computes those rows of [begin, end) that belong to channels [from, to).
  void Block(Value from, Value to) {
    CopyTiles(from, to);
    auto panel = [&](Value column, int64_t live) {
      CopyPanel(column, live);
      v_.For(0, taps_, 1, [&](Value tap) { Tap(from, to, tap, column, live); });
    };
    const int64_t whole = columns_ / width_ * width_;
    v_.For(0, whole, width_, [&](Value column) { panel(column, width_); });
    if (whole < columns_) panel(v_.Int(whole), columns_ - whole);
  }

  // Computes those rows of [begin, end) that belong to one tap and to channels [origin, to), for `live` columns from
  // `column` on. The copied tiles begin at channel `origin`.
  void Tap(Value origin, Value to, Value tap, Value column, int64_t live) {
    // Returns the first channel whose row, channel x taps + tap, is `row` or comes after it.
    auto channel_of = [&](Value row) { return v_.Div(v_.Add(v_.Sub(v_.Int(taps_ - 1), tap), row), taps_); };
    Value first = v_.Max(origin, channel_of(begin_)), last = v_.Max(first, v_.Min(to, channel_of(end_)));
    // Returns where the whole tiles among the first `channels` channels end.
    auto whole_tiles = [&](Value channels) { return v_.Add(origin, v_.Mul(v_.Div(channels, tile_), tile_)); };
    Value from = v_.Min(whole_tiles(v_.Add(v_.Sub(first, origin), tile_ - 1)), last);
    Value end = v_.Max(whole_tiles(v_.Sub(last, origin)), from);
    const Value pixels = WindowOf(tap).pixels, pairs = PairsOf(tap);
    auto tiles = [&](Value a, Value b, int64_t rows) {
      v_.For(a, b, rows, [&](Value channel) {
        // Single channels, before and after the whole tiles, may be anywhere in a tile.
        Value place = v_.Sub(channel, origin), within = v_.Rem(place, tile_);
        Value offset = v_.Add(v_.Mul(v_.Sub(place, within), kept_), within);
        Value out = v_.At(Result(0), v_.Mul(v_.Add(v_.Mul(tap, channels_), channel), columns_));
        Tile(v_.At(out, column), pairs, pixels, offset, rows, live);
      });
    };
    tiles(first, from, 1);
    tiles(from, end, tile_);
    tiles(end, last, 1);
  }

  // Computes a register tile of `rows` rows. `offset`: floats from the copied numbers of the first tile to those of
  // this one.
  void Tile(Value out, Value pairs, Value pixels, Value offset, int64_t rows, int64_t live) {
    const int64_t vectors = TileVectors(v_, live), lane_rows = op_.getLaneRows();
    Values sums = EmitLaneTree(v_, rows_, op_.getLanes(), lane_rows, [&](int64_t lane) {
      Value begin = v_.Mul(v_.Int(lane * lane_rows), pixels);
      Value end = v_.Mul(v_.Min(rows_, v_.Int((lane + 1) * lane_rows)), pixels);
      return v_.For(begin, end, 1, Values(rows * vectors, v_.Splat(0)), [&](Value k, const Values& sums) {
        Value pair = v_.At(pairs, v_.Mul(k, kPairFloats));
        Value left = v_.At(v_.LoadPointer(pair), offset);
        Value right = v_.LoadPointer(v_.At(pair, kPairFloats / 2));
        return AddOuterProduct(v_, sums, rows, left, LoadTileRow(v_, right, vectors * v_.width()));
      });
    });
    StoreTile(v_, sums, rows, out, columns_, live);
  }

  exec::ContractionOp op_;
  const int64_t tile_, width_;  // rows and columns of a register tile
  int64_t size_[2], channels_, out_[2], columns_, taps_;
  int64_t depth_, kept_;  // in a full batch: pixels of dy, and pixels of x that are copied
  int64_t block_;         // channels whose tiles are copied together
  StoredFloats x_, dy_;
  Value tiles_, panel_, pairs_;
};

}  // namespace

int64_t ConvWeightGradStackBytes(int64_t taps, int64_t x_pixels, int64_t dy_pixels) {
  constexpr int64_t kWidth = kTileVectors * 16;
  const int64_t kept = KeptPixels(taps, x_pixels, dy_pixels);
  return 4 * (BlockChannels(taps, kept) * kept + (kWidth + kPairFloats * taps) * dy_pixels);
}

extern const Emitter kConvWeightGradEmitter = {
    "convolution's weight gradient",
    IsContractionKernel<exec::ContractionKind::kConv2DFilterGrad, exec::Algorithm::kWeightGradBlocks>,
    EmitBy<ConvWeightGradEmitter>};

}  // namespace tandem

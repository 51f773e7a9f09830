// Emits kernels of filter gradients by a CPU's matrix unit (filter_grad_tiles): a call computes the sum over rows
// [begin, end), of which there is at least one. The target must have AVX-512 and AMX with bfloat16.
#include <algorithm>

#include "passes/codegen/tile_builder.h"
#include "passes/codegen/vector_kernel.h"
#include "passes/codegen/winograd_tiles.h"
#include "passes/exec/contraction.h"

namespace tandem {
namespace {

using mlir::Value;
using Values = VectorBuilder::Values;

constexpr int kLanes = 16;

class PackedFilterGradEmitter : private VectorKernel {
 public:
  explicit PackedFilterGradEmitter(const EmitRequest& request)
      : VectorKernel(request),
        s_(exec::PackedShapeOf(mlir::cast<exec::ContractionOp>(kernel_.getBody().front().front()))),
        at_(s_),
        tiles_(v_),
        x_(buffers_[0]),
        dy_(buffers_[1]),
        dk_(Result(0)),
        scratch_(Result(1)) {}

  void Emit() {
    tiles_.Configure();
    Value zeros = v_.At(scratch_, at_.zeros);
    EmitZeros(v_, zeros, v_.Int(at_.x - at_.zeros), kLanes);
    // All entries of the lists of addresses point to zeros (padding) at first. Those of a group's pixels are
    // overwritten later.
    v_.For(0, at_.zeros, 2, [&](Value n) { v_.StorePointer(zeros, v_.At(scratch_, n)); });
    v_.For(begin_, end_, s_.images(), [&](Value first) {
      const Group group = {first, v_.Min(v_.Int(s_.images()), v_.Sub(end_, first))};
      PackX(group);
      FindDy(group);
      auto columns = [&](Value k, int wide) {
        PackDy(group, k, wide);
        auto rows = [&](Value c, int high) {
          v_.For(0, s_.kernel[0], 1,
                 [&](Value i) { v_.For(0, s_.kernel[1], 1, [&](Value j) { Tap(group, i, j, c, high, k, wide); }); });
        };
        Pairs(s_.channels_in, rows);
      };
      Pairs(s_.channels_out, columns);
    });
    tiles_.Release();
    End();
  }

 private:
  // A group of images that are packed and multiplied together.
  struct Group {
    Value first, count;
  };
  // Images in memory, and the rows and columns [from, to) of a packed plane of x or copy of dy in which their pixels
  // are (PackedShape).
  struct Source {
    Value images;
    int64_t height, width, channels;
    int64_t from[2], to[2], stride[2], low[2];
  };

  // Returns how many pixels there are in a packed copy of dy from the first pixel of a group's first image of dy to the
  // last pixel of its last image.
  Value Pixels(const Group& group) {
    return v_.Add(v_.Mul(v_.Add(group.count, -1), s_.image_pixels()), s_.dy_pixels());
  }

  // Returns where the address of pixel `pixel` is stored in a list of addresses.
  Value Entry(Value list, Value pixel) { return v_.At(list, v_.Mul(pixel, 2)); }

  // Writes the addresses of a group's pixels into a list.
  void Find(const Group& group, const Source& s, Value list) {
    v_.For(v_.Int(0), group.count, 1, [&](Value n) {
      Value image = v_.At16(s.images, v_.Mul(v_.Add(group.first, n), s.height * s.width * s.channels));
      Value of_image = Entry(list, v_.Mul(n, s_.image_pixels()));
      v_.For(s.from[0], s.to[0], 1, [&](Value i) {
        Value row = v_.At16(image, v_.Mul(v_.Add(v_.Mul(i, s.stride[0]), -s.low[0]), s.width * s.channels));
        Value of_row = Entry(of_image, v_.Mul(i, s_.pitch()));
        v_.For(s.from[1], s.to[1], 1, [&](Value j) {
          Value pixel = v_.At16(row, v_.Mul(v_.Add(v_.Mul(j, s.stride[1]), -s.low[1]), s.channels));
          v_.StorePointer(pixel, Entry(of_row, j));
        });
      });
    });
  }

  // Loads 16 channels of pixel `pixel` of a list of addresses and of the pixel after it, as pairs of bfloat16 numbers.
  Value Pair(Value list, Value pixel, Value channel) {
    Value entry = Entry(list, pixel);
    return v_.LoadPairOfRows(v_.At16(v_.LoadPointer(entry), channel),
                             v_.At16(v_.LoadPointer(Entry(entry, v_.Int(1))), channel));
  }

  void PackX(const Group& group) {
    Value end = v_.Add(Pixels(group), s_.last_tap());
    for (int64_t plane = 0; plane < s_.planes(0) * s_.planes(1); ++plane) {
      const int64_t place[2] = {plane / s_.planes(1), plane % s_.planes(1)};
      Source source = {x_, s_.height, s_.width, s_.channels_in, {}, {}, {}, {}};
      for (int d = 0; d < 2; ++d) {
        source.from[d] = s_.from(d, place[d]), source.to[d] = s_.to(d, place[d]);
        source.stride[d] = s_.stride[d], source.low[d] = s_.pad_low[d] - place[d];
      }
      Value list = Entry(v_.At(scratch_, at_.pixels_x), v_.Int(plane * s_.plane_pixels()));
      Find(group, source, list);
      Value x = v_.At(scratch_, at_.x + plane * s_.channels_in * s_.plane_pixels() / 2);
      v_.For(v_.Int(0), end, kTilePixels, [&](Value pixel) {
        Value column = v_.At16(x, pixel);
        v_.For(0, s_.channels_in, kTileRows, [&](Value c) {
          Values square;
          for (int i = 0; i < kLanes; ++i) square.push_back(Pair(list, v_.Add(pixel, 2 * i), c));
          square = v_.Transpose(square);
          Value to = v_.At16(column, v_.Mul(c, s_.plane_pixels()));
          for (int i = 0; i < kLanes; ++i) v_.Store(square[i], v_.At16(to, i * s_.plane_pixels()));
        });
      });
    }
  }

  Value DyList() { return v_.At(scratch_, at_.pixels_dy); }

  void FindDy(const Group& group) {
    Value images = Entry(DyList(), v_.Int(kTilePixels));
    Find(group,
         {dy_, s_.out_height, s_.out_width, s_.channels_out, {0, 0}, {s_.out_height, s_.out_width}, {1, 1}, {0, 0}},
         images);
    // Products read some pixels beyond those of a group with few images, so their addresses are set to zeros.
    Value end = v_.Int(s_.images() * s_.image_pixels());
    v_.For(v_.Mul(group.count, s_.image_pixels()), end, 1,
           [&](Value n) { v_.StorePointer(v_.At(scratch_, at_.zeros), Entry(images, n)); });
  }

  // Returns the address of tile `tile`, 16 channels, in the packed copy of dy whose pairs begin at even (`odd` 0) or
  // odd pixels.
  Value Panel(int64_t odd, int64_t tile) {
    return v_.At(scratch_, at_.dy + (2 * odd + tile) * kTileRows * s_.panel_pixels() / 2);
  }

  void PackDy(const Group& group, Value k, int wide) {
    v_.For(v_.Int(0), v_.Add(Pixels(group), 2 * kTilePixels), 2, [&](Value pixel) {
      for (int odd = 0; odd < s_.copies(); ++odd) {
        for (int tile = 0; tile < wide; ++tile) {
          v_.Store(Pair(DyList(), v_.Add(pixel, odd), v_.Add(k, tile * kTileRows)),
                   v_.At(Panel(odd, tile), v_.Mul(pixel, kTileRows / 2)));
        }
      }
    });
  }

  // Calls f(first channel, tiles) for all channels, two tiles at a time as long as there are two.
  template <typename F>
  void Pairs(int64_t channels, F f) {
    const int64_t whole = channels / (2 * kTileRows) * (2 * kTileRows);
    v_.For(0, whole, 2 * kTileRows, [&](Value c) { f(c, 2); });
    if (whole < channels) f(v_.Int(whole), 1);
  }

  // Adds a group's products to `high` x `wide` tiles of the gradient of tap (i, j). The first group's products replace
  // what was there.
  void Tap(const Group& group, Value i, Value j, Value c, int high, Value k, int wide) {
    Value plane = v_.Add(v_.Mul(v_.Rem(i, s_.stride[0]), s_.planes(1)), v_.Rem(j, s_.stride[1]));
    Value shift = v_.Add(v_.Mul(v_.Div(i, s_.stride[0]), s_.pitch()), v_.Div(j, s_.stride[1]));
    Value x = v_.At(scratch_, at_.x);
    x = v_.At16(x, v_.Mul(v_.Add(v_.Mul(plane, s_.channels_in), c), s_.plane_pixels()));
    Value tap = v_.Add(v_.Mul(i, s_.kernel[1]), j);
    Value dk = v_.At(dk_, v_.Mul(v_.Add(v_.Mul(tap, s_.channels_in), c), s_.channels_out));
    Block(group, x, shift, v_.At(dk, k), high, wide);
  }

  // Registers 0 to 3 hold the sums, 4 and 5 tiles of x, 6 and 7 tiles of dy.
  void Block(const Group& group, Value x, Value shift, Value dk, int high, int wide) {
    auto for_sums = [&](auto f) {
      for (int r = 0; r < high; ++r) {
        for (int c = 0; c < wide; ++c) f(2 * r + c, v_.At(dk, r * kTileRows * s_.channels_out + c * kTileRows));
      }
    };
    const int64_t row_bytes = 4 * s_.channels_out;
    v_.If(
        v_.Equal(v_.Sub(group.first, begin_), 0), [&] { for_sums([&](int sum, Value) { tiles_.Zero(sum); }); },
        [&] { for_sums([&](int sum, Value place) { tiles_.Load(sum, place, row_bytes); }); });
    // The products begin at the cache line of x with the pixel that is multiplied by dy's first pixel.
    Value start = v_.Mul(v_.Div(shift, kTilePixels), kTilePixels);
    // The pixel in a packed copy of dy that is multiplied by pixel `start` of x.
    Value behind = v_.Add(v_.Sub(start, shift), kTilePixels);
    Value dy = v_.At(Panel(0, 0), v_.Mul(v_.Div(behind, 2), kTileRows));
    dy = v_.At(dy, v_.Mul(v_.Rem(shift, 2), 2 * kTileRows * s_.panel_pixels() / 2));
    v_.For(start, v_.Add(shift, Pixels(group)), kTilePixels, [&](Value pixel) {
      Value a = v_.At16(x, pixel), b = v_.At16(dy, v_.Mul(v_.Sub(pixel, start), kTileRows));
      for (int r = 0; r < high; ++r)
        tiles_.Load(4 + r, v_.At16(a, r * kTileRows * s_.plane_pixels()), 2 * s_.plane_pixels());
      for (int c = 0; c < wide; ++c) tiles_.Load(6 + c, v_.At16(b, c * kTileRows * s_.panel_pixels()), 4 * kLanes);
      for_sums([&](int sum, Value) { tiles_.AddProducts(sum, 4 + sum / 2, 6 + sum % 2); });
    });
    for_sums([&](int sum, Value place) { tiles_.Store(sum, place, row_bytes); });
  }

  const PackedShape s_;
  const PackedScratch at_;
  TileBuilder tiles_;
  Value x_, dy_, dk_, scratch_;
};

}  // namespace

extern const Emitter kPackedFilterGradEmitter = {
    "packed filter gradient",
    IsContractionKernel<exec::ContractionKind::kConv2DFilterGrad, exec::Algorithm::kFilterGradTiles>,
    EmitBy<PackedFilterGradEmitter>};

}  // namespace tandem

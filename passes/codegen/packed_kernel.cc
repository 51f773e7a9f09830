#include "passes/codegen/packed_kernel.h"

#include <algorithm>

#include "graph/ir/packed.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "passes/codegen/kernel_entry.h"
#include "passes/codegen/tile_builder.h"
#include "passes/codegen/vector_builder.h"
#include "passes/codegen/winograd_tiles.h"

namespace tandem {
namespace {

using mlir::Value;
using Values = VectorBuilder::Values;

constexpr int kLanes = 16;

// Rows of channels of an image that become rows of pairs: pixel j of row i of the packed rows is the image's pixel
// (i * stride - low) and so on, where the image has it.
struct PackedRows {
  int64_t height, width, channels;  // of the image
  int64_t rows, pitch;              // packed
  int64_t stride[2], low[2];

  // Packed rows (d = 0) or columns [from, to) that the image has.
  int64_t from(int d) const { return std::max<int64_t>(0, (low[d] + stride[d] - 1) / stride[d]); }
  int64_t to(int d) const {
    const int64_t pixels = (d == 0 ? height : width) + low[d];
    return std::max(from(d),
                    std::min(d == 0 ? rows : pitch, (std::max<int64_t>(pixels, 0) + stride[d] - 1) / stride[d]));
  }
};

class PackedFilterGradEmitter {
 public:
  PackedFilterGradEmitter(mlir::func::FuncOp kernel, const std::string& symbol, mlir::ModuleOp module)
      : s_(td::ShapeOf(mlir::cast<td::PackedFilterGradOp>(kernel.getBody().front().front()))),
        at_(s_),
        b_(kernel.getContext()),
        v_(b_, kernel.getLoc(), kLanes),
        tiles_(v_) {
    const KernelEntry entry = BeginKernelEntry(b_, kernel.getLoc(), symbol, module, 4);
    x_ = entry.buffers[0], dy_ = entry.buffers[1], dk_ = entry.buffers[2], scratch_ = entry.buffers[3];
    begin_ = v_.Index(entry.begin), end_ = v_.Index(entry.end);
  }

  void Emit() {
    tiles_.Configure();
    // Packing writes where images have pixels only; what is padding stays 0.
    EmitZeros(v_, scratch_, v_.Int(at_.floats), at_.floats);
    v_.For(begin_, end_, s_.images(), [&](Value first) {
      Value count = v_.Min(v_.Int(s_.images()), v_.Sub(end_, first));
      v_.For(v_.Int(0), count, 1, [&](Value image) {
        PackX(v_.Add(first, image), image);
        PackDy(v_.Add(first, image), image);
      });
      v_.For(0, s_.kernel[0], 1,
             [&](Value i) { v_.For(0, s_.kernel[1], 1, [&](Value j) { Tap(i, j, first, count); }); });
    });
    tiles_.Release();
    b_.create<mlir::LLVM::ReturnOp>(v_.loc(), mlir::ValueRange{});
  }

 private:
  int64_t x_image() const { return s_.planes(0) * s_.planes(1) * s_.channels_in * s_.plane_pixels() / 2; }  // floats
  int64_t dy_image() const { return s_.channels_out * s_.pixels() / 2; }

  // 16 channels of an image, from `image` on, as pairs of neighbouring pixels [pair][16] at `to`.
  void PackPairs(const PackedRows& r, Value image, Value to) {
    const int64_t from = r.from(1), end = r.to(1);
    v_.For(r.from(0), r.to(0), 1, [&](Value i) {
      Value row = v_.At16(image, v_.Mul(v_.Add(v_.Mul(i, r.stride[0]), -r.low[0]), r.width * r.channels));
      Value out = v_.At(to, v_.Mul(i, r.pitch / 2 * kLanes));
      auto pixel = [&](Value j) { return v_.At16(row, v_.Mul(v_.Add(v_.Mul(j, r.stride[1]), -r.low[1]), r.channels)); };
      auto pair = [&](Value p, bool first, bool second) {
        Value j = v_.Mul(p, 2);
        v_.Store(v_.LoadPairOfRows(first ? pixel(j) : nullptr, second ? pixel(v_.Add(j, 1)) : nullptr),
                 v_.At(out, v_.Mul(p, kLanes)));
      };
      if (from % 2 != 0 && from < end) pair(v_.Int(from / 2), false, true);
      v_.For((from + 1) / 2, end / 2, 1, [&](Value p) { pair(p, true, true); });
      if (end % 2 != 0 && from < end) pair(v_.Int(end / 2), true, false);
    });
  }

  void PackX(Value row, Value image) {
    Value from = v_.At16(x_, v_.Mul(row, s_.height * s_.width * s_.channels_in));
    Value to = v_.At(v_.At(scratch_, at_.x), v_.Mul(image, x_image()));
    const int64_t pairs = s_.plane_pixels() / 2;
    for (int64_t plane = 0; plane < s_.planes(0) * s_.planes(1); ++plane) {
      const int64_t place[2] = {plane / s_.planes(1), plane % s_.planes(1)};
      PackedRows r = {s_.height, s_.width, s_.channels_in, s_.plane_rows(), s_.pitch(), {}, {}};
      for (int d = 0; d < 2; ++d) {
        r.stride[d] = s_.stride[d];
        r.low[d] = s_.pad_low[d] - place[d];
      }
      Value staged = v_.At(scratch_, at_.staged + plane * pairs * kLanes);
      v_.For(0, s_.channels_in, kLanes, [&](Value c) {
        PackPairs(r, v_.At16(from, c), staged);
        Value rows = v_.At(to, v_.Mul(v_.Add(c, plane * s_.channels_in), pairs));
        v_.For(0, pairs, kLanes, [&](Value p) {
          Values square;
          Value corner = v_.At(staged, v_.Mul(p, kLanes));
          for (int i = 0; i < kLanes; ++i) square.push_back(v_.Load(v_.At(corner, i * kLanes)));
          square = v_.Transpose(square);
          for (int i = 0; i < kLanes; ++i) v_.Store(square[i], v_.At(v_.At(rows, p), i * pairs));
        });
      });
    }
  }

  void PackDy(Value row, Value image) {
    Value from = v_.At16(dy_, v_.Mul(row, s_.out_height * s_.out_width * s_.channels_out));
    Value to = v_.At(v_.At(scratch_, at_.dy), v_.Mul(image, dy_image()));
    PackedRows r = {s_.out_height, s_.out_width, s_.channels_out, s_.out_height, s_.pitch(), {1, 1}, {0, 0}};
    v_.For(0, s_.channels_out, kLanes,
           [&](Value k) { PackPairs(r, v_.At16(from, k), v_.At(to, v_.Mul(k, s_.pixels() / 2))); });
  }

  // Adds `count` packed images to the gradient at kernel place (i, j), or sets it for the `first` row of all.
  void Tap(Value i, Value j, Value first, Value count) {
    Value plane = v_.Add(v_.Mul(v_.Rem(i, s_.stride[0]), s_.planes(1)), v_.Rem(j, s_.stride[1]));
    Value pixel = v_.Add(v_.Mul(v_.Div(i, s_.stride[0]), s_.pitch()), v_.Div(j, s_.stride[1]));
    Value x = v_.At(v_.At(scratch_, at_.x), v_.Mul(plane, s_.channels_in * s_.plane_pixels() / 2));
    x = v_.At16(x, pixel);
    Value dy = v_.At(scratch_, at_.dy);
    Value tap = v_.Add(v_.Mul(i, s_.kernel[1]), j);
    Value dk = v_.At(dk_, v_.Mul(tap, s_.channels_in * s_.channels_out));
    auto columns = [&](Value k, int wide) {
      auto rows = [&](Value c, int high) {
        Block(v_.At16(x, v_.Mul(c, s_.plane_pixels())), v_.At(dy, v_.Mul(k, s_.pixels() / 2)),
              v_.At(v_.At(dk, v_.Mul(c, s_.channels_out)), k), high, wide, v_.Equal(v_.Sub(first, begin_), 0), count);
      };
      Pairs(s_.channels_in, rows);
    };
    Pairs(s_.channels_out, columns);
  }

  // Calls f(first channel, tiles) for all channels, two tiles at a time as long as there are.
  template <typename F>
  void Pairs(int64_t channels, F f) {
    const int64_t whole = channels / (2 * kTileRows) * (2 * kTileRows);
    v_.For(0, whole, 2 * kTileRows, [&](Value c) { f(c, 2); });
    if (whole < channels) f(v_.Int(whole), 1);
  }

  // high x wide tiles of the gradient: registers 0 to 3, of x 4 and 5, of dy 6 and 7.
  void Block(Value x, Value dy, Value dk, int high, int wide, Value is_first, Value count) {
    auto for_sums = [&](auto f) {
      for (int r = 0; r < high; ++r) {
        for (int c = 0; c < wide; ++c) f(2 * r + c, v_.At(dk, r * kTileRows * s_.channels_out + c * kTileRows));
      }
    };
    const int64_t row_bytes = 4 * s_.channels_out;
    v_.If(
        is_first, [&] { for_sums([&](int sum, Value) { tiles_.Zero(sum); }); },
        [&] { for_sums([&](int sum, Value place) { tiles_.Load(sum, place, row_bytes); }); });
    v_.For(v_.Int(0), count, 1, [&](Value image) {
      Value left = v_.At(x, v_.Mul(image, x_image())), right = v_.At(dy, v_.Mul(image, dy_image()));
      v_.For(0, s_.pixels(), kTilePixels, [&](Value pixel) {
        Value a = v_.At16(left, pixel), b = v_.At(right, v_.Mul(pixel, kLanes / 2));
        for (int r = 0; r < high; ++r)
          tiles_.Load(4 + r, v_.At16(a, r * kTileRows * s_.plane_pixels()), 2 * s_.plane_pixels());
        for (int c = 0; c < wide; ++c) tiles_.Load(6 + c, v_.At(b, c * kLanes * s_.pixels() / 2), 4 * kLanes);
        for_sums([&](int sum, Value) { tiles_.AddProducts(sum, 4 + sum / 2, 6 + sum % 2); });
      });
    });
    for_sums([&](int sum, Value place) { tiles_.Store(sum, place, row_bytes); });
  }

  const PackedShape s_;
  const PackedScratch at_;
  mlir::OpBuilder b_;
  VectorBuilder v_;
  TileBuilder tiles_;
  Value x_, dy_, dk_, scratch_, begin_, end_;
};

}  // namespace

bool IsPackedKernel(mlir::func::FuncOp kernel) {
  return mlir::isa<td::PackedFilterGradOp>(kernel.getBody().front().front());
}

void EmitPackedKernel(mlir::func::FuncOp kernel, const std::string& symbol, mlir::ModuleOp module) {
  PackedFilterGradEmitter(kernel, symbol, module).Emit();
}

}  // namespace tandem

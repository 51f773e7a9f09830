#include "passes/codegen/winograd_products.h"

#include <algorithm>

#include "passes/codegen/product_tile.h"
#include "passes/exec/winograd_shape.h"

namespace tandem {
namespace {

using mlir::Value;
using Values = VectorBuilder::Values;

// Transformed kernels with more bytes than this are prefetched by code. They come from beyond the second-level cache,
// where the CPU's own prefetching is too slow: on an Intel Xeon they arrived at 8 GB/s.
constexpr int64_t kFetchedBytes = int64_t{1} << 20;

}  // namespace

void EmitTileProducts(VectorBuilder& v, int64_t points, Value tiles, int64_t block_tiles, const TileMatrix& from,
                      Value kernel, const TileMatrix& to) {
  const bool pairs = from.elements == TileElements::kBFloat16;
  // With bfloat16 the depth and the length of a row are counted in pairs of channels.
  const int64_t depth = pairs ? (from.channels + 1) / 2 : from.channels;
  const int64_t columns = PadChannels(to.channels), from_row = PadChannels(from.channels) / (pairs ? 2 : 1);
  // Multiplies the tiles at `a` by `width` columns of the kernel at `u`, which are stored together, and stores the
  // results at `d`.
  auto block = [&](Value a, Value u, Value d, int64_t width) {
    const int64_t vectors = width / v.width();
    ForVectorGroups(vectors, LargestTile(v.width(), vectors).vectors, [&](int64_t first, int64_t count) {
      const int rows = TileRowsFor(LargestTile(v.width(), count).rows, block_tiles);
      Value right = v.At(u, first * v.width()), out = v.At(d, first * v.width());
      // The next columns of the kernel follow in memory. Each register tile of a block prefetches a part of them. If
      // there are more register tiles than parts, some parts are prefetched twice, which costs next to nothing.
      const int64_t lines = width / kLineFloats, register_tiles = (block_tiles + rows - 1) / rows;
      const int64_t fetched = (lines + register_tiles - 1) / register_tiles, parts = (lines + fetched - 1) / fetched;
      const bool fetches = count == vectors && 4 * points * depth * columns > kFetchedBytes;
      v.For(v.Int(0), tiles, rows, [&](Value t) {
        Value left = v.At(a, v.Mul(t, from_row)), result = v.At(out, v.Mul(t, columns));
        LinesToFetch fetch;
        if (fetches) {
          Value part = v.Rem(v.Div(t, rows), parts);
          fetch = {v.At(v.At(u, depth * width), v.Mul(part, fetched * depth * kLineFloats)), fetched};
        }
        Values sums = MultiplyAdd(v, pairs, v.Int(depth), rows, count, {left, from_row, 1}, {right, width},
                                  Values(rows * count, v.Splat(0)), fetch);
        for (int r = 0; r < rows; ++r) {
          for (int64_t n = 0; n < count; ++n) {
            v.Store(sums[r * count + n], v.At(result, r * columns + n * v.width()));
          }
        }
      });
    });
  };
  v.For(0, points, 1, [&](Value point) {
    Value a = v.At(from.pointer, v.Mul(point, from.point_floats()));
    Value u = v.At(kernel, v.Mul(point, depth * columns));
    Value d = v.At(to.pointer, v.Mul(point, to.point_floats()));
    const int64_t whole = columns / kWinogradColumns * kWinogradColumns;
    v.For(0, whole, kWinogradColumns,
          [&](Value first) { block(a, v.At(u, v.Mul(first, depth)), v.At(d, first), kWinogradColumns); });
    if (whole < columns) block(a, v.At(u, whole * depth), v.At(d, whole), columns - whole);
  });
}

void EmitTileOuterProducts(VectorBuilder& v, int64_t points, Value tiles, const TileMatrix& x, const TileMatrix& y,
                           Value sum, Value adds) {
  Value added = v.Mask(adds);
  const bool pairs = x.elements == TileElements::kBFloat16Pairs;
  const int64_t x_row = PadChannels(x.channels), y_row = PadChannels(y.channels);
  // With pairs of bfloat16 numbers, a row holds two tiles.
  Value depth = pairs ? v.Div(v.Add(tiles, 1), 2) : tiles;
  v.For(0, points, 1, [&](Value point) {
    Value a = v.At(x.pointer, v.Mul(point, x.point_floats()));
    Value b = v.At(y.pointer, v.Mul(point, y.point_floats()));
    Value s = v.At(sum, v.Mul(point, x.channels * y_row));
    // Computes a register tile, whose rows are channels of x, from c on, and whose columns are channels of y, from k
    // on.
    auto tile = [&](Value c, Value k, int rows, int64_t count) {
      Value left = v.At(a, c), right = v.At(b, k);
      Value result = v.At(v.At(s, v.Mul(c, y_row)), k);
      Values sums;
      auto place = [&](int r, int64_t n) { return v.At(result, r * y_row + n * v.width()); };
      for (int r = 0; r < rows; ++r) {
        for (int64_t n = 0; n < count; ++n) sums.push_back(v.Load(place(r, n), v.width(), added));
      }
      sums = MultiplyAdd(v, pairs, depth, rows, count, {left, 1, x_row}, {right, y_row}, sums);
      for (int r = 0; r < rows; ++r) {
        for (int64_t n = 0; n < count; ++n) v.Store(sums[r * count + n], place(r, n));
      }
    };
    // Covers all channels of x with as few register tiles as possible, of two heights that differ by one.
    auto columns = [&](Value k, int64_t count) {
      const int64_t most = LargestTile(v.width(), count).rows, tiles_down = (x.channels + most - 1) / most;
      const int64_t low = x.channels / tiles_down, high = low + 1, split = x.channels % tiles_down * high;
      v.For(0, split, high, [&](Value c) { tile(c, k, static_cast<int>(high), count); });
      v.For(split, x.channels, low, [&](Value c) { tile(c, k, static_cast<int>(low), count); });
    };
    const int64_t vectors = y_row / v.width(), most = LargestTile(v.width(), vectors).vectors;
    const int64_t whole = vectors / most * most * v.width();
    v.For(0, whole, most * v.width(), [&](Value k) { columns(k, most); });
    if (whole < y_row) columns(v.Int(whole), (y_row - whole) / v.width());
  });
}

}  // namespace tandem

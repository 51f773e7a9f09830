#include "passes/codegen/winograd_tiles.h"

#include "passes/codegen/linear_transform.h"

namespace tandem {
namespace {

using mlir::Value;
using Values = VectorBuilder::Values;

// Where the patch of one tile lies.
struct Patch {
  int64_t size;   // pixels down and across
  Value row;      // of the batch
  Value i, j;     // of the tile
  Value y, x;     // first pixel, maybe outside
  Value address;  // of that pixel's first channel
  Value inside;   // all of it lies in the image; null when every patch does
};

Patch PatchOf(VectorBuilder& v, const TileBlock& block, const ImageMatrix& image, int64_t size, Value t) {
  const WinogradShape& s = *block.shape;
  Patch p;
  p.size = size;
  Value number = v.Add(block.first, t);
  p.row = v.Div(number, s.tiles());
  Value rest = v.Rem(number, s.tiles());
  p.i = v.Div(rest, s.tiles_across());
  p.j = v.Rem(rest, s.tiles_across());
  p.y = v.Add(v.Mul(p.i, s.tile), -image.top);
  p.x = v.Add(v.Mul(p.j, s.tile), -image.left);
  Value pixel = v.Add(v.Mul(v.Add(v.Mul(p.row, image.height), p.y), image.width), p.x);
  p.address = v.At(image.pointer, v.Mul(pixel, image.channels));
  const bool always = image.top == 0 && image.left == 0 && (s.tiles_down() - 1) * s.tile + size <= image.height &&
                      (s.tiles_across() - 1) * s.tile + size <= image.width;
  if (!always) {
    p.inside = v.And(v.And(v.AtLeast(p.y, 0), v.AtMost(p.y, image.height - size)),
                     v.And(v.AtLeast(p.x, 0), v.AtMost(p.x, image.width - size)));
  }
  return p;
}

// Calls body(true) for patches inside and body(false) for those that reach over the border.
void ForBoth(VectorBuilder& v, const Patch& p, const std::function<void(bool)>& body) {
  if (!p.inside) return body(true);
  v.If(
      p.inside, [&] { body(true); }, [&] { body(false); });
}

// Per pixel of the patch whether it lies in the image.
Values PixelsInside(VectorBuilder& v, const Patch& p, const ImageMatrix& image) {
  Values down, across, both;
  for (int64_t n = 0; n < p.size; ++n) {
    down.push_back(v.Within(v.Add(p.y, n), image.height));
    across.push_back(v.Within(v.Add(p.x, n), image.width));
  }
  for (int64_t r = 0; r < p.size; ++r) {
    for (int64_t c = 0; c < p.size; ++c) both.push_back(v.And(down[r], across[c]));
  }
  return both;
}

Value PixelAddress(VectorBuilder& v, const Patch& p, const ImageMatrix& image, int64_t pixel) {
  return v.At(p.address, (pixel / p.size * image.width + pixel % p.size) * image.channels);
}

// The transformed tile t, channels from `channel`.
Values LoadTile(VectorBuilder& v, const TileMatrix& from, int64_t points, Value t, Value channel) {
  const int64_t width = PadChannels(from.channels);
  Value base = v.At(v.At(from.pointer, v.Mul(t, width)), channel);
  Values tile;
  for (int64_t p = 0; p < points; ++p) tile.push_back(v.Load(v.At(base, p * from.rows * width)));
  return tile;
}

}  // namespace

void ForChannels(VectorBuilder& v, int64_t channels, const std::function<void(Value, int64_t)>& body) {
  const int64_t whole = channels / v.lanes() * v.lanes();
  v.For(0, whole, v.lanes(), [&](Value c) { body(c, v.lanes()); });
  if (whole < channels) body(v.Int(whole), channels - whole);
}

void EmitZeros(VectorBuilder& v, Value pointer, Value floats) {
  Value whole = v.Mul(v.Div(floats, v.lanes()), v.lanes());
  v.For(v.Int(0), whole, v.lanes(), [&](Value i) { v.Store(v.Splat(0), v.At(pointer, i)); });
  v.For(whole, floats, 1, [&](Value i) { v.Store(v.Splat(0), v.At(pointer, i), 1); });
}

void EmitGatherTiles(VectorBuilder& v, const TileBlock& block, const RationalMatrix& matrix, const ImageMatrix& image,
                     Value zeros, const TileMatrix& to) {
  const int64_t width = PadChannels(to.channels);
  v.For(v.Int(0), block.count, 1, [&](Value t) {
    Patch p = PatchOf(v, block, image, matrix.columns, t);
    Value out = v.At(to.pointer, v.Mul(t, width));
    ForBoth(v, p, [&](bool inside) {
      Values addresses;
      for (int64_t n = 0; n < p.size * p.size; ++n) addresses.push_back(PixelAddress(v, p, image, n));
      if (!inside) {
        Values valid = PixelsInside(v, p, image);
        for (size_t n = 0; n < addresses.size(); ++n) addresses[n] = v.Select(valid[n], addresses[n], zeros);
      }
      ForChannels(v, image.channels, [&](Value c, int64_t live) {
        Values pixels;
        for (Value a : addresses) pixels.push_back(v.Load(v.At(a, c), live));
        Values points = EmitTransform2D(v, matrix, pixels);
        Value place = v.At(out, c);
        for (size_t n = 0; n < points.size(); ++n) {
          v.Store(points[n], v.At(place, static_cast<int64_t>(n) * to.rows * width));
        }
      });
    });
  });
}

void EmitStoreTiles(VectorBuilder& v, const TileBlock& block, const RationalMatrix& matrix, const TileMatrix& from,
                    Value bias, bool relu, const ImageMatrix& image) {
  v.For(v.Int(0), block.count, 1, [&](Value t) {
    Patch p = PatchOf(v, block, image, matrix.rows, t);
    ForBoth(v, p, [&](bool inside) {
      Values valid = inside ? Values() : PixelsInside(v, p, image);
      ForChannels(v, image.channels, [&](Value c, int64_t live) {
        Values pixels = EmitTransform2D(v, matrix, LoadTile(v, from, block.shape->points(), t, c));
        Value shift = bias ? v.Load(v.At(bias, c), live) : nullptr;
        for (int64_t n = 0; n < p.size * p.size; ++n) {
          Value pixel = shift ? v.AddF(pixels[n], shift) : pixels[n];
          if (relu) pixel = v.Relu(pixel);
          auto store = [&] { v.Store(pixel, v.At(PixelAddress(v, p, image, n), c), live); };
          inside ? store() : v.If(valid[n], store);
        }
      });
    });
  });
}

void EmitAddTiles(VectorBuilder& v, const TileBlock& block, const RationalMatrix& matrix, const TileMatrix& from,
                  const ImageMatrix& image) {
  const WinogradShape& s = *block.shape;
  v.For(v.Int(0), block.count, 1, [&](Value t) {
    Patch p = PatchOf(v, block, image, matrix.rows, t);
    // The first tile of a row of tiles clears the rows of pixels that the row above does not reach.
    v.If(v.Equal(p.j, 0), [&] {
      Value from_y = v.Select(v.Equal(p.i, 0), v.Int(0), v.Add(p.y, p.size - s.tile));
      Value to_y = v.Min(v.Add(p.y, p.size), v.Int(image.height));
      Value rows = v.Max(v.Sub(to_y, from_y), v.Int(0));
      Value pixel = v.Mul(v.Add(v.Mul(p.row, image.height), from_y), image.width);
      EmitZeros(v, v.At(image.pointer, v.Mul(pixel, image.channels)), v.Mul(rows, image.width * image.channels));
    });
    ForBoth(v, p, [&](bool inside) {
      Values valid = inside ? Values() : PixelsInside(v, p, image);
      ForChannels(v, image.channels, [&](Value c, int64_t live) {
        Values pixels = EmitTransform2D(v, matrix, LoadTile(v, from, block.shape->points(), t, c));
        for (int64_t n = 0; n < p.size * p.size; ++n) {
          auto add = [&] {
            Value address = v.At(PixelAddress(v, p, image, n), c);
            v.Store(v.AddF(v.Load(address, live), pixels[n]), address, live);
          };
          inside ? add() : v.If(valid[n], add);
        }
      });
    });
  });
}

}  // namespace tandem

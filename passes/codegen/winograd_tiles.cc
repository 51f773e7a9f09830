#include "passes/codegen/winograd_tiles.h"

#include "passes/codegen/linear_transform.h"

namespace tandem {
namespace {

using mlir::Value;
using Values = VectorBuilder::Values;

Value ElementAt(VectorBuilder& v, const ImageMatrix& image, Value pointer, Value n) {
  return image.bfloat16 ? v.At16(pointer, n) : v.At(pointer, n);
}

// The patch of an image that belongs to one tile.
struct Patch {
  int64_t size;   // side of the patch in pixels
  Value row;      // number of the image in the batch
  Value i, j;     // place of the tile in the image: row and column of tiles
  Value y, x;     // row and column of the first pixel, which may be outside of the image
  Value address;  // address of that pixel's first channel
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
  p.address = ElementAt(v, image, image.pointer, v.Mul(pixel, image.channels));
  return p;
}

// Returns for each line of a patch of `size` pixels from `first` on the condition that the line is in the image; null
// if it is in the image for every patch. Patches begin at multiples of `tile` minus `before`.
Values LinesInside(VectorBuilder& v, Value first, int64_t size, int64_t tiles, int64_t tile, int64_t before,
                   int64_t image) {
  Values inside(size);
  for (int64_t n = 0; n < size; ++n) {
    if (n < before || (tiles - 1) * tile - before + n >= image) inside[n] = v.Within(v.Add(first, n), image);
  }
  return inside;
}

// Returns for each pixel of the patch a mask for its loads and stores. It selects nothing if the pixel is outside of
// the image, and is null for pixels that are inside in every patch. All tiles use the same code, wherever they are.
Values PixelMasks(VectorBuilder& v, const TileBlock& block, const ImageMatrix& image, const Patch& p) {
  const WinogradShape& s = *block.shape;
  Values down = LinesInside(v, p.y, p.size, s.tiles_down(), s.tile, image.top, image.height);
  Values across = LinesInside(v, p.x, p.size, s.tiles_across(), s.tile, image.left, image.width);
  // Pixels that need a mask in one direction only share the mask of their line or column.
  Values down_masks, across_masks, masks;
  for (Value inside : down) down_masks.push_back(inside ? v.Mask(inside) : nullptr);
  for (Value inside : across) across_masks.push_back(inside ? v.Mask(inside) : nullptr);
  for (int64_t r = 0; r < p.size; ++r) {
    for (int64_t c = 0; c < p.size; ++c) {
      const bool both = down[r] && across[c];
      masks.push_back(both ? v.Mask(v.And(down[r], across[c])) : down[r] ? down_masks[r] : across_masks[c]);
    }
  }
  return masks;
}

// Returns the addresses of channel `channel` of all pixels, row by row.
Values PixelAddresses(VectorBuilder& v, const Patch& p, const ImageMatrix& image, Value channel) {
  Value first = ElementAt(v, image, p.address, channel);
  Values all;
  for (int64_t r = 0; r < p.size; ++r) {
    for (int64_t c = 0; c < p.size; ++c) {
      all.push_back(ElementAt(v, image, first, v.Int((r * image.width + c) * image.channels)));
    }
  }
  return all;
}

// Loads a vector of channels, from `channel` on, of the transformed tile t.
Values LoadTile(VectorBuilder& v, const TileMatrix& from, int64_t points, Value t, Value channel) {
  const int64_t width = PadChannels(from.channels);
  Value base = v.At(v.At(from.pointer, v.Mul(t, width)), channel);
  Values tile;
  for (int64_t p = 0; p < points; ++p) tile.push_back(v.Load(v.At(base, p * from.point_floats())));
  return tile;
}

}  // namespace

void ForChannels(VectorBuilder& v, int64_t channels, const std::function<void(Value, int64_t)>& body) {
  const int64_t whole = channels / v.width() * v.width();
  v.For(0, whole, v.width(), [&](Value c) { body(c, v.width()); });
  if (whole < channels) body(v.Int(whole), channels - whole);
}

void EmitZeros(VectorBuilder& v, Value pointer, Value floats, int64_t multiple) {
  const bool whole_vectors = multiple % v.width() == 0;
  Value whole = whole_vectors ? floats : v.Mul(v.Div(floats, v.width()), v.width());
  v.For(v.Int(0), whole, v.width(), [&](Value i) { v.Store(v.Splat(0), v.At(pointer, i)); });
  if (!whole_vectors) v.For(whole, floats, 1, [&](Value i) { v.Store(v.Splat(0), v.At(pointer, i), 1); });
}

void EmitGatherTiles(VectorBuilder& v, const TileBlock& block, const RationalMatrix& matrix, const ImageMatrix& image,
                     const TileMatrix& to) {
  const int64_t width = PadChannels(to.channels);
  // `patch` returns the patch of tile t, `transformed` its transform for channels from c on.
  auto patch = [&](Value t) { return PatchOf(v, block, image, matrix.columns, t); };
  auto transformed = [&](const Patch& p, const Values& masks, Value c, int64_t live) {
    Values pixels = PixelAddresses(v, p, image, c);
    for (size_t n = 0; n < pixels.size(); ++n) {
      pixels[n] = image.bfloat16 ? v.Load16(pixels[n], live, masks[n]) : v.Load(pixels[n], live, masks[n]);
    }
    return EmitTransform2D(v, matrix, pixels);
  };
  if (to.elements == TileElements::kBFloat16Pairs) {
    v.For(v.Int(0), block.count, 2, [&](Value t) {
      // If the number of tiles is odd, the second tile of the last pair is zeros.
      Value second = v.Min(v.Add(t, 1), v.Add(block.count, -1));
      Value there = v.Mask(v.AtLeast(v.Sub(block.count, t), 2));
      Patch p = patch(t), q = patch(second);
      Values masks = PixelMasks(v, block, image, p), others = PixelMasks(v, block, image, q);
      for (Value& mask : others) mask = mask ? v.And(mask, there) : there;
      Value out = v.At(to.pointer, v.Mul(v.Div(t, 2), width));
      ForChannels(v, image.channels, [&](Value c, int64_t live) {
        Values a = transformed(p, masks, c, live), b = transformed(q, others, c, live);
        Value place = v.At(out, c);
        for (size_t n = 0; n < a.size(); ++n) {
          v.StorePairs(v.Pairs(a[n], b[n]), v.At(place, static_cast<int64_t>(n) * to.point_floats()));
        }
      });
    });
    return;
  }
  v.For(v.Int(0), block.count, 1, [&](Value t) {
    Patch p = patch(t);
    Values masks = PixelMasks(v, block, image, p);
    ForChannels(v, image.channels, [&](Value c, int64_t live) {
      Values points = transformed(p, masks, c, live);
      const bool narrow = to.elements == TileElements::kBFloat16;
      Value first = v.Add(v.Mul(t, width), c), place = narrow ? v.At16(to.pointer, first) : v.At(to.pointer, first);
      for (size_t n = 0; n < points.size(); ++n) {
        Value at = v.At(place, static_cast<int64_t>(n) * to.point_floats());
        narrow ? v.Store16(points[n], at) : v.Store(points[n], at);
      }
    });
  });
}

void EmitStoreTiles(VectorBuilder& v, const TileBlock& block, const RationalMatrix& matrix, const TileMatrix& from,
                    const TileEpilogue& epilogue, const ImageMatrix& image) {
  const bool adds = epilogue.residual.pointer != nullptr;
  v.For(v.Int(0), block.count, 1, [&](Value t) {
    Patch p = PatchOf(v, block, image, matrix.rows, t);
    const Patch q = adds ? PatchOf(v, block, epilogue.residual, matrix.rows, t) : p;
    Values masks = PixelMasks(v, block, image, p);
    ForChannels(v, image.channels, [&](Value c, int64_t live) {
      Values pixels = EmitTransform2D(v, matrix, LoadTile(v, from, block.shape->points(), t, c));
      Value shift;
      if (epilogue.bias) {
        shift =
            epilogue.bfloat16_bias ? v.Load16(v.At16(epilogue.bias, c), live) : v.Load(v.At(epilogue.bias, c), live);
      }
      Values addresses = PixelAddresses(v, p, image, c), others;
      if (adds) others = PixelAddresses(v, q, epilogue.residual, c);
      for (size_t n = 0; n < pixels.size(); ++n) {
        Value pixel = shift ? v.AddF(pixels[n], shift) : pixels[n];
        if (adds) {
          pixel =
              v.AddF(pixel, image.bfloat16 ? v.Load16(others[n], live, masks[n]) : v.Load(others[n], live, masks[n]));
        }
        if (epilogue.relu) pixel = v.Relu(pixel);
        if (image.bfloat16) {
          v.Store16(pixel, addresses[n], live, masks[n]);
        } else {
          v.Store(pixel, addresses[n], live, masks[n]);
        }
      }
    });
  });
}

namespace {

// Prepares `rows`, which holds sums of pixels, for the next row of tiles, which begins with p: moves the pixels to
// which the row of tiles above has added to the top, and sets the others to 0.
void BeginRows(VectorBuilder& v, const Patch& p, int64_t tile, Value rows, int64_t row) {
  const int64_t common = (p.size - tile) * row;
  v.If(
      v.Equal(p.i, 0), [&] { EmitZeros(v, rows, v.Int(common), common); },
      [&] {
        const int64_t whole = common / v.width() * v.width();
        Value from = v.At(rows, tile * row);
        v.For(0, whole, v.width(), [&](Value n) { v.Store(v.Load(v.At(from, n)), v.At(rows, n)); });
        if (whole < common) v.Store(v.Load(v.At(from, whole), common - whole), v.At(rows, whole), common - whole);
      });
  EmitZeros(v, v.At(rows, common), v.Int(tile * row), tile * row);
}

// Rounds and stores those rows of pixels to which later rows of tiles add nothing.
void EndRows(VectorBuilder& v, const TileBlock& block, const Patch& p, Value rows, const ImageMatrix& image) {
  const WinogradShape& s = *block.shape;
  const int64_t row = image.width * image.channels;
  Value begin = v.Max(p.y, v.Int(0));
  Value done = v.Select(v.Equal(p.i, s.tiles_down() - 1), v.Int(p.size), v.Int(s.tile));
  Value end = v.Min(v.Add(p.y, done), v.Int(image.height));
  v.For(begin, end, 1, [&](Value y) {
    Value from = v.At(rows, v.Mul(v.Sub(y, p.y), row));
    Value to = v.At16(image.pointer, v.Mul(v.Add(v.Mul(p.row, image.height), y), row));
    ForChannels(v, row, [&](Value n, int64_t live) { v.Store16(v.Load(v.At(from, n), live), v.At16(to, n), live); });
  });
}

}  // namespace

void EmitAddTiles(VectorBuilder& v, const TileBlock& block, const RationalMatrix& matrix, const TileMatrix& from,
                  Value rows, const ImageMatrix& image) {
  const WinogradShape& s = *block.shape;
  const int64_t row = image.width * image.channels;
  v.For(v.Int(0), block.count, 1, [&](Value t) {
    Patch p = PatchOf(v, block, image, matrix.rows, t);
    Values masks = PixelMasks(v, block, image, p);
    // Pixels are added up in `rows` for bfloat16 images, else in the image.
    ImageMatrix sums = image;
    Patch place = p;
    if (image.bfloat16) {
      v.If(v.Equal(p.j, 0), [&] { BeginRows(v, p, s.tile, rows, row); });
      sums.bfloat16 = false;
      place.address = v.At(rows, v.Mul(p.x, image.channels));
    } else {
      // The first tile of a row of tiles clears the rows of pixels that the row of tiles above does not cover.
      v.If(v.Equal(p.j, 0), [&] {
        Value from_y = v.Select(v.Equal(p.i, 0), v.Int(0), v.Add(p.y, p.size - s.tile));
        Value to_y = v.Min(v.Add(p.y, p.size), v.Int(image.height));
        Value count = v.Max(v.Sub(to_y, from_y), v.Int(0));
        Value pixel = v.Mul(v.Add(v.Mul(p.row, image.height), from_y), image.width);
        EmitZeros(v, v.At(image.pointer, v.Mul(pixel, image.channels)), v.Mul(count, row), row);
      });
    }
    ForChannels(v, image.channels, [&](Value c, int64_t live) {
      Values pixels = EmitTransform2D(v, matrix, LoadTile(v, from, block.shape->points(), t, c));
      Values addresses = PixelAddresses(v, place, sums, c);
      for (size_t n = 0; n < pixels.size(); ++n) {
        v.Store(v.AddF(v.Load(addresses[n], live, masks[n]), pixels[n]), addresses[n], live, masks[n]);
      }
    });
    if (image.bfloat16) v.If(v.Equal(p.j, s.tiles_across() - 1), [&] { EndRows(v, block, p, rows, image); });
  });
}

}  // namespace tandem

#include "passes/codegen/product_tile.h"

namespace tandem {

using mlir::Value;
using Values = VectorBuilder::Values;

ProductTile LargestTile(int vector_width, int64_t vectors) {
  if (vector_width < 16) return vectors > 1 ? ProductTile{6, 2} : ProductTile{12, 1};
  constexpr ProductTile kTiles[] = {{14, 1}, {12, 2}, {8, 3}, {6, 4}};
  return kTiles[std::min<int64_t>(vectors, 4) - 1];
}

int TileRowsFor(int most, int64_t block) {
  int best = most;
  auto computed = [&](int rows) { return (block + rows - 1) / rows * rows; };
  for (int rows = most - 1; 2 * rows >= most; --rows) {
    if (computed(rows) < computed(best)) best = rows;
  }
  return best;
}

Values MultiplyAdd(VectorBuilder& v, bool pairs, Value depth, int rows, int64_t vectors, const LeftFactor& left,
                   const RightFactor& right, const Values& sums, const LinesToFetch& fetch) {
  return v.For(v.Int(0), depth, 1, sums, [&](Value i, const Values& before) {
    Value a = v.At(left.pointer, v.Mul(i, left.step)), b = v.At(right.pointer, v.Mul(i, right.step));
    for (int64_t line = 0; line < fetch.lines; ++line)
      v.Prefetch(v.At(v.At(fetch.pointer, v.Mul(i, fetch.lines * kLineFloats)), line * kLineFloats));
    Values row, after(before.size());
    for (int64_t n = 0; n < vectors; ++n) {
      Value place = v.At(b, n * v.width());
      row.push_back(pairs ? v.LoadPairs(place) : v.Load(place));
    }
    for (int r = 0; r < rows; ++r) {
      Value place = v.At(a, r * left.row);
      Value factor = pairs ? v.LoadSplatPair(place) : v.LoadSplat(place);
      for (int64_t n = 0; n < vectors; ++n) {
        size_t at = r * vectors + n;
        after[at] = pairs ? v.AddPairProducts(before[at], row[n], factor) : v.AddF(before[at], v.MulF(factor, row[n]));
      }
    }
    return after;
  });
}

void EmitProduct(VectorBuilder& v, Value rows, int64_t most_rows, Value depth, const LeftFactor& left,
                 const RightFactor& right, const ProductResult& result, bool adds) {
  const int64_t vectors = result.width / v.width();
  ForVectorGroups(vectors, LargestTile(v.width(), vectors).vectors, [&](int64_t first, int64_t count) {
    const int tile_rows = TileRowsFor(LargestTile(v.width(), count).rows, most_rows);
    v.For(v.Int(0), rows, tile_rows, [&](Value r) {
      Value to = v.At(v.At(result.pointer, v.Mul(r, result.row)), first * v.width());
      auto place = [&](size_t at) { return v.At(to, at / count * result.row + at % count * v.width()); };
      Values sums(tile_rows * count, v.Splat(0));
      for (size_t at = 0; adds && at < sums.size(); ++at) sums[at] = v.Load(place(at));
      sums = MultiplyAdd(v, /*pairs=*/false, depth, tile_rows, count,
                         {v.At(left.pointer, v.Mul(r, left.row)), left.row, left.step},
                         {v.At(right.pointer, first * v.width()), right.step}, sums);
      for (size_t at = 0; at < sums.size(); ++at) v.Store(sums[at], place(at));
    });
  });
}

}  // namespace tandem

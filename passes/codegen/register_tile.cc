#include "passes/codegen/register_tile.h"

#include <algorithm>

namespace tandem {

using mlir::Value;
using Values = VectorBuilder::Values;

Values LoadTileRow(VectorBuilder& v, StoredFloats from, int64_t width) {
  Values row;
  for (int64_t n = 0; n < width; n += v.width()) {
    row.push_back(v.Load(v.At(from, n), std::min<int64_t>(v.width(), width - n)));
  }
  return row;
}

Values AddOuterProduct(VectorBuilder& v, const Values& sums, int64_t rows, Value left, const Values& right) {
  Values after;
  for (int64_t r = 0; r < rows; ++r) {
    Value factor = v.LoadSplat(v.At(left, r));
    for (Value vector : right) after.push_back(v.AddF(sums[after.size()], v.MulF(factor, vector)));
  }
  return after;
}

void StoreTile(VectorBuilder& v, const Values& sums, int64_t rows, Value pointer, int64_t stride, int64_t width) {
  size_t i = 0;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t n = 0; n < width; n += v.width()) {
      v.Store(sums[i++], v.At(pointer, r * stride + n), std::min<int64_t>(v.width(), width - n));
    }
  }
}

}  // namespace tandem

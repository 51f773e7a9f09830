#include "passes/codegen/lane_tree.h"

namespace tandem {
namespace {

using Values = VectorBuilder::Values;

// Rows fill lanes from the first one on. So if the left half of a subtree has no rows, the right half has none either;
// if only the right half has none, the sum is that of the left half.
Values Subtree(VectorBuilder& v, mlir::Value batch, int64_t first, int64_t lanes, int64_t lane_rows,
               const std::function<Values(int64_t)>& sums_of) {
  if (lanes == 1) return sums_of(first);
  const int64_t middle = first + lanes / 2;
  const Values left = Subtree(v, batch, first, lanes / 2, lane_rows, sums_of);
  const auto with_right = [&] {
    const Values right = Subtree(v, batch, middle, lanes / 2, lane_rows, sums_of);
    Values sums;
    for (size_t i = 0; i < left.size(); ++i) sums.push_back(v.AddF(left[i], right[i]));
    return sums;
  };
  mlir::Value present = v.AtLeast(batch, middle * lane_rows + 1);
  return v.If(present, mlir::ValueRange(left).getTypes(), with_right, [&] { return left; });
}

}  // namespace

Values EmitLaneTree(VectorBuilder& v, mlir::Value batch, int64_t lanes, int64_t lane_rows,
                    const std::function<Values(int64_t)>& sums_of) {
  return Subtree(v, batch, 0, lanes, lane_rows, sums_of);
}

}  // namespace tandem

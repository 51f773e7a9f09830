// Emits kernels of weight gradients, whose rows threads share out among themselves: a call computes rows [begin, end)
// of the result from the first `rows` rows of the operands. Bits do not depend on how the result is split: an element
// is a chain of multiply-adds per lane, in the order of rows, and the lanes' sums are combined in the order of the
// reduction tree. The part of x that a call copies is on the stack: WeightGradStackBytes.
#include "graph/ir/contract.h"
#include "graph/ir/reference_util.h"
#include "passes/codegen/lane_tree.h"
#include "passes/codegen/register_tile.h"
#include "passes/codegen/vector_kernel.h"
#include "passes/exec/contraction.h"
#include "runtime/commands/block_kernel.h"

namespace tandem {
namespace {

using mlir::Value;
using Values = VectorBuilder::Values;

// If a row of the result has fewer register tiles, reading x directly is faster than copying it.
constexpr int64_t kMinPackedTiles = 8;

class WeightGradEmitter : private VectorKernel {
 public:
  explicit WeightGradEmitter(const EmitRequest& request)
      : VectorKernel(request, kFetchedMatrices),
        op_(mlir::cast<exec::ContractionOp>(kernel_.getBody().front().front())) {
    x_ = StoredFloats::Of(buffers_[0], op_.getX()), dy_ = StoredFloats::Of(buffers_[1], op_.getY());
    fetched_.assign(buffers_.begin() + 3, buffers_.end());
    rows_of_result_ = td::TypeOf(op_.getX()).getShape().back();
    columns_ = td::TypeOf(op_.getY()).getShape().back();
    inner_ = td::RowElements(op_.getX().getType()) / rows_of_result_;
  }

  void Emit() {
    const int64_t tile = RegisterTileRows(v_.width());
    const int64_t depth = static_cast<int64_t>(op_.getLanes()) * static_cast<int64_t>(op_.getLaneRows()) * inner_;
    const bool packs = columns_ >= kMinPackedTiles * kRegisterTileVectors * v_.width();
    if (packs || x_.bfloat16) strip_ = v_.Scratch(tile * depth);
    Value middle = v_.Sub(end_, v_.Rem(v_.Sub(end_, begin_), tile));
    v_.For(begin_, middle, tile, [&](Value row) { Rows(row, tile, packs || x_.bfloat16); });
    v_.For(middle, end_, 1, [&](Value row) { Rows(row, 1, x_.bfloat16); });
    End();
  }

 private:
  void Rows(Value row, int64_t rows, bool packs) {
    if (!packs) return Strip(row, rows, v_.At(x_, row).pointer, rows_of_result_);
    Pack(row, rows);
    Strip(row, rows, strip_, rows);
  }

  // Copies columns [row, row + rows) of x next to each other, as float32. If rows of x are a multiple of 4 KiB long,
  // the cache lines of a column share a set of the first-level cache, and without a copy every tile would load them
  // again.
  void Pack(Value row, int64_t rows) {
    const StoredFloats x = v_.At(x_, row);
    v_.For(v_.Int(0), v_.Mul(rows_, inner_), 1, [&](Value k) {
      v_.Store(v_.Load(v_.At(x, v_.Mul(k, rows_of_result_)), rows), v_.At(strip_, v_.Mul(k, rows)), rows);
    });
  }

  // Computes rows [row, row + rows) of the result. Their factors begin at `x`, `stride` floats apart for each row of
  // the operands.
  void Strip(Value row, int64_t rows, Value x, int64_t stride) {
    const int64_t width = kRegisterTileVectors * v_.width(), whole = columns_ / width * width;
    v_.For(0, whole, width, [&](Value column) { Tile(row, rows, x, stride, column, width); });
    if (whole < columns_) Tile(row, rows, x, stride, v_.Int(whole), columns_ - whole);
  }

  void Tile(Value row, int64_t rows, Value x, int64_t stride, Value column, int64_t width) {
    const StoredFloats dy = v_.At(dy_, column);
    Value corner = v_.Add(v_.Mul(row, columns_), column);
    Values sums = EmitLaneTree(v_, rows_, op_.getLanes(), op_.getLaneRows(), [&](int64_t lane) {
      Fetch(lane, rows, corner, width);
      return Lane(lane, rows, x, stride, dy, width);
    });
    StoreTile(v_, sums, rows, v_.At(Result(0), corner), columns_, width);
  }

  // Prefetches a part of the memory that the caller will read for this tile. It is spread over the lanes, since a core
  // waits for few cache lines at a time.
  void Fetch(int64_t lane, int64_t rows, Value corner, int64_t width) {
    const int64_t vectors = TileVectors(v_, width), of_matrix = rows * vectors, lanes = op_.getLanes();
    const int64_t all = kFetchedMatrices * of_matrix;
    for (int64_t i = lane * all / lanes; i < (lane + 1) * all / lanes; ++i) {
      const int64_t row = i % of_matrix / vectors, vector = i % vectors;
      v_.Prefetch(v_.At(v_.At(fetched_[i / of_matrix], corner), row * columns_ + vector * v_.width()), true);
    }
  }

  // Returns the sums of a tile over the rows of one lane.
  Values Lane(int64_t lane, int64_t rows, Value x, int64_t stride, StoredFloats dy, int64_t width) {
    const int64_t lane_rows = op_.getLaneRows();
    Value end = v_.Mul(v_.Min(rows_, v_.Int((lane + 1) * lane_rows)), inner_);
    const Values zeros(rows * TileVectors(v_, width), v_.Splat(0));
    return v_.For(v_.Int(lane * lane_rows * inner_), end, 1, zeros, [&](Value k, const Values& sums) {
      Values right = LoadTileRow(v_, v_.At(dy, v_.Mul(k, columns_)), width);
      return AddOuterProduct(v_, sums, rows, v_.At(x, v_.Mul(k, stride)), right);
    });
  }

  exec::ContractionOp op_;
  int64_t rows_of_result_, columns_, inner_;  // inner_: rows of the operands that each example has
  StoredFloats x_, dy_;
  Value strip_;
  std::vector<Value> fetched_;
};

}  // namespace

extern const Emitter kWeightGradEmitter = {
    "weight gradient", IsContractionKernel<exec::ContractionKind::kMatMul, exec::Algorithm::kWeightGradBlocks>,
    EmitBy<WeightGradEmitter>};

}  // namespace tandem

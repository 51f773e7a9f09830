// Blocks of rows of bfloat16 numbers in shared memory, and their products by a warp's matrix instructions.
#ifndef TANDEM_PASSES_CODEGEN_GPU_MATRIX_TILES_H_
#define TANDEM_PASSES_CODEGEN_GPU_MATRIX_TILES_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "passes/codegen/gpu/device.h"
#include "passes/codegen/vector_builder.h"

namespace tandem {

// Threads of a block that works with tiles: each of its warps has 16 rows of a product.
inline constexpr int64_t kTileThreads = 128, kTileRows = 64, kWarpRows = 16;

class MatrixTiles {
 public:
  using Values = std::vector<mlir::Value>;

  // Rows of `width` numbers, a multiple of 16, in shared memory. They are padded so that matrix instructions, which
  // take 16 bytes of eight rows, read from all banks.
  struct Tile {
    mlir::Value pointer;
    int64_t width;
    int64_t stride() const { return width + 8; }
  };
  static int64_t TileBytes(int64_t rows, int64_t width) { return rows * (width + 8) * 2; }

  // Rows of a tensor, `stride` numbers apart, of which there are `count`: on 16 bytes each.
  struct Rows {
    mlir::Value pointer;
    int64_t stride, width, count;
  };

  // `thread`: its number in the block.
  MatrixTiles(VectorBuilder& v, Device& device, mlir::Value thread);

  // Where the numbers of a product lie: 4 for every 8 columns, of rows row() and row() + 8 of the block's and columns
  // column() and the next one, as Device::MultiplyAdd has them.
  mlir::Value row() const { return row_; }
  mlir::Value column() const { return column_; }
  // Of the 4 threads that have a row together, whether it is the first.
  mlir::Value IsFirstOfRow();

  // Rows [first, first + rows) become a tile, by all threads of the block; where there are no more, the last one.
  void Load(const Rows& from, mlir::Value first, int64_t rows, const Tile& to);
  // The warp's 16 rows of a product, rounded, to rows of a tensor from `first` on, through its rows of a tile.
  void Store(const Values& product, const Tile& through, const Rows& to, mlir::Value first);

  // The warp's 16 rows of a tile as left factors of products, 16 columns after 16.
  std::function<Device::Pairs(int64_t)> Left(const Tile& tile);
  // The same, read once.
  std::vector<Device::Pairs> LoadLeft(const Tile& tile);
  // A product's numbers as left factors.
  std::function<Device::Pairs(int64_t)> Left(const Values& product);

  // left tile^T, with `rows` columns; the sum goes over the width of the tile.
  Values MeetRows(const std::function<Device::Pairs(int64_t)>& left, const Tile& tile, int64_t rows);
  // sums + left tile, with as many columns as the tile, whose first `rows` rows the sum goes over.
  Values AddRows(Values sums, const std::function<Device::Pairs(int64_t)>& left, const Tile& tile, int64_t rows);

  Values Zeros(int64_t columns);
  mlir::Value Number(double value);  // f32

 private:
  // The address of number `column` of row `row` of a tile, for a thread that is `base` numbers from there.
  mlir::Value Address(const Tile& tile, mlir::Value base, int64_t row, int64_t column);
  // sums += a b for columns [16 n, 16 n + 16).
  void MultiplyAdd(Values& sums, int64_t n, const Device::Pairs& a, const Device::Pairs& b);

  VectorBuilder& v_;
  mlir::OpBuilder& b_;
  Device& device_;
  mlir::Value thread_, lane_, warp_row_, row_, column_;
};

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_GPU_MATRIX_TILES_H_

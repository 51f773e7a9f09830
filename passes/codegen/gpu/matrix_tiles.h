// Blocks of rows in shared memory, and their products: by a warp's matrix instructions, or by multiply-adds.
#ifndef TANDEM_PASSES_CODEGEN_GPU_MATRIX_TILES_H_
#define TANDEM_PASSES_CODEGEN_GPU_MATRIX_TILES_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "passes/codegen/gpu/device.h"
#include "passes/codegen/vector_builder.h"

namespace tandem {

// What products multiply; sums are float32. TensorFloat-32 factors are float32 numbers in memory, and rounded on their
// way into a tile.
enum class Factors { kBFloat16, kTensorFloat32, kFloat32 };

// Rows of a product that a warp has.
inline constexpr int64_t kWarpRows = 16;

class MatrixTiles {
 public:
  using Values = std::vector<mlir::Value>;
  using Words = Device::Words;

  // Rows of `size` numbers in shared memory, behind which are zeros up to `width`. They are `stride` numbers apart, so
  // that eight rows, of which instructions take 16 bytes each, are in all banks.
  struct Tile {
    mlir::Value pointer;
    int64_t size, width, stride;
  };
  Tile At(mlir::Value pointer, int64_t size) const {
    return {pointer, size, Width(factors_, size), Stride(factors_, size)};
  }
  static int64_t TileBytes(Factors factors, int64_t rows, int64_t size) {
    return rows * Stride(factors, size) * NumberBytes(factors);
  }
  // The fewest rows of a tile that is a right factor.
  static int64_t LeastRows(Factors factors) { return factors == Factors::kBFloat16 ? 16 : 8; }

  // Rows of a tensor, `stride` numbers apart, a multiple of `width`, of which there are `count`. The tensor begins on
  // 16 bytes.
  struct Rows {
    mlir::Value pointer;
    int64_t stride, width, count;
  };

  // `thread`: its number in the block, of `threads`.
  MatrixTiles(VectorBuilder& v, Device& device, Factors factors, mlir::Value thread, int64_t threads);

  // The address `n` numbers behind `pointer`.
  mlir::Value Behind(mlir::Value pointer, mlir::Value n);
  mlir::Value Behind(mlir::Value pointer, int64_t n) { return n == 0 ? pointer : Behind(pointer, v_.Int(n)); }

  // Where the numbers of a product lie: 4 for every 8 columns, of rows row() and row() + 8 of the block's and columns
  // column() and the next one, as Device::MultiplyAdd has them.
  mlir::Value row() const { return row_; }
  mlir::Value column() const { return column_; }
  // Of the 4 threads that have a row together, whether it is the first.
  mlir::Value IsFirstOfRow();

  // Rows [first, first + rows) become a tile, by all threads of the block; where there are no more, the last one.
  void Load(const Rows& from, mlir::Value first, int64_t rows, const Tile& to);
  // The warp's 16 rows of a product, rounded to what memory holds, to rows of a tensor from `first` on, through its
  // rows of a tile.
  void Store(const Values& product, const Tile& through, const Rows& to, mlir::Value first);
  // How many numbers of rows of `width` are loaded together, and those from `column` on, as float32.
  static int64_t RunOf(Factors factors, int64_t width);
  Values LoadRun(const Rows& from, mlir::Value row, mlir::Value column);

  // The warp's 16 rows of a tile as left factors for matrix instructions, read once.
  std::vector<Words> LoadLeft(const Tile& tile);
  // left tile^T, with `rows` columns, of the warp's 16 rows of `left`; the sum goes over the width of the tiles.
  Values MeetRows(const Tile& left, const Tile& tile, int64_t rows);
  Values MeetRows(const std::vector<Words>& left, const Tile& tile, int64_t rows);
  // sums + product tile, with as many columns as the tile, whose first `rows` rows the sum goes over.
  Values AddRows(Values sums, const Values& product, const Tile& tile, int64_t rows);

  // Sums for products with as many columns as tiles of `size` numbers have.
  Values Zeros(int64_t size) { return Values(Width(factors_, size) / 2, Number(0)); }
  mlir::Value Number(double value);  // f32

 private:
  static int64_t NumberBytes(Factors factors) { return factors == Factors::kBFloat16 ? 2 : 4; }
  // Numbers of 16 bytes.
  static int64_t Chunk(Factors factors) { return 16 / NumberBytes(factors); }
  static int64_t Width(Factors factors, int64_t size);
  static int64_t Stride(Factors factors, int64_t size) { return Width(factors, size) + Chunk(factors); }

  mlir::Value Element(mlir::Value vector, int64_t i);
  mlir::Value VectorOf(const Values& elements);
  // `n` numbers next to each other, as bits in memory, and as those of factors.
  mlir::Type RunType(int64_t n);
  mlir::Value LoadBits(mlir::Value pointer, int64_t n);
  void StoreBits(mlir::Value bits, mlir::Value pointer, int64_t n);
  mlir::Value AsFactors(mlir::Value bits, int64_t n);
  // Calls body(numbers) for first, first + step and so on below `count`, some at a time. `first` is below `step`.
  void ForPieces(mlir::Value first, int64_t count, int64_t step,
                 const std::function<void(llvm::ArrayRef<mlir::Value>)>& body);

  // The address of number `column` of row `row` of a tile, for a thread that is `base` numbers from there.
  mlir::Value Address(const Tile& tile, mlir::Value base, int64_t row, int64_t column);
  // Columns of a left factor that an instruction takes.
  int64_t Depth() const { return 2 * Chunk(factors_); }
  std::function<Words(int64_t)> Left(const Tile& tile);
  Values MeetRows(const std::function<Words(int64_t)>& left, const Tile& tile, int64_t rows);
  // A product's columns [k, k + Depth()) as a left factor.
  Words LeftOf(const Values& product, int64_t k);
  // sums += a b for columns [8 n, 8 n + 8).
  void MultiplyAdd(Values& sums, int64_t n, const Words& a, mlir::Value b_first, mlir::Value b_second);
  Values AddRowsOfPairs(Values sums, const Values& product, const Tile& tile, int64_t rows);
  Values AddRowsOfNumbers(Values sums, const Values& product, const Tile& tile, int64_t rows);
  // By multiply-adds.
  Values MeetRowsByThreads(const Tile& left, const Tile& tile, int64_t rows);
  Values AddRowsByThreads(Values sums, const Values& product, const Tile& tile, int64_t rows);
  Values LoadFloats(mlir::Value pointer, int64_t n);

  VectorBuilder& v_;
  mlir::OpBuilder& b_;
  Device& device_;
  Factors factors_;
  mlir::Value thread_;
  int64_t threads_;
  mlir::Value lane_, warp_row_, row_, column_;
};

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_GPU_MATRIX_TILES_H_

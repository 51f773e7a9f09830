// Tiles of rows in shared memory, and their products by a warp's matrix instructions or by multiply-adds.
#ifndef TANDEM_PASSES_CODEGEN_GPU_MATRIX_TILES_H_
#define TANDEM_PASSES_CODEGEN_GPU_MATRIX_TILES_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "passes/codegen/gpu/device.h"
#include "passes/codegen/vector_builder.h"

namespace tandem {

// The type of the factors of products; sums are float32. TensorFloat-32 factors are float32 numbers in memory and are
// rounded when they are loaded into a tile.
enum class Factors { kBFloat16, kTensorFloat32, kFloat32 };

// Rows of a product that one warp computes.
inline constexpr int64_t kWarpRows = 16;

class MatrixTiles {
 public:
  using Values = std::vector<mlir::Value>;
  using Words = Device::Words;

  // Rows of `size` numbers in shared memory, followed by zeros up to `width`. Rows are `stride` numbers apart, so that
  // eight rows, of which instructions read 16 bytes each, are in different banks.
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
  // Returns the fewest rows of a tile that is a right factor.
  static int64_t LeastRows(Factors factors) { return factors == Factors::kBFloat16 ? 16 : 8; }

  // `count` rows of `width` numbers of a tensor, `stride` numbers apart, a multiple of `width`. The tensor is aligned
  // to 16 bytes.
  struct Rows {
    mlir::Value pointer;
    int64_t stride, width, count;
  };

  // `thread`: the thread's number in its block of `threads` threads.
  MatrixTiles(VectorBuilder& v, Device& device, Factors factors, mlir::Value thread, int64_t threads);

  // Returns the address `n` numbers behind `pointer`.
  mlir::Value Behind(mlir::Value pointer, mlir::Value n);
  mlir::Value Behind(mlir::Value pointer, int64_t n) { return n == 0 ? pointer : Behind(pointer, v_.Int(n)); }

  // The place of this thread's numbers of a product, as in Device::MultiplyAdd: a thread has 4 numbers of every 8
  // columns, in rows row() and row() + 8 of the warp's block and in columns column() and column() + 1.
  mlir::Value row() const { return row_; }
  mlir::Value column() const { return column_; }
  // True for the first of the 4 threads that share a row.
  mlir::Value IsFirstOfRow();

  // Loads rows [first, first + rows) into a tile, by all threads of the block. In place of rows that do not exist it
  // loads the last row.
  void Load(const Rows& from, mlir::Value first, int64_t rows, const Tile& to);
  // Stores the warp's 16 rows of a product, rounded to the type in memory, as rows of a tensor from `first` on. The
  // numbers pass through the warp's rows of the tile `through`, where threads exchange them.
  void Store(const Values& product, const Tile& through, const Rows& to, mlir::Value first);
  // RunOf returns how many neighbouring numbers a thread loads together from rows of `width` numbers. LoadRun loads so
  // many numbers from `column` on, as float32.
  static int64_t RunOf(Factors factors, int64_t width);
  Values LoadRun(const Rows& from, mlir::Value row, mlir::Value column);

  // Loads the warp's 16 rows of a tile once, as left factors for matrix instructions.
  std::vector<Words> LoadLeft(const Tile& tile);
  // Returns left * tile^T for the warp's 16 rows of `left` and the first `rows` rows of `tile`, which become columns.
  // The sum goes over the width of the tiles.
  Values MeetRows(const Tile& left, const Tile& tile, int64_t rows);
  Values MeetRows(const std::vector<Words>& left, const Tile& tile, int64_t rows);
  // Returns sums + product * tile, with as many columns as the tile. The sum goes over the tile's first `rows` rows.
  Values AddRows(Values sums, const Values& product, const Tile& tile, int64_t rows);

  // Returns zero sums for products with as many columns as tiles of `size` numbers have.
  Values Zeros(int64_t size) { return Values(Width(factors_, size) / 2, Number(0)); }
  mlir::Value Number(double value);  // returns a constant of type f32

 private:
  static int64_t NumberBytes(Factors factors) { return factors == Factors::kBFloat16 ? 2 : 4; }
  // Returns how many numbers 16 bytes hold.
  static int64_t Chunk(Factors factors) { return 16 / NumberBytes(factors); }
  static int64_t Width(Factors factors, int64_t size);
  static int64_t Stride(Factors factors, int64_t size) { return Width(factors, size) + Chunk(factors); }

  mlir::Value Element(mlir::Value vector, int64_t i);
  mlir::Value VectorOf(const Values& elements);
  // The type of `n` neighbouring numbers as bits in memory. AsFactors turns them into the bits of factors.
  mlir::Type RunType(int64_t n);
  mlir::Value LoadBits(mlir::Value pointer, int64_t n);
  void StoreBits(mlir::Value bits, mlir::Value pointer, int64_t n);
  mlir::Value AsFactors(mlir::Value bits, int64_t n);
  // Calls body(numbers) for the numbers first, first + step and so on below `count`, several in one call. `first` is
  // below `step`.
  void ForPieces(mlir::Value first, int64_t count, int64_t step,
                 const std::function<void(llvm::ArrayRef<mlir::Value>)>& body);

  // Returns the address of the number at (`row`, `column`) of a tile, plus `base`, an offset of the thread in numbers.
  mlir::Value Address(const Tile& tile, mlir::Value base, int64_t row, int64_t column);
  // Returns how many columns of a left factor one matrix instruction reads.
  int64_t Depth() const { return 2 * Chunk(factors_); }
  std::function<Words(int64_t)> Left(const Tile& tile);
  Values MeetRows(const std::function<Words(int64_t)>& left, const Tile& tile, int64_t rows);
  // Returns a product's columns [k, k + Depth()) as a left factor.
  Words LeftOf(const Values& product, int64_t k);
  // Adds the product of `a` and the right factor (b_first, b_second) to `sums` for columns [8 n, 8 n + 8).
  void MultiplyAdd(Values& sums, int64_t n, const Words& a, mlir::Value b_first, mlir::Value b_second);
  Values AddRowsOfPairs(Values sums, const Values& product, const Tile& tile, int64_t rows);
  Values AddRowsOfNumbers(Values sums, const Values& product, const Tile& tile, int64_t rows);
  // MeetRows and AddRows by multiply-adds instead of matrix instructions.
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

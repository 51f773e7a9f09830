// Emits products of tiles. Whether matrix instructions or multiply-adds compute a product, a thread has the same
// numbers of it.
#include <algorithm>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "passes/codegen/gpu/matrix_tiles.h"

namespace tandem {

namespace arith = mlir::arith;
namespace LLVM = mlir::LLVM;
using mlir::Value;

Value MatrixTiles::Address(const Tile& tile, Value base, int64_t row, int64_t column) {
  return Behind(Behind(tile.pointer, base), row * tile.stride + column);
}

std::function<MatrixTiles::Words(int64_t)> MatrixTiles::Left(const Tile& tile) {
  // Of the four matrices of 8 rows that one instruction loads, two begin at rows 0 and 8, and two at the same rows 16
  // bytes further on.
  Value row = v_.Add(warp_row_, v_.Rem(lane_, 16)), column = v_.Mul(v_.Div(lane_, 16), Chunk(factors_));
  Value base = v_.Add(v_.Mul(row, tile.stride), column);
  return
      [=, this](int64_t k) { return device_.LoadMatrices(v_.loc(), Address(tile, base, 0, k), /*transposed=*/false); };
}

std::vector<MatrixTiles::Words> MatrixTiles::LoadLeft(const Tile& tile) {
  const auto left = Left(tile);
  std::vector<Words> all;
  for (int64_t k = 0; k < tile.width; k += Depth()) all.push_back(left(k));
  return all;
}

// For TensorFloat-32 the sum over k has another order: a thread's two neighbouring numbers of a product are used as the
// first and the fifth of eight in the left factor. AddRowsOfNumbers reads the tile's rows in that order too.
MatrixTiles::Words MatrixTiles::LeftOf(const Values& product, int64_t k) {
  Words words;
  for (int64_t i = 0; i < 4; ++i) {
    if (factors_ == Factors::kBFloat16) {
      const size_t at = k / 2 + 2 * i;
      words[i] = device_.PackBFloat16(v_.loc(), product[at], product[at + 1]);
    } else {
      words[i] = device_.RoundToTensorFloat32(v_.loc(), product[k / 2 + i % 2 * 2 + i / 2]);
    }
  }
  return words;
}

void MatrixTiles::MultiplyAdd(Values& sums, int64_t n, const Words& a, Value b_first, Value b_second) {
  Value* c = &sums[4 * n];
  const std::array<Value, 4> sum =
      factors_ == Factors::kBFloat16
          ? device_.MultiplyAdd(v_.loc(), a, b_first, b_second, llvm::ArrayRef(c, 4))
          : device_.MultiplyAddTensorFloat32(v_.loc(), a, b_first, b_second, llvm::ArrayRef(c, 4));
  std::copy(sum.begin(), sum.end(), c);
}

MatrixTiles::Values MatrixTiles::MeetRows(const Tile& left, const Tile& tile, int64_t rows) {
  return factors_ == Factors::kFloat32 ? MeetRowsByThreads(left, tile, rows) : MeetRows(Left(left), tile, rows);
}

MatrixTiles::Values MatrixTiles::MeetRows(const std::vector<Words>& left, const Tile& tile, int64_t rows) {
  return MeetRows([&](int64_t k) { return left[k / Depth()]; }, tile, rows);
}

MatrixTiles::Values MatrixTiles::MeetRows(const std::function<Words(int64_t)>& left, const Tile& tile, int64_t rows) {
  // One instruction loads the matrices of eight rows of the tile, which are columns of the right factor, at the
  // beginning and 16 bytes further on; then those of the next eight rows, if there are any.
  Value column = v_.Mul(v_.Rem(v_.Div(lane_, 8), 2), Chunk(factors_));
  Value row = v_.Rem(lane_, 8);
  if (rows > 8) row = v_.Add(v_.Mul(v_.Div(lane_, 16), 8), row);
  Value base = v_.Add(v_.Mul(row, tile.stride), column);
  Values sums(rows / 2, Number(0));
  for (int64_t k = 0; k < tile.width; k += Depth()) {
    const Words a = left(k);
    for (int64_t n = 0; n < rows; n += 16) {
      const Words b = device_.LoadMatrices(v_.loc(), Address(tile, base, n, k), /*transposed=*/false);
      MultiplyAdd(sums, n / 8, a, b[0], b[1]);
      if (rows > 8) MultiplyAdd(sums, n / 8 + 1, a, b[2], b[3]);
    }
  }
  return sums;
}

MatrixTiles::Values MatrixTiles::AddRows(Values sums, const Values& product, const Tile& tile, int64_t rows) {
  if (factors_ == Factors::kBFloat16) return AddRowsOfPairs(std::move(sums), product, tile, rows);
  if (factors_ == Factors::kTensorFloat32) return AddRowsOfNumbers(std::move(sums), product, tile, rows);
  return AddRowsByThreads(std::move(sums), product, tile, rows);
}

MatrixTiles::Values MatrixTiles::AddRowsOfPairs(Values sums, const Values& product, const Tile& tile, int64_t rows) {
  Value row = v_.Rem(lane_, 16), column = v_.Mul(v_.Div(lane_, 16), 8);
  Value base = v_.Add(v_.Mul(row, tile.stride), column);
  for (int64_t k = 0; k < rows; k += Depth()) {
    const Words a = LeftOf(product, k);
    for (int64_t n = 0; n < tile.width; n += 16) {
      const Words b = device_.LoadMatrices(v_.loc(), Address(tile, base, k, n), /*transposed=*/true);
      for (int64_t i = 0; i < 2; ++i) MultiplyAdd(sums, n / 8 + i, a, b[2 * i], b[2 * i + 1]);
    }
  }
  return sums;
}

MatrixTiles::Values MatrixTiles::AddRowsOfNumbers(Values sums, const Values& product, const Tile& tile, int64_t rows) {
  Value base = v_.Add(v_.Mul(column_, tile.stride), v_.Div(lane_, 4));
  const auto load = [&](int64_t k, int64_t n) {
    return b_.create<LLVM::LoadOp>(v_.loc(), b_.getI32Type(), Address(tile, base, k, n), /*alignment=*/4);
  };
  for (int64_t k = 0; k < rows; k += Depth()) {
    const Words a = LeftOf(product, k);
    for (int64_t n = 0; n < tile.width; n += 8) MultiplyAdd(sums, n / 8, a, load(k, n), load(k + 1, n));
  }
  return sums;
}

MatrixTiles::Values MatrixTiles::LoadFloats(Value pointer, int64_t n) {
  const mlir::Type type = mlir::VectorType::get({n}, b_.getF32Type());
  Value vector = b_.create<LLVM::LoadOp>(v_.loc(), type, pointer, /*alignment=*/4 * n);
  Values numbers;
  for (int64_t i = 0; i < n; ++i) numbers.push_back(Element(vector, i));
  return numbers;
}

MatrixTiles::Values MatrixTiles::MeetRowsByThreads(const Tile& left, const Tile& tile, int64_t rows) {
  constexpr int64_t kRun = 4;
  Value left_base = v_.Mul(row_, left.stride), base = v_.Mul(column_, tile.stride);
  Value end = v_.Int((tile.size + kRun - 1) / kRun * kRun);
  return v_.For(v_.Int(0), end, kRun, Values(rows / 2, Number(0)), [&](Value k, Values sums) {
    Values a[2];
    for (int64_t half = 0; half < 2; ++half) {
      a[half] = LoadFloats(Address(left, v_.Add(left_base, k), 8 * half, 0), kRun);
    }
    for (int64_t n = 0; n < rows; n += 8) {
      for (int64_t i = 0; i < 2; ++i) {
        const Values b = LoadFloats(Address(tile, v_.Add(base, k), n + i, 0), kRun);
        for (int64_t half = 0; half < 2; ++half) {
          Value& sum = sums[n / 2 + 2 * half + i];
          for (int64_t j = 0; j < kRun; ++j) sum = v_.AddF(sum, v_.MulF(a[half][j], b[j]));
        }
      }
    }
    return sums;
  });
}

// A row of the product is spread over four threads. Each of them begins the sum with its own numbers and then gets the
// numbers of the other three.
MatrixTiles::Values MatrixTiles::AddRowsByThreads(Values sums, const Values& product, const Tile& tile, int64_t rows) {
  for (int64_t other = 0; other < 4; ++other) {
    Value theirs = b_.create<arith::XOrIOp>(v_.loc(), column_, v_.Int(2 * other));
    Value base = v_.Add(v_.Mul(theirs, tile.stride), column_);
    for (int64_t k = 0; k < rows; k += 8) {
      for (int64_t i = 0; i < 2; ++i) {
        Value a[2];
        for (int64_t half = 0; half < 2; ++half) {
          a[half] = product[k / 2 + 2 * half + i];
          if (other > 0) a[half] = device_.ShuffleXor(v_.loc(), a[half], static_cast<int>(other));
        }
        for (int64_t n = 0; n < tile.width; n += 8) {
          const Values b = LoadFloats(Address(tile, base, k + i, n), 2);
          for (int64_t half = 0; half < 2; ++half) {
            for (int64_t j = 0; j < 2; ++j) {
              Value& sum = sums[n / 2 + 2 * half + j];
              sum = v_.AddF(sum, v_.MulF(a[half], b[j]));
            }
          }
        }
      }
    }
  }
  return sums;
}

}  // namespace tandem

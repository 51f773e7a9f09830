#include "passes/codegen/gpu/matrix_tiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace tandem {

namespace arith = mlir::arith;
namespace LLVM = mlir::LLVM;
using mlir::Value;

namespace {

constexpr int64_t kChunk = 8;  // numbers of 16 bytes

}  // namespace

MatrixTiles::MatrixTiles(VectorBuilder& v, Device& device, Value thread)
    : v_(v), b_(v.builder()), device_(device), thread_(thread) {
  lane_ = v_.Rem(thread, kWarp);
  warp_row_ = v_.Mul(v_.Div(thread, kWarp), kWarpRows);
  row_ = v_.Add(warp_row_, v_.Div(lane_, 4));
  column_ = v_.Mul(v_.Rem(lane_, 4), 2);
}

Value MatrixTiles::IsFirstOfRow() { return v_.Equal(column_, 0); }

Value MatrixTiles::Number(double value) {
  return b_.create<arith::ConstantOp>(v_.loc(), b_.getF32FloatAttr(static_cast<float>(value)));
}

MatrixTiles::Values MatrixTiles::Zeros(int64_t columns) { return Values(columns / 2, Number(0)); }

void MatrixTiles::Load(const Rows& from, Value first, int64_t rows, const Tile& to) {
  const int64_t per_row = from.width / kChunk, chunks = rows * per_row;
  const mlir::Type type = mlir::VectorType::get({4}, b_.getI32Type());
  Values loaded, places;
  const auto load = [&](Value chunk) {
    Value row = v_.Div(chunk, per_row), column = v_.Mul(v_.Rem(chunk, per_row), kChunk);
    Value at = v_.Min(v_.Add(first, row), v_.Int(from.count - 1));
    Value source = v_.At16(from.pointer, v_.Add(v_.Mul(at, from.stride), column));
    loaded.push_back(b_.create<LLVM::LoadOp>(v_.loc(), type, source, /*alignment=*/16));
    places.push_back(v_.At16(to.pointer, v_.Add(v_.Mul(row, to.stride()), column)));
  };
  // All loads are under way before the first store waits for one.
  const auto store = [&] {
    for (size_t i = 0; i < loaded.size(); ++i) b_.create<LLVM::StoreOp>(v_.loc(), loaded[i], places[i], 16);
    loaded.clear();
    places.clear();
  };
  const int64_t whole = chunks / kTileThreads * kTileThreads;
  for (int64_t c = 0; c < whole; c += kTileThreads) load(v_.Add(thread_, c));
  store();
  if (whole == chunks) return;
  Value chunk = v_.Add(thread_, whole);
  v_.If(v_.Within(chunk, chunks), [&] {
    load(chunk);
    store();
  });
}

void MatrixTiles::Store(const Values& product, const Tile& through, const Rows& to, Value first) {
  const int64_t columns = static_cast<int64_t>(product.size()) * 2, per_row = columns / kChunk;
  device_.SyncWarp(v_.loc());
  for (int64_t n = 0; n < columns / 8; ++n) {
    for (int64_t half = 0; half < 2; ++half) {
      const size_t i = 4 * n + 2 * half;
      Value pair = device_.PackBFloat16(v_.loc(), product[i], product[i + 1]);
      Value at = v_.Add(v_.Mul(v_.Add(row_, 8 * half), through.stride()), v_.Add(column_, 8 * n));
      b_.create<LLVM::StoreOp>(v_.loc(), pair, v_.At16(through.pointer, at), /*alignment=*/4);
    }
  }
  device_.SyncWarp(v_.loc());
  const mlir::Type type = mlir::VectorType::get({4}, b_.getI32Type());
  for (int64_t c = 0; c < kWarpRows * per_row; c += kWarp) {
    Value chunk = v_.Add(lane_, c);
    Value row = v_.Add(warp_row_, v_.Div(chunk, per_row)), column = v_.Mul(v_.Rem(chunk, per_row), kChunk);
    Value source = v_.At16(through.pointer, v_.Add(v_.Mul(row, through.stride()), column));
    Value numbers = b_.create<LLVM::LoadOp>(v_.loc(), type, source, /*alignment=*/16);
    Value at = v_.Add(first, row);
    v_.If(v_.Within(at, to.count), [&] {
      Value place = v_.At16(to.pointer, v_.Add(v_.Mul(at, to.stride), column));
      b_.create<LLVM::StoreOp>(v_.loc(), numbers, place, /*alignment=*/16);
    });
  }
}

Value MatrixTiles::Address(const Tile& tile, Value base, int64_t row, int64_t column) {
  return v_.At16(v_.At16(tile.pointer, base), row * tile.stride() + column);
}

std::function<Device::Pairs(int64_t)> MatrixTiles::Left(const Tile& tile) {
  // Matrices of rows 0 and 8, then of the same rows 8 columns further.
  Value row = v_.Add(warp_row_, v_.Rem(lane_, 16)), column = v_.Mul(v_.Div(lane_, 16), 8);
  Value base = v_.Add(v_.Mul(row, tile.stride()), column);
  return
      [=, this](int64_t k) { return device_.LoadMatrices(v_.loc(), Address(tile, base, 0, k), /*transposed=*/false); };
}

std::vector<Device::Pairs> MatrixTiles::LoadLeft(const Tile& tile) {
  const auto left = Left(tile);
  std::vector<Device::Pairs> all;
  for (int64_t k = 0; k < tile.width; k += 16) all.push_back(left(k));
  return all;
}

std::function<Device::Pairs(int64_t)> MatrixTiles::Left(const Values& product) {
  return [=, this](int64_t k) {
    Device::Pairs pairs;
    for (int64_t i = 0; i < 4; ++i) {
      const size_t at = k / 2 + 2 * i;
      pairs[i] = device_.PackBFloat16(v_.loc(), product[at], product[at + 1]);
    }
    return pairs;
  };
}

void MatrixTiles::MultiplyAdd(Values& sums, int64_t n, const Device::Pairs& a, const Device::Pairs& b) {
  for (int64_t i = 0; i < 2; ++i) {
    auto* c = &sums[8 * n + 4 * i];
    const std::array<Value, 4> sum = device_.MultiplyAdd(v_.loc(), a, b[2 * i], b[2 * i + 1], llvm::ArrayRef(c, 4));
    std::copy(sum.begin(), sum.end(), c);
  }
}

MatrixTiles::Values MatrixTiles::MeetRows(const std::function<Device::Pairs(int64_t)>& left, const Tile& tile,
                                          int64_t rows) {
  // Matrices of eight rows, which are columns of the factor, then of the same rows 8 columns further.
  Value row = v_.Add(v_.Mul(v_.Div(lane_, 16), 8), v_.Rem(lane_, 8));
  Value column = v_.Mul(v_.Rem(v_.Div(lane_, 8), 2), 8), base = v_.Add(v_.Mul(row, tile.stride()), column);
  Values sums = Zeros(rows);
  for (int64_t k = 0; k < tile.width; k += 16) {
    const Device::Pairs a = left(k);
    for (int64_t n = 0; n < rows / 16; ++n) {
      MultiplyAdd(sums, n, a, device_.LoadMatrices(v_.loc(), Address(tile, base, 16 * n, k), /*transposed=*/false));
    }
  }
  return sums;
}

MatrixTiles::Values MatrixTiles::AddRows(Values sums, const std::function<Device::Pairs(int64_t)>& left,
                                         const Tile& tile, int64_t rows) {
  Value row = v_.Rem(lane_, 16), column = v_.Mul(v_.Div(lane_, 16), 8);
  Value base = v_.Add(v_.Mul(row, tile.stride()), column);
  for (int64_t k = 0; k < rows; k += 16) {
    const Device::Pairs a = left(k);
    for (int64_t n = 0; n < tile.width / 16; ++n) {
      MultiplyAdd(sums, n, a, device_.LoadMatrices(v_.loc(), Address(tile, base, k, 16 * n), /*transposed=*/true));
    }
  }
  return sums;
}

}  // namespace tandem

#include "passes/codegen/gpu/matrix_tiles.h"

#include <algorithm>
#include <numeric>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace tandem {

namespace arith = mlir::arith;
namespace LLVM = mlir::LLVM;
using mlir::Value;

MatrixTiles::MatrixTiles(VectorBuilder& v, Device& device, Factors factors, Value thread, int64_t threads)
    : v_(v), b_(v.builder()), device_(device), factors_(factors), thread_(thread), threads_(threads) {
  lane_ = v_.Rem(thread, kWarp);
  warp_row_ = v_.Mul(v_.Div(thread, kWarp), kWarpRows);
  row_ = v_.Add(warp_row_, v_.Div(lane_, 4));
  column_ = v_.Mul(v_.Rem(lane_, 4), 2);
}

int64_t MatrixTiles::Width(Factors factors, int64_t size) {
  const int64_t step = factors == Factors::kBFloat16 ? 16 : 8;
  return (size + step - 1) / step * step;
}

Value MatrixTiles::Behind(Value pointer, Value n) {
  return factors_ == Factors::kBFloat16 ? v_.At16(pointer, n) : v_.At(pointer, n);
}

Value MatrixTiles::IsFirstOfRow() { return v_.Equal(column_, 0); }

Value MatrixTiles::Number(double value) {
  return b_.create<arith::ConstantOp>(v_.loc(), b_.getF32FloatAttr(static_cast<float>(value)));
}

Value MatrixTiles::Element(Value vector, int64_t i) {
  Value place = b_.create<LLVM::ConstantOp>(v_.loc(), b_.getI32Type(), b_.getI32IntegerAttr(static_cast<int32_t>(i)));
  return b_.create<LLVM::ExtractElementOp>(v_.loc(), vector, place);
}

Value MatrixTiles::VectorOf(const Values& elements) {
  const mlir::Type type = mlir::VectorType::get({static_cast<int64_t>(elements.size())}, elements.front().getType());
  Value vector = b_.create<LLVM::UndefOp>(v_.loc(), type);
  for (size_t i = 0; i < elements.size(); ++i) {
    Value place = b_.create<LLVM::ConstantOp>(v_.loc(), b_.getI32Type(), b_.getI32IntegerAttr(static_cast<int32_t>(i)));
    vector = b_.create<LLVM::InsertElementOp>(v_.loc(), vector, elements[i], place);
  }
  return vector;
}

int64_t MatrixTiles::RunOf(Factors factors, int64_t width) { return std::gcd(width, Chunk(factors)); }

mlir::Type MatrixTiles::RunType(int64_t n) {
  const int64_t bytes = n * NumberBytes(factors_);
  if (bytes <= 4) return b_.getIntegerType(8 * bytes);
  return mlir::VectorType::get({bytes / 4}, b_.getI32Type());
}

Value MatrixTiles::LoadBits(Value pointer, int64_t n) {
  return b_.create<LLVM::LoadOp>(v_.loc(), RunType(n), pointer, /*alignment=*/n * NumberBytes(factors_));
}

void MatrixTiles::StoreBits(Value bits, Value pointer, int64_t n) {
  b_.create<LLVM::StoreOp>(v_.loc(), bits, pointer, /*alignment=*/n * NumberBytes(factors_));
}

Value MatrixTiles::AsFactors(Value bits, int64_t n) {
  if (factors_ != Factors::kTensorFloat32) return bits;
  const auto round = [&](Value word) {
    return device_.RoundToTensorFloat32(v_.loc(), b_.create<arith::BitcastOp>(v_.loc(), b_.getF32Type(), word));
  };
  if (n == 1) return round(bits);
  Values words;
  for (int64_t i = 0; i < n; ++i) words.push_back(round(Element(bits, i)));
  return VectorOf(words);
}

void MatrixTiles::ForPieces(Value first, int64_t count, int64_t step,
                            const std::function<void(llvm::ArrayRef<Value>)>& body) {
  // Numbers that one call of `body` gets: the loaded values of so many fit into registers together.
  constexpr int64_t kAtOnce = 8;
  const int64_t whole = count / step, groups = whole / kAtOnce;
  const auto some = [&](Value from, int64_t n) {
    Values pieces;
    for (int64_t i = 0; i < n; ++i) pieces.push_back(v_.Add(from, i * step));
    if (n > 0) body(pieces);
  };
  if (groups > 1) {
    v_.For(0, groups * kAtOnce * step, kAtOnce * step, [&](Value at) { some(v_.Add(first, at), kAtOnce); });
  } else {
    some(first, groups * kAtOnce);
  }
  some(v_.Add(first, groups * kAtOnce * step), whole - groups * kAtOnce);
  if (count % step == 0) return;
  Value last = v_.Add(first, whole * step);
  v_.If(v_.Within(last, count), [&] { body(last); });
}

void MatrixTiles::Load(const Rows& from, Value first, int64_t rows, const Tile& to) {
  const int64_t run = RunOf(factors_, from.width), per_row = to.width / run, last = from.width - run;
  ForPieces(thread_, rows * per_row, threads_, [&](llvm::ArrayRef<Value> pieces) {
    Values loaded, places;
    for (Value piece : pieces) {
      Value row = v_.Div(piece, per_row), column = v_.Mul(v_.Rem(piece, per_row), run);
      Value at = v_.Mul(v_.Min(v_.Add(first, row), v_.Int(from.count - 1)), from.stride);
      const bool padded = to.width != from.width;
      Value there = padded ? v_.Min(column, v_.Int(last)) : column;
      Value bits = LoadBits(Behind(from.pointer, v_.Add(at, there)), run);
      if (padded) {
        Value zero = b_.create<arith::ConstantOp>(v_.loc(), b_.getZeroAttr(bits.getType()));
        bits = v_.Select(v_.AtMost(column, last), bits, zero);
      }
      loaded.push_back(bits);
      places.push_back(Behind(to.pointer, v_.Add(v_.Mul(row, to.stride), column)));
    }
    // Stores come last, so that all loads are under way before the first store waits for one.
    for (size_t i = 0; i < loaded.size(); ++i) StoreBits(AsFactors(loaded[i], run), places[i], run);
  });
}

void MatrixTiles::Store(const Values& product, const Tile& through, const Rows& to, Value first) {
  device_.SyncWarp(v_.loc());
  for (size_t i = 0; i < product.size(); i += 2) {
    const int64_t column = static_cast<int64_t>(i) / 4 * 8, half = static_cast<int64_t>(i) % 4 / 2;
    Value at = v_.Add(v_.Mul(v_.Add(row_, 8 * half), through.stride), v_.Add(column_, column));
    Value pair = factors_ == Factors::kBFloat16 ? device_.PackBFloat16(v_.loc(), product[i], product[i + 1])
                                                : VectorOf({product[i], product[i + 1]});
    b_.create<LLVM::StoreOp>(v_.loc(), pair, Behind(through.pointer, at), /*alignment=*/2 * NumberBytes(factors_));
  }
  device_.SyncWarp(v_.loc());
  const int64_t run = RunOf(factors_, to.width), per_row = to.width / run;
  ForPieces(lane_, kWarpRows * per_row, kWarp, [&](llvm::ArrayRef<Value> pieces) {
    for (Value piece : pieces) {
      Value row = v_.Add(warp_row_, v_.Div(piece, per_row)), column = v_.Mul(v_.Rem(piece, per_row), run);
      Value bits = LoadBits(Behind(through.pointer, v_.Add(v_.Mul(row, through.stride), column)), run);
      Value at = v_.Add(first, row);
      v_.If(v_.Within(at, to.count),
            [&] { StoreBits(bits, Behind(to.pointer, v_.Add(v_.Mul(at, to.stride), column)), run); });
    }
  });
}

MatrixTiles::Values MatrixTiles::LoadRun(const Rows& from, Value row, Value column) {
  const int64_t run = RunOf(factors_, from.width);
  Value bits = LoadBits(Behind(from.pointer, v_.Add(v_.Mul(row, from.stride), column)), run);
  const auto number = [&](Value word) { return b_.create<arith::BitcastOp>(v_.loc(), b_.getF32Type(), word); };
  const auto constant = [&](uint32_t n) { return b_.create<arith::ConstantOp>(v_.loc(), b_.getI32IntegerAttr(n)); };
  const int64_t words = run * NumberBytes(factors_) / 4;
  Values numbers;
  if (words == 0) bits = b_.create<arith::ExtUIOp>(v_.loc(), b_.getI32Type(), bits);
  for (int64_t i = 0; i < std::max<int64_t>(words, 1); ++i) {
    Value word = words > 1 ? Element(bits, i) : bits;
    if (factors_ != Factors::kBFloat16) {
      numbers.push_back(number(word));
      continue;
    }
    numbers.push_back(number(b_.create<arith::ShLIOp>(v_.loc(), word, constant(16))));
    if (words > 0) numbers.push_back(number(b_.create<arith::AndIOp>(v_.loc(), word, constant(0xffff0000))));
  }
  return numbers;
}

}  // namespace tandem

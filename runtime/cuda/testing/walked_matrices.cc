#include "runtime/cuda/testing/walked_matrices.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "base/bfloat16.h"
#include "runtime/cuda/testing/walked_block.h"

namespace tandem {
namespace {

constexpr int kLanes = 32;

struct Load {
  const char* address;
  FourInts pairs;
};

uint32_t NumberAt(void* const* lanes, int matrix, int row, int column) {
  uint16_t bits;
  std::memcpy(&bits, static_cast<Load*>(lanes[8 * matrix + row])->address + 2 * column, sizeof bits);
  return bits;
}

template <bool kTransposed>
void LoadAll(void* const* lanes) {
  for (int lane = 0; lane < kLanes; ++lane) {
    const int row = lane / 4, first = lane % 4 * 2;
    for (int m = 0; m < 4; ++m) {
      const uint32_t low = kTransposed ? NumberAt(lanes, m, first, row) : NumberAt(lanes, m, row, first);
      const uint32_t high = kTransposed ? NumberAt(lanes, m, first + 1, row) : NumberAt(lanes, m, row, first + 1);
      static_cast<Load*>(lanes[lane])->pairs[m] = low | high << 16;
    }
  }
}

struct Product {
  uint32_t a[4], b[2];
  FourFloats c;
};

// Products of bfloat16 and of TensorFloat-32 numbers are exact in double; a sum is rounded once. `kInWord`: how many
// numbers a word holds.
template <int kInWord>
void MultiplyAll(void* const* lanes) {
  constexpr int kDepth = 8 * kInWord;
  double a[16][kDepth], b[kDepth][8];
  const auto number = [](uint32_t word, int i) {
    return kInWord == 1 ? std::bit_cast<float>(word & ~0x1fffu) : FromBFloat16Bits(word >> 16 * i & 0xffff);
  };
  for (int lane = 0; lane < kLanes; ++lane) {
    const Product& p = *static_cast<Product*>(lanes[lane]);
    const int row = lane / 4, first = lane % 4 * kInWord, next = 4 * kInWord;
    for (int n = 0; n < kInWord; ++n) {
      for (int i = 0; i < 4; ++i) a[row + i % 2 * 8][first + i / 2 * next + n] = number(p.a[i], n);
      for (int i = 0; i < 2; ++i) b[first + i * next + n][row] = number(p.b[i], n);
    }
  }
  for (int lane = 0; lane < kLanes; ++lane) {
    Product& p = *static_cast<Product*>(lanes[lane]);
    for (int i = 0; i < 4; ++i) {
      const int row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
      double sum = p.c[i];
      for (int k = 0; k < kDepth; ++k) sum += a[row][k] * b[k][column];
      p.c[i] = static_cast<float>(sum);
    }
  }
}

}  // namespace

uint32_t WalkedPackBFloat16(float low, float high) {
  return ToBFloat16Bits(low) | static_cast<uint32_t>(ToBFloat16Bits(high)) << 16;
}

uint32_t WalkedRoundToTensorFloat32(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  return std::isfinite(x) ? (bits + 0x1000) & ~0x1fffu : bits;
}

FourInts WalkedLoadMatrices(const char* address) {
  Load load = {address, {}};
  WalkedBlock::Current()->MeetWarp(LoadAll<false>, &load);
  return load.pairs;
}

FourInts WalkedLoadTransposed(const char* address) {
  Load load = {address, {}};
  WalkedBlock::Current()->MeetWarp(LoadAll<true>, &load);
  return load.pairs;
}

FourFloats WalkedMultiplyAdd(uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint32_t b0, uint32_t b1,
                             FourFloats c) {
  Product product = {{a0, a1, a2, a3}, {b0, b1}, c};
  WalkedBlock::Current()->MeetWarp(MultiplyAll<2>, &product);
  return product.c;
}

FourFloats WalkedMultiplyAddTensorFloat32(uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint32_t b0, uint32_t b1,
                                          FourFloats c) {
  Product product = {{a0, a1, a2, a3}, {b0, b1}, c};
  WalkedBlock::Current()->MeetWarp(MultiplyAll<1>, &product);
  return product.c;
}

}  // namespace tandem

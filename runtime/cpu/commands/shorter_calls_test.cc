// A row has the same bits whatever the number of rows that are computed with it.
#include "runtime/cpu/commands/shorter_calls.h"

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/cpu/onednn/onednn_layout.h"
#include "runtime/library_calls/library_call.h"
#include "runtime/library_calls/pack_weights.h"
#include "runtime/testing/library_calls.h"
#include "runtime/testing/random_floats.h"
#include "runtime/variables/arena.h"

namespace tandem {
namespace {

int64_t Product(const std::vector<int64_t>& shape) { return NumElements(shape); }

Arena Memory(uint64_t bytes) { return *Arena::Create(bytes, "a test"); }

void Fill(Arena& memory, uint32_t seed) {
  const std::vector<float> numbers = RandomFloats(static_cast<int64_t>(memory.bytes() / 4), seed);
  std::memcpy(memory.data(), numbers.data(), 4 * numbers.size());
}

// A call with its operands for all rows.
class Call {
 public:
  explicit Call(format::LibraryCall call, int64_t rows) : call_(std::move(call)), rows_(rows) {
    const LibraryOperands operands = *CheckLibraryCall(call_);
    for (const auto& shape : operands.inputs) {
      inputs_.push_back(Memory(shape.empty() ? 0 : 4 * Product(shape)));
      Fill(inputs_.back(), static_cast<uint32_t>(inputs_.size()));
    }
    y_bytes_ = 4 * Product(operands.outputs[0]);
    if (InfoOf(call_).packed) Pack();
    auto whole = OneDnnPrimitive::Create(call_, 1);
    EXPECT_TRUE(whole.ok()) << whole.status();
    whole_ = *std::move(whole);
    scratch_ = Memory(whole_->scratch_bytes() + 64);
  }

  const OneDnnPrimitive& whole() const { return *whole_; }

  std::string Run(const OneDnnPrimitive& primitive, int64_t rows) const {
    Arena y = Memory(y_bytes_);
    if (InfoOf(call_).epilogue.residual) std::memcpy(y.data(), inputs_.back().data(), y_bytes_);
    std::vector<void*> in;
    for (const Arena& input : inputs_) in.push_back(input.data());
    EXPECT_TRUE(primitive.Run(0, in, y.data(), scratch_.data()).ok());
    return std::string(reinterpret_cast<const char*>(y.data()), y_bytes_ / rows_ * rows);
  }

  // Compares rows that are computed alone, and with some others, with those of the whole.
  void Compare() const {
    const ShorterCalls shorter(call_, rows_, *whole_, 1);
    for (int64_t rows = 1; rows < rows_; ++rows) {
      const ShorterCalls::Choice choice = shorter.For(rows, scratch_.bytes());
      EXPECT_GE(choice.rows, rows);
      EXPECT_EQ(choice.primitive == whole_.get(), choice.rows == rows_);
      EXPECT_TRUE(Run(*choice.primitive, rows) == Run(*whole_, rows))
          << rows << " of " << rows_ << " rows of " << TextOf(call_) << " by " << whole_->implementation();
    }
    const int64_t of_one = rows_ > 1 ? shorter.For(1, scratch_.bytes()).rows : 1;
    EXPECT_EQ(of_one, 1) << TextOf(call_) << " by " << whole_->implementation();
  }

 private:
  void Pack() {
    const format::LibraryCall packing = PackingFor(call_);
    const std::vector<int64_t> shape = InfoOf(call_).weights_shape;
    Arena plain = Memory(4 * Product(shape)), packed = Memory(*PackedWeightsBytes(call_));
    Fill(plain, 9);
    auto primitive = OneDnnPrimitive::Create(packing, 1);
    ASSERT_TRUE(primitive.ok()) << primitive.status();
    const Arena scratch = Memory((*primitive)->scratch_bytes() + 64);
    void* in[] = {plain.data()};
    ASSERT_TRUE((*primitive)->Run(0, in, packed.data(), scratch.data()).ok());
    inputs_[1] = std::move(packed);
  }

  const format::LibraryCall call_;
  const int64_t rows_;
  std::vector<Arena> inputs_;
  uint64_t y_bytes_ = 0;
  std::unique_ptr<OneDnnPrimitive> whole_;
  Arena scratch_;
};

const std::vector<int64_t> kRows = {1, 2, 3, 4, 5, 8, 16};

TEST(ShorterCallsTest, PackedProducts) {
  for (int64_t rows : kRows) {
    for (int64_t depth : {1, 17, 64, 100, 784, 1024, 3072}) {
      for (int64_t columns : {1, 10, 64, 100, 1024}) {
        format::MatMul product = MatMulOf(rows, depth, columns);
        product.packed = true;
        product.epilogue.bias = true;
        if (columns == 64) product.epilogue.activation = format::Activation::kRelu;
        Call(CallOf(product), rows).Compare();
      }
    }
  }
}

// Of the Transformer: each example is many rows of the product.
TEST(ShorterCallsTest, PackedProductsOfTokens) {
  for (int64_t rows : {2, 4, 8}) {
    for (const auto& [depth, columns] :
         std::vector<std::pair<int64_t, int64_t>>{{256, 256}, {256, 1024}, {1024, 256}}) {
      format::MatMul product = MatMulOf(1, depth, columns);
      product.a_shape = {rows, 128, depth};
      product.y_shape = {rows, 128, columns};
      product.packed = true;
      Call(CallOf(product), rows).Compare();
    }
  }
}

TEST(ShorterCallsTest, ProductsOfAttention) {
  for (int64_t rows : {2, 4, 8}) {
    for (int flags : {0, 2, 4 + 8, 2 + 4 + 8, 16}) {
      Call(CallOf(BatchMatMulOf(rows, 4, 128, 64, 128, flags)), rows).Compare();
      Call(CallOf(BatchMatMulOf(rows, 4, 128, 128, 64, flags)), rows).Compare();
    }
  }
}

TEST(ShorterCallsTest, UnpackedProducts) {
  for (int64_t rows : {4, 8, 32}) {
    const format::LibraryCall call = CallOf(MatMulOf(rows, 1024, 1024), format::Algorithm::kUnpackedGemm);
    if (!OneDnnPrimitive::Create(call, 1).ok()) GTEST_SKIP() << "this CPU has no AVX-512";
    Call(call, rows).Compare();
  }
}

TEST(ShorterCallsTest, PackedConvolutions) {
  for (int rows : {2, 4, 5, 8}) {
    for (const format::Conv2D& conv :
         {Conv(rows, 13, 13, 32, 3, 3, 64, 1, 0, 0), Conv(rows, 28, 28, 16, 3, 3, 32, 1, 1, 1),
          Conv(rows, 14, 14, 64, 1, 1, 256, 1, 0, 0), Conv(rows, 14, 14, 256, 1, 1, 64, 1, 0, 0),
          Conv(rows, 28, 28, 128, 3, 3, 128, 2, 0, 1), Conv(rows, 7, 7, 512, 3, 3, 512, 1, 1, 1),
          Conv(rows, 28, 28, 256, 1, 1, 512, 2, 0, 0), Conv(rows, 32, 32, 3, 7, 7, 64, 2, 2, 3)}) {
      format::Conv2D packed = conv;
      packed.packed = true;
      packed.epilogue.bias = true;
      packed.epilogue.activation = format::Activation::kRelu;
      Call(CallOf(packed), rows).Compare();
    }
  }
}

TEST(ShorterCallsTest, ResidualsAreAdded) {
  format::Conv2D conv = Conv(4, 14, 14, 64, 1, 1, 256, 1, 0, 0);
  conv.packed = true;
  conv.epilogue.residual = true;
  Call(CallOf(conv), 4).Compare();
}

}  // namespace
}  // namespace tandem

// td.random_uniform: known answers, invariance to how the batch is split, and the emitted arithmetic bit for bit.
#include "graph/ir/random.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

namespace tandem::td {
namespace {

class RandomTest : public testing::Test {
 protected:
  RandomTest() { context_.loadDialect<TdDialect, mlir::func::FuncDialect, mlir::arith::ArithDialect>(); }

  RandomUniformOp Parse(const std::string& op) {
    std::string text =
        "func.func @main(%seed: tensor<i64>, %step: tensor<i64>) { %u = td.random_uniform %seed, %step " + op +
        " return }";
    mlir::ScopedDiagnosticHandler handler(&context_, [&](mlir::Diagnostic& d) {
      error_ += d.str();
      return mlir::success();
    });
    module_ = mlir::parseSourceString<mlir::ModuleOp>(text, &context_);
    RandomUniformOp result;
    if (module_) module_->walk([&](RandomUniformOp o) { result = o; });
    return result;
  }

  static RefTensor Evaluate(RandomUniformOp op, int64_t seed, int64_t step, RefContext context) {
    RefTensor s{DType::kInt64, {}, {static_cast<double>(seed)}}, t{DType::kInt64, {}, {static_cast<double>(step)}};
    const RefTensor* operands[] = {&s, &t};
    std::vector<RefTensor> results(1);
    EXPECT_TRUE(op.evaluate(operands, context, results).ok());
    return results[0];
  }

  mlir::MLIRContext context_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  std::string error_;
};

// The element at constant operands and indices; arith's own folders compute it.
class FoldingContext : public ElementalContext {
 public:
  FoldingContext(mlir::OpBuilder& b, int64_t seed, int64_t step, int64_t row_offset)
      : b_(b), values_{seed, step}, row_offset_(row_offset) {}
  mlir::Value Operand(unsigned operand, mlir::ValueRange indices) override {
    EXPECT_TRUE(indices.empty());
    return b_.create<mlir::arith::ConstantOp>(loc(), b_.getI64IntegerAttr(values_[operand]));
  }
  mlir::Value RowOffset() override { return b_.create<mlir::arith::ConstantIndexOp>(loc(), row_offset_); }
  mlir::OpBuilder& builder() override { return b_; }
  mlir::Location loc() override { return b_.getUnknownLoc(); }

 private:
  mlir::OpBuilder& b_;
  int64_t values_[2], row_offset_;
};

// Folds every op of the block in order; the value of the last one, NaN when an op does not fold.
float FoldLast(mlir::Block& block) {
  llvm::DenseMap<mlir::Value, mlir::Attribute> known;
  mlir::Attribute last;
  for (mlir::Operation& op : block) {
    llvm::SmallVector<mlir::OpFoldResult> folded;
    // A first call may only reorder operands.
    for (int attempt = 0; attempt < 2 && folded.empty(); ++attempt) {
      llvm::SmallVector<mlir::Attribute> operands;
      for (mlir::Value v : op.getOperands()) operands.push_back(known.lookup(v));
      if (failed(op.fold(operands, folded))) break;
    }
    if (folded.empty()) {
      ADD_FAILURE() << "does not fold: " << op.getName().getStringRef().str();
      return NAN;
    }
    if (auto value = mlir::dyn_cast<mlir::Value>(folded[0])) {
      last = known.lookup(value);
    } else {
      last = mlir::cast<mlir::Attribute>(folded[0]);
    }
    known[op.getResult(0)] = last;
  }
  return mlir::cast<mlir::FloatAttr>(last).getValue().convertToFloat();
}

float Emitted(RandomUniformOp op, int64_t seed, int64_t step, int64_t row_offset, std::vector<int64_t> at) {
  mlir::OwningOpRef<mlir::ModuleOp> scratch = mlir::ModuleOp::create(op.getLoc());
  mlir::OpBuilder b = mlir::OpBuilder::atBlockEnd(scratch->getBody());
  FoldingContext context(b, seed, step, row_offset);
  llvm::SmallVector<mlir::Value> indices;
  for (int64_t i : at) indices.push_back(b.create<mlir::arith::ConstantIndexOp>(b.getUnknownLoc(), i));
  op.emitElement(context, 0, indices);
  return FoldLast(*scratch->getBody());
}

// The generator's published test vectors (Random123, kat_vectors) for an all-zero counter and key, by way of the op.
TEST_F(RandomTest, PublishedVector) {
  RandomUniformOp op = Parse("key 0 shape [4] -> tensor<4xf32>");
  ASSERT_TRUE(op) << error_;
  RefTensor r = Evaluate(op, 0, 0, {});
  EXPECT_EQ(r.shape, Shape({4}));
  EXPECT_EQ(r.dtype, DType::kFloat32);
  EXPECT_THAT(r.values, testing::ElementsAre((0x6627e8d5u >> 8) * 0x1p-24, (0xe169c58du >> 8) * 0x1p-24,
                                             (0xbc57ac4cu >> 8) * 0x1p-24, (0x9b00dbd8u >> 8) * 0x1p-24));
}

TEST_F(RandomTest, SplitsDoNotMatter) {
  RandomUniformOp op = Parse("key 77 shape [-1, 2, 3] -> tensor<?x2x3xf32>");
  ASSERT_TRUE(op) << error_;
  RefTensor whole = Evaluate(op, 5, 9, {.batch = 4, .row_offset = 0});
  RefTensor tail = Evaluate(op, 5, 9, {.batch = 1, .row_offset = 3});
  ASSERT_EQ(whole.values.size(), 24);
  EXPECT_EQ(std::vector<double>(whole.values.end() - 6, whole.values.end()), tail.values);
  EXPECT_NE(Evaluate(op, 5, 10, {.batch = 4}).values, whole.values);
  EXPECT_NE(Evaluate(op, 6, 9, {.batch = 4}).values, whole.values);
}

TEST_F(RandomTest, UniformMoments) {
  RandomUniformOp op = Parse("key 123456789123 shape [-1, 100] -> tensor<?x100xf32>");
  ASSERT_TRUE(op) << error_;
  RefTensor r = Evaluate(op, 1, 0, {.batch = 500});
  double sum = 0, squares = 0, low = 1, high = 0;
  for (double v : r.values) {
    sum += v, squares += v * v;
    low = std::min(low, v), high = std::max(high, v);
  }
  double n = static_cast<double>(r.values.size()), mean = sum / n;
  EXPECT_NEAR(mean, 0.5, 0.005);
  EXPECT_NEAR(squares / n - mean * mean, 1.0 / 12, 0.002);
  EXPECT_GE(low, 0);
  EXPECT_LT(high, 1);
}

TEST_F(RandomTest, EmittedArithmeticIsTheSame) {
  // A negative key and seed and a large row and step reach every half-word.
  RandomUniformOp op = Parse("key -1234567890123456789 shape [-1, 2, 3] -> tensor<?x2x3xf32>");
  ASSERT_TRUE(op) << error_;
  const int64_t seed = -(int64_t{1} << 40) - 3, step = (int64_t{3} << 33) + 11, row = (int64_t{5} << 32) + 4000000000;
  RefTensor r = Evaluate(op, seed, step, {.batch = 2, .row_offset = row});
  for (int64_t i = 0; i < 12; ++i) {
    EXPECT_EQ(Emitted(op, seed, step, row, {i / 6, i / 3 % 2, i % 3}), static_cast<float>(r.values[i])) << i;
  }
  RandomUniformOp flat = Parse("key 8 shape [3, 3] -> tensor<3x3xf32>");
  ASSERT_TRUE(flat) << error_;
  RefTensor s = Evaluate(flat, 1, 2, {.batch = 2, .row_offset = 7});
  for (int64_t i = 0; i < 9; ++i) EXPECT_EQ(Emitted(flat, 1, 2, 7, {i / 3, i % 3}), static_cast<float>(s.values[i]));
}

TEST_F(RandomTest, RejectsBadShapes) {
  EXPECT_FALSE(Parse("key 1 shape [3, -1] -> tensor<3x?xf32>"));
  EXPECT_THAT(error_, testing::HasSubstr("only dimension 0 may be the batch"));
  error_.clear();
  EXPECT_FALSE(Parse("key 1 shape [-1, 3] -> tensor<?x4xf32>"));
  EXPECT_NE(error_, "");
}

}  // namespace
}  // namespace tandem::td

// Kernels with reductions (row, col and once) against the reference semantics of their ops.
#include <cstring>
#include <limits>

#include "gtest/gtest.h"
#include "passes/codegen/kernel_test_util.h"

namespace tandem {
namespace {

// Compares with the reference for several batch sizes.
void ExpectMatches(const std::string& text, double tolerance, std::vector<int64_t> batches = {1, 3, 16, 29}) {
  for (const char* target : {"native", "gpu"}) {
    auto kernel = TestKernel::Create(text, target);
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    std::mt19937 random(7);
    for (int64_t batch : batches) {
      auto error = (*kernel)->Error((*kernel)->RandomOperands(batch, random), batch);
      ASSERT_TRUE(error.ok()) << target << " " << error.status();
      EXPECT_LE(*error, tolerance) << target << ", batch " << batch;
    }
  }
}

// The number of times `needle` occurs.
int Count(const std::string& text, const std::string& needle) {
  int n = 0;
  for (size_t at = text.find(needle); at != std::string::npos; at = text.find(needle, at + 1)) ++n;
  return n;
}

std::string Softmax(int64_t classes) {
  std::string t = "tensor<?x" + std::to_string(classes) + "xf32>", v = "tensor<?xf32>";
  return "func.func private @softmax(%x: " + t + ") -> " + t + R"( attributes {exec.kernel = #exec.kernel_kind<row>} {
    %m = td.reduce max, %x axes [1] : )" +
         t + " -> " + v + R"(
    %mb = td.broadcast %m dims [0] : )" +
         v + " -> " + t + R"(
    %d = td.sub %x, %mb : )" +
         t + R"(
    %e = td.exp %d : )" +
         t + R"(
    %s = td.reduce sum, %e axes [1] : )" +
         t + " -> " + v + R"(
    %sb = td.broadcast %s dims [0] : )" +
         v + " -> " + t + R"(
    %p = td.div %e, %sb : )" +
         t + R"(
    return %p : )" +
         t + "\n}";
}

TEST(RowKernelTest, SoftmaxMatchesReference) {
  for (int64_t classes : {1, 2, 10, 33, 1000}) ExpectMatches(Softmax(classes), 2e-6);
}

// Rows of several softmaxes and normalisations: on a GPU blocks share such a row, unless one part needs another.
TEST(RowKernelTest, PartsOfRows) {
  auto kernel = [](const std::string& last) {
    return R"(func.func private @k(%x: tensor<?x4x48x64xf32>) -> tensor<?x4x48x64xf32> attributes {exec.kernel = #exec.kernel_kind<row>} {
    %m = td.reduce max, %x axes [3] : tensor<?x4x48x64xf32> -> tensor<?x4x48xf32>
    %mb = td.broadcast %m dims [0, 1, 2] : tensor<?x4x48xf32> -> tensor<?x4x48x64xf32>
    %d = td.sub %x, %mb : tensor<?x4x48x64xf32>
    %e = td.exp %d : tensor<?x4x48x64xf32>
    %s = td.reduce sum, %e axes [3] : tensor<?x4x48x64xf32> -> tensor<?x4x48xf32>
    )" + last +
           R"(
    %p = td.div %e, %sb : tensor<?x4x48x64xf32>
    return %p : tensor<?x4x48x64xf32>
  })";
  };
  const std::string apart =
      kernel("%sb = td.broadcast %s dims [0, 1, 2] : tensor<?x4x48xf32> -> tensor<?x4x48x64xf32>");
  const std::string mixed = kernel(R"(%t = td.transpose %s perm [0, 2, 1] : tensor<?x4x48xf32> -> tensor<?x48x4xf32>
    %r = td.reshape %t : tensor<?x48x4xf32> -> tensor<?x4x48xf32>
    %sb = td.broadcast %r dims [0, 1, 2] : tensor<?x4x48xf32> -> tensor<?x4x48x64xf32>)");
  for (const std::string& text : {apart, mixed}) {
    ExpectMatches(text, 2e-6, {1, 3});
    auto compiled = TestKernel::Create(text, "gpu");
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    EXPECT_EQ((*compiled)->gpu().launch.split, text == apart ? 12u : 1u);
  }
}

TEST(RowKernelTest, SoftmaxSplitsGiveTheSameBits) {
  auto kernel = TestKernel::Create(Softmax(37), "native");
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  std::mt19937 random(2);
  auto operands = (*kernel)->RandomOperands(9, random);
  EXPECT_EQ((*kernel)->Run(operands, 9, {0, 1, 4, 4, 9}), (*kernel)->Run(operands, 9, {0, 9}));
}

TEST(RowKernelTest, SoftmaxIsVectorised) {
  auto kernel = TestKernel::Create(Softmax(1024), "x86-64-v4");
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  const std::string& ir = (*kernel)->llvm_ir();
  EXPECT_GT(Count(ir, "fadd reassoc contract <16 x float>"), 0) << ir;
  EXPECT_GT(Count(ir, "fdiv <16 x float>"), 0) << ir;
  EXPECT_EQ(Count(ir, "expf"), 0) << ir;
  EXPECT_EQ(Count(ir, "gather"), 0) << ir;
}

TEST(ReduceKernelTest, BiasReluIsOneVectorLoopPerChannelRun) {
  std::string text =
      R"(func.func private @bias_relu(%x: tensor<?x26x26x32xf32>, %b: tensor<32xf32>) -> tensor<?x26x26x32xf32>
      attributes {exec.kernel = #exec.kernel_kind<loop>} {
    %0 = td.broadcast %b dims [3] : tensor<32xf32> -> tensor<?x26x26x32xf32>
    %1 = td.add %x, %0 : tensor<?x26x26x32xf32>
    %2 = td.relu %1 : tensor<?x26x26x32xf32>
    return %2 : tensor<?x26x26x32xf32>
  })";
  ExpectMatches(text, 1e-6, {1, 2});
  auto kernel = TestKernel::Create(text, "x86-64-v4");
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  const std::string& ir = (*kernel)->llvm_ir();
  EXPECT_GT(Count(ir, "fadd <16 x float>"), 0) << ir;
  EXPECT_EQ(Count(ir, "gather"), 0) << ir;
  EXPECT_EQ(Count(ir, "urem"), 0) << ir;
}

TEST(ReduceKernelTest, ReshapeNeedsNoDivision) {
  std::string text = R"(func.func private @flatten(%x: tensor<?x4x4x32xf32>, %b: tensor<32xf32>) -> tensor<?x512xf32>
      attributes {exec.kernel = #exec.kernel_kind<loop>} {
    %0 = td.broadcast %b dims [3] : tensor<32xf32> -> tensor<?x4x4x32xf32>
    %1 = td.add %x, %0 : tensor<?x4x4x32xf32>
    %2 = td.reshape %1 : tensor<?x4x4x32xf32> -> tensor<?x512xf32>
    return %2 : tensor<?x512xf32>
  })";
  ExpectMatches(text, 1e-6);
  auto kernel = TestKernel::Create(text, "x86-64-v4");
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  EXPECT_EQ(Count((*kernel)->llvm_ir(), "urem"), 0) << (*kernel)->llvm_ir();
  EXPECT_EQ(Count((*kernel)->llvm_ir(), "udiv"), 0) << (*kernel)->llvm_ir();
}

TEST(ReduceKernelTest, IndexMapsMatchReference) {
  ExpectMatches(
      R"(func.func private @maps(%x: tensor<?x3x5xf32>, %i: tensor<?xi64>) -> (tensor<?x5x3xf32>, tensor<?x4x5xf32>, tensor<?x2x3xf32>, tensor<?x15x2xf32>, tensor<?x6xf32>)
      attributes {exec.kernel = #exec.kernel_kind<loop>} {
    %0 = td.transpose %x perm [0, 2, 1] : tensor<?x3x5xf32> -> tensor<?x5x3xf32>
    %1 = td.pad %x low [0, 1, 0] high [0, 0, 0] : tensor<?x3x5xf32> -> tensor<?x4x5xf32>
    %2 = td.slice %x begin [0, 1, 2] size [-1, 2, 3] : tensor<?x3x5xf32> -> tensor<?x2x3xf32>
    %3 = td.concat %x, %x axis 2 : (tensor<?x3x5xf32>, tensor<?x3x5xf32>) -> tensor<?x3x10xf32>
    %4 = td.reshape %3 : tensor<?x3x10xf32> -> tensor<?x15x2xf32>
    %5 = td.one_hot %i : tensor<?xi64> -> tensor<?x6xf32>
    return %0, %1, %2, %4, %5 : tensor<?x5x3xf32>, tensor<?x4x5xf32>, tensor<?x2x3xf32>, tensor<?x15x2xf32>, tensor<?x6xf32>
  })",
      0);
}

TEST(ReduceKernelTest, MathIsAccurate) {
  for (const char* op : {"exp", "tanh", "sigmoid", "sqrt", "log"}) {
    std::string in = std::string(op) == "sqrt" || std::string(op) == "log" ? "td.mul %x, %x" : "td.add %x, %x";
    ExpectMatches(
        "func.func private @f(%x: tensor<?x19xf32>) -> tensor<?x19xf32> attributes {exec.kernel = "
        "#exec.kernel_kind<loop>} {\n%0 = " +
            in + " : tensor<?x19xf32>\n%1 = td." + op + R"( %0 : tensor<?x19xf32>
      return %1 : tensor<?x19xf32> })",
        3e-6);
  }
}

TEST(OnceKernelTest, ScalarPowIsPrecise) {
  ExpectMatches(
      R"(func.func private @f(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> attributes {exec.kernel = #exec.kernel_kind<once>} {
    %0 = td.mul %x, %x : tensor<f32>
    %1 = td.pow %0, %y : tensor<f32>
    return %1 : tensor<f32>
  })",
      1e-6);
}

TEST(OnceKernelTest, Float64UsesTheLibrary) {
  ExpectMatches(
      R"(func.func private @f(%x: tensor<?x3xf64>) -> tensor<?x3xf64> attributes {exec.kernel = #exec.kernel_kind<loop>} {
    %0 = td.tanh %x : tensor<?x3xf64>
    %1 = td.exp %0 : tensor<?x3xf64>
    return %1 : tensor<?x3xf64>
  })",
      1e-14);
}

// On a GPU many blocks share the sums, and the last one goes on with them.
TEST(OnceKernelTest, LargeSums) {
  const std::string text = R"(
  func.func private @norms(%x: tensor<301x257xf32>, %y: tensor<90xf32>, %s: tensor<f32>)
      -> (tensor<f32>, tensor<90xf32>, tensor<f32>) attributes {exec.kernel = #exec.kernel_kind<once>} {
    %0 = td.mul %x, %x : tensor<301x257xf32>
    %1 = td.reduce sum, %0 axes [0, 1] : tensor<301x257xf32> -> tensor<f32>
    %2 = td.reduce max, %y axes [0] : tensor<90xf32> -> tensor<f32>
    %3 = td.mul %1, %s : tensor<f32>
    %4 = td.sqrt %1 : tensor<f32>
    %5 = td.add %4, %2 : tensor<f32>
    %6 = td.broadcast %5 dims [] : tensor<f32> -> tensor<90xf32>
    %7 = td.div %y, %6 : tensor<90xf32>
    return %3, %7, %2 : tensor<f32>, tensor<90xf32>, tensor<f32>
  })";
  ExpectMatches(text, 1e-5, {1});
  auto kernel = TestKernel::Create(text, "gpu");
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  EXPECT_EQ((*kernel)->gpu().launch.split, 10u);
}

TEST(OnceKernelTest, SumOfSquares) {
  std::string text =
      R"(func.func private @norm(%x: tensor<77x65xf32>) -> tensor<f32> attributes {exec.kernel = #exec.kernel_kind<once>} {
    %0 = td.mul %x, %x : tensor<77x65xf32>
    %1 = td.reduce sum, %0 axes [0, 1] : tensor<77x65xf32> -> tensor<f32>
    return %1 : tensor<f32>
  })";
  ExpectMatches(text, 1e-5, {1});
  auto kernel = TestKernel::Create(text, "x86-64-v4");
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  EXPECT_GT(Count((*kernel)->llvm_ir(), "x float>"), 0) << (*kernel)->llvm_ir();
  EXPECT_EQ(Count((*kernel)->llvm_ir(), "urem"), 0);
}

constexpr char kReluBiasGradient[] = R"(
func.func private @bias_grad(%y: tensor<?x5x6x32xf32>, %dy: tensor<?x5x6x32xf32>) -> (tensor<32xf32>, tensor<?x5x6x32xf32>)
    attributes {exec.kernel = #exec.kernel_kind<col>} {
  %r = td.relu %y : tensor<?x5x6x32xf32>
  %m = td.mul %dy, %r : tensor<?x5x6x32xf32>
  %s = td.reduce sum, %m axes [0, 1, 2] : tensor<?x5x6x32xf32> -> tensor<32xf32>
  return %s, %m : tensor<32xf32>, tensor<?x5x6x32xf32>
})";

TEST(ColKernelTest, SumWithBatchedExtraResult) {
  ExpectMatches(kReluBiasGradient, 1e-4, {0, 1, 2, 17});
  auto kernel = TestKernel::Create(kReluBiasGradient, "x86-64-v4");
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  EXPECT_GT(Count((*kernel)->llvm_ir(), "fadd <16 x float>"), 0) << (*kernel)->llvm_ir();
  EXPECT_EQ(Count((*kernel)->llvm_ir(), "gather"), 0);
}

// Sums over large images fetch what they touch next, results for a write, but no operand that is read out of order. The
// last places of a row, fewer than go side by side, are summed all the same.
TEST(ColKernelTest, FetchesAhead) {
  const std::string text = R"(
    func.func private @k(%x: tensor<?x31x45x64xbf16>, %w: tensor<?x33x47x64xf32>, %b: tensor<64xf32>)
        -> (tensor<64xf32>, tensor<64xf32>, tensor<?x31x45x64xf32>) attributes {exec.kernel = #exec.kernel_kind<col>} {
      %0 = td.cast %x : tensor<?x31x45x64xbf16> -> tensor<?x31x45x64xf32>
      %1 = td.slice %w begin [0, 1, 1, 0] size [-1, 31, 45, 64] : tensor<?x33x47x64xf32> -> tensor<?x31x45x64xf32>
      %2 = td.mul %0, %1 : tensor<?x31x45x64xf32>
      %3 = td.broadcast %b dims [3] : tensor<64xf32> -> tensor<?x31x45x64xf32>
      %4 = td.sub %2, %3 : tensor<?x31x45x64xf32>
      %5 = td.reduce sum, %2 axes [0, 1, 2] : tensor<?x31x45x64xf32> -> tensor<64xf32>
      %6 = td.reduce sum, %4 axes [0, 1, 2] : tensor<?x31x45x64xf32> -> tensor<64xf32>
      return %5, %6, %4 : tensor<64xf32>, tensor<64xf32>, tensor<?x31x45x64xf32>
    })";
  ExpectMatches(text, 1e-3, {0, 2});
  auto kernel = TestKernel::Create(text, "x86-64-v4");
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  const std::string& ir = (*kernel)->llvm_ir();
  EXPECT_GT(Count(ir, "fadd <16 x float>"), 0) << ir;
  const int reads = Count(ir, ", i32 0, i32 3, i32 1)"), writes = Count(ir, ", i32 1, i32 3, i32 1)");
  EXPECT_GT(reads, 0) << ir;
  EXPECT_EQ(writes, 2 * reads) << ir;
}

TEST(ColKernelTest, EmptyBatchGivesZeros) {
  auto kernel = TestKernel::Create(kReluBiasGradient, "native");
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  std::mt19937 random(2);
  EXPECT_EQ((*kernel)->Run((*kernel)->RandomOperands(0, random), 0, {0, 0})[0], Bytes(32 * 4, 0));
}

TEST(ColKernelTest, OtherAxes) {
  ExpectMatches(
      R"(func.func private @f(%x: tensor<?x3x7xf32>) -> (tensor<3x7xf32>, tensor<7xf32>, tensor<3xf32>, tensor<f32>)
      attributes {exec.kernel = #exec.kernel_kind<col>} {
    %0 = td.reduce sum, %x axes [0] : tensor<?x3x7xf32> -> tensor<3x7xf32>
    %1 = td.reduce max, %x axes [0, 1] : tensor<?x3x7xf32> -> tensor<7xf32>
    %2 = td.reduce sum, %x axes [0, 2] : tensor<?x3x7xf32> -> tensor<3xf32>
    %3 = td.reduce min, %x axes [0, 1, 2] : tensor<?x3x7xf32> -> tensor<f32>
    return %0, %1, %2, %3 : tensor<3x7xf32>, tensor<7xf32>, tensor<3xf32>, tensor<f32>
  })",
      1e-5);
}

// What one sum adds up place by place, eight at a time, another keeps apart.
TEST(ColKernelTest, SumsOfOtherColumns) {
  ExpectMatches(
      R"(func.func private @f(%x: tensor<?x7x6x16xf32>) -> (tensor<7x6x16xf32>, tensor<16xf32>, tensor<6x16xf32>)
      attributes {exec.kernel = #exec.kernel_kind<col>} {
    %0 = td.reduce sum, %x axes [0] : tensor<?x7x6x16xf32> -> tensor<7x6x16xf32>
    %1 = td.reduce sum, %x axes [0, 1, 2] : tensor<?x7x6x16xf32> -> tensor<16xf32>
    %2 = td.reduce max, %x axes [0, 1] : tensor<?x7x6x16xf32> -> tensor<6x16xf32>
    return %0, %1, %2 : tensor<7x6x16xf32>, tensor<16xf32>, tensor<6x16xf32>
  })",
      1e-5);
}

// Softmax cross-entropy: loss, gradient, accuracy and their sums, all in one kernel.
TEST(ColKernelTest, CrossEntropyWithGradientAndMetrics) {
  ExpectMatches(R"(
func.func private @xent(%x: tensor<?x10xf32>, %label: tensor<?xi64>) -> (tensor<?x10xf32>, tensor<f32>, tensor<f32>, tensor<10xf32>)
    attributes {exec.kernel = #exec.kernel_kind<col>} {
  %hot = td.one_hot %label : tensor<?xi64> -> tensor<?x10xf32>
  %m = td.reduce max, %x axes [1] : tensor<?x10xf32> -> tensor<?xf32>
  %mb = td.broadcast %m dims [0] : tensor<?xf32> -> tensor<?x10xf32>
  %d = td.sub %x, %mb : tensor<?x10xf32>
  %e = td.exp %d : tensor<?x10xf32>
  %s = td.reduce sum, %e axes [1] : tensor<?x10xf32> -> tensor<?xf32>
  %log = td.log %s : tensor<?xf32>
  %dh = td.mul %d, %hot : tensor<?x10xf32>
  %at = td.reduce sum, %dh axes [1] : tensor<?x10xf32> -> tensor<?xf32>
  %loss = td.sub %log, %at : tensor<?xf32>
  %sb = td.broadcast %s dims [0] : tensor<?xf32> -> tensor<?x10xf32>
  %p = td.div %e, %sb : tensor<?x10xf32>
  %g = td.sub %p, %hot : tensor<?x10xf32>
  %best = td.argmax %x axis 1 : tensor<?x10xf32> -> tensor<?xi64>
  %eq = td.compare eq, %best, %label : tensor<?xi64> -> tensor<?xi1>
  %hit = td.cast %eq : tensor<?xi1> -> tensor<?xf32>
  %total = td.reduce sum, %loss axes [0] : tensor<?xf32> -> tensor<f32>
  %hits = td.reduce sum, %hit axes [0] : tensor<?xf32> -> tensor<f32>
  %db = td.reduce sum, %g axes [0] : tensor<?x10xf32> -> tensor<10xf32>
  return %g, %total, %hits, %db : tensor<?x10xf32>, tensor<f32>, tensor<f32>, tensor<10xf32>
})",
                1e-5);
}

std::string ArgMax(const std::string& shape, int64_t axis, const std::string& result, const std::string& type) {
  const std::string x = "tensor<" + shape + "x" + type + ">", i = "tensor<" + result + "xi64>";
  return "func.func private @k(%x: " + x + ") -> " + i +
         " attributes {exec.kernel = #exec.kernel_kind<row>} {\n%i = td.argmax %x axis " + std::to_string(axis) +
         " : " + x + " -> " + i + "\nreturn %i : " + i + "\n}";
}

// The plain definition: the first element stands until a later one is larger.
int64_t FirstLargest(const std::vector<double>& row) {
  int64_t best = 0;
  for (size_t i = 1; i < row.size(); ++i) {
    if (row[i] > row[best]) best = static_cast<int64_t>(i);
  }
  return best;
}

// Rows of few different numbers, so that threads meet equals, and with every number that compares in its own way.
TEST(RowKernelTest, ArgMaxIsTheFirstLargest) {
  constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
  for (const char* type : {"f32", "bf16", "i32", "f64", "i64"}) {
    const bool is_float = type[0] != 'i';
    for (int64_t n : {1, 7, 10, 33, 512, 1000, 1027, 5000}) {
      const std::string text = ArgMax("?x" + std::to_string(n), 1, "?", type);
      for (const char* target : {"native", "gpu"}) {
        auto kernel = TestKernel::Create(text, target);
        ASSERT_TRUE(kernel.ok()) << kernel.status();
        constexpr int64_t kBatch = 24;
        std::mt19937 random(n);
        std::vector<td::RefTensor> x = (*kernel)->RandomOperands(kBatch, random);
        for (int64_t r = 0; r < kBatch; ++r) {
          for (int64_t i = 0; i < n; ++i) {
            double& v = x[0].values[r * n + i];
            const int kind = r % 8;
            v = static_cast<double>(random() % 5) - (kind == 1 ? 7 : 2);
            if (kind == 2) v = -static_cast<double>(n - i);
            if (!is_float) continue;
            if (kind == 3) v = random() % 2 ? 0.0 : -0.0;
            if (kind == 4) v = random() % 3 ? -kInf : kNan;
            if (kind == 5 && random() % 4 == 0) v = kNan;
            if (kind == 6) v = i == 0 ? kNan : random() % 2 ? kInf : v;
            if (kind == 7) v = kNan;
          }
        }
        const std::vector<Bytes> got = (*kernel)->Run(x, kBatch, {0, 5, kBatch});
        for (int64_t r = 0; r < kBatch; ++r) {
          const std::vector<double> row(x[0].values.begin() + r * n, x[0].values.begin() + (r + 1) * n);
          int64_t place;
          std::memcpy(&place, got[0].data() + r * 8, 8);
          EXPECT_EQ(place, FirstLargest(row)) << type << " " << target << ", row " << r << " of " << n;
        }
      }
    }
  }
}

TEST(RowKernelTest, ArgMaxOfInnerAndOfLastDimensions) {
  ExpectMatches(ArgMax("?x3x2048", 2, "?x3", "f32"), 0);
  ExpectMatches(ArgMax("?x2x5000", 2, "?x2", "f32"), 0, {1, 3});
  ExpectMatches(ArgMax("?x60x100", 2, "?x60", "f32"), 0);
  ExpectMatches(ArgMax("?x130x5", 1, "?x5", "f32"), 0);
  ExpectMatches(ArgMax("?x300x1", 1, "?x1", "i32"), 0);
}

// Of what the kernel computes, beside a sum of parts of the same row: blocks share a row on a GPU.
TEST(RowKernelTest, ArgMaxOfParts) {
  const std::string text = R"(
func.func private @k(%x: tensor<?x4x48x64xf32>) -> (tensor<?x4x48xi64>, tensor<?x4x48x64xf32>)
    attributes {exec.kernel = #exec.kernel_kind<row>} {
  %a = td.abs %x : tensor<?x4x48x64xf32>
  %i = td.argmax %a axis 3 : tensor<?x4x48x64xf32> -> tensor<?x4x48xi64>
  %s = td.reduce sum, %a axes [3] : tensor<?x4x48x64xf32> -> tensor<?x4x48xf32>
  %sb = td.broadcast %s dims [0, 1, 2] : tensor<?x4x48xf32> -> tensor<?x4x48x64xf32>
  %p = td.div %a, %sb : tensor<?x4x48x64xf32>
  return %i, %p : tensor<?x4x48xi64>, tensor<?x4x48x64xf32>
})";
  ExpectMatches(text, 2e-6, {1, 3});
  auto compiled = TestKernel::Create(text, "gpu");
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  EXPECT_GT((*compiled)->gpu().launch.split, 1u);
}

}  // namespace
}  // namespace tandem

// Kernels with reductions (row, col and once) against the reference semantics of their ops.
#include "gtest/gtest.h"
#include "passes/codegen/kernel_test_util.h"

namespace tandem {
namespace {

// Compares with the reference for several batch sizes.
void ExpectMatches(const std::string& text, double tolerance, std::vector<int64_t> batches = {1, 3, 16, 29}) {
  for (const char* target : {"host", "gpu"}) {
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
  return "func.func private @softmax(%x: " + t + ") -> " + t + R"( attributes {td.kernel = "row"} {
    %m = td.reduce "max", %x axes [1] : )" +
         t + " -> " + v + R"(
    %mb = td.broadcast %m dims [0] : )" +
         v + " -> " + t + R"(
    %d = td.sub %x, %mb : )" +
         t + R"(
    %e = td.exp %d : )" +
         t + R"(
    %s = td.reduce "sum", %e axes [1] : )" +
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
    return R"(func.func private @k(%x: tensor<?x4x48x64xf32>) -> tensor<?x4x48x64xf32> attributes {td.kernel = "row"} {
    %m = td.reduce "max", %x axes [3] : tensor<?x4x48x64xf32> -> tensor<?x4x48xf32>
    %mb = td.broadcast %m dims [0, 1, 2] : tensor<?x4x48xf32> -> tensor<?x4x48x64xf32>
    %d = td.sub %x, %mb : tensor<?x4x48x64xf32>
    %e = td.exp %d : tensor<?x4x48x64xf32>
    %s = td.reduce "sum", %e axes [3] : tensor<?x4x48x64xf32> -> tensor<?x4x48xf32>
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
    EXPECT_EQ((*compiled)->gpu().launch.split, text == apart ? 6u : 1u);
  }
}

TEST(RowKernelTest, SoftmaxSplitsGiveTheSameBits) {
  auto kernel = TestKernel::Create(Softmax(37), "host");
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  std::mt19937 random(2);
  auto operands = (*kernel)->RandomOperands(9, random);
  EXPECT_EQ((*kernel)->Run(operands, 9, {0, 1, 4, 4, 9}), (*kernel)->Run(operands, 9, {0, 9}));
}

TEST(RowKernelTest, SoftmaxIsVectorised) {
  auto kernel = TestKernel::Create(Softmax(1024), "avx512");
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  const std::string& ir = (*kernel)->llvm_ir();
  EXPECT_GT(Count(ir, "fadd reassoc contract <16 x float>"), 0) << ir;
  EXPECT_GT(Count(ir, "fdiv <16 x float>"), 0) << ir;
  EXPECT_EQ(Count(ir, "expf"), 0) << ir;
  EXPECT_EQ(Count(ir, "gather"), 0) << ir;
}

TEST(LoopKernelTest, BiasReluIsOneVectorLoopPerChannelRun) {
  std::string text =
      R"(func.func private @bias_relu(%x: tensor<?x26x26x32xf32>, %b: tensor<32xf32>) -> tensor<?x26x26x32xf32>
      attributes {td.kernel = "loop"} {
    %0 = td.broadcast %b dims [3] : tensor<32xf32> -> tensor<?x26x26x32xf32>
    %1 = td.add %x, %0 : tensor<?x26x26x32xf32>
    %2 = td.relu %1 : tensor<?x26x26x32xf32>
    return %2 : tensor<?x26x26x32xf32>
  })";
  ExpectMatches(text, 1e-6, {1, 2});
  auto kernel = TestKernel::Create(text, "avx512");
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  const std::string& ir = (*kernel)->llvm_ir();
  EXPECT_GT(Count(ir, "fadd <16 x float>"), 0) << ir;
  EXPECT_EQ(Count(ir, "gather"), 0) << ir;
  EXPECT_EQ(Count(ir, "urem"), 0) << ir;
}

TEST(LoopKernelTest, ReshapeNeedsNoDivision) {
  std::string text = R"(func.func private @flatten(%x: tensor<?x4x4x32xf32>, %b: tensor<32xf32>) -> tensor<?x512xf32>
      attributes {td.kernel = "loop"} {
    %0 = td.broadcast %b dims [3] : tensor<32xf32> -> tensor<?x4x4x32xf32>
    %1 = td.add %x, %0 : tensor<?x4x4x32xf32>
    %2 = td.reshape %1 : tensor<?x4x4x32xf32> -> tensor<?x512xf32>
    return %2 : tensor<?x512xf32>
  })";
  ExpectMatches(text, 1e-6);
  auto kernel = TestKernel::Create(text, "avx512");
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  EXPECT_EQ(Count((*kernel)->llvm_ir(), "urem"), 0) << (*kernel)->llvm_ir();
  EXPECT_EQ(Count((*kernel)->llvm_ir(), "udiv"), 0) << (*kernel)->llvm_ir();
}

TEST(LoopKernelTest, IndexMapsMatchReference) {
  ExpectMatches(
      R"(func.func private @maps(%x: tensor<?x3x5xf32>, %i: tensor<?xi64>) -> (tensor<?x5x3xf32>, tensor<?x4x5xf32>, tensor<?x2x3xf32>, tensor<?x15x2xf32>, tensor<?x6xf32>)
      attributes {td.kernel = "loop"} {
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

TEST(LoopKernelTest, MathIsAccurate) {
  for (const char* op : {"exp", "tanh", "sigmoid", "sqrt", "log"}) {
    std::string in = std::string(op) == "sqrt" || std::string(op) == "log" ? "td.mul %x, %x" : "td.add %x, %x";
    ExpectMatches(
        "func.func private @f(%x: tensor<?x19xf32>) -> tensor<?x19xf32> attributes {td.kernel = \"loop\"} {\n%0 = " +
            in + " : tensor<?x19xf32>\n%1 = td." + op + R"( %0 : tensor<?x19xf32>
      return %1 : tensor<?x19xf32> })",
        3e-6);
  }
}

TEST(OnceKernelTest, ScalarPowIsPrecise) {
  ExpectMatches(
      R"(func.func private @f(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> attributes {td.kernel = "once"} {
    %0 = td.mul %x, %x : tensor<f32>
    %1 = td.pow %0, %y : tensor<f32>
    return %1 : tensor<f32>
  })",
      1e-6);
}

TEST(OnceKernelTest, Float64UsesTheLibrary) {
  ExpectMatches(R"(func.func private @f(%x: tensor<?x3xf64>) -> tensor<?x3xf64> attributes {td.kernel = "loop"} {
    %0 = td.tanh %x : tensor<?x3xf64>
    %1 = td.exp %0 : tensor<?x3xf64>
    return %1 : tensor<?x3xf64>
  })",
                1e-14);
}

// On a GPU many blocks share the sums, and a second launch goes on with them.
TEST(OnceKernelTest, LargeSums) {
  const std::string text = R"(
  func.func private @norms(%x: tensor<301x257xf32>, %y: tensor<90xf32>, %s: tensor<f32>)
      -> (tensor<f32>, tensor<90xf32>, tensor<f32>) attributes {td.kernel = "once"} {
    %0 = td.mul %x, %x : tensor<301x257xf32>
    %1 = td.reduce "sum", %0 axes [0, 1] : tensor<301x257xf32> -> tensor<f32>
    %2 = td.reduce "max", %y axes [0] : tensor<90xf32> -> tensor<f32>
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
  EXPECT_EQ((*kernel)->gpu().launch.finish_grid, 1u);
}

TEST(OnceKernelTest, SumOfSquares) {
  std::string text = R"(func.func private @norm(%x: tensor<77x65xf32>) -> tensor<f32> attributes {td.kernel = "once"} {
    %0 = td.mul %x, %x : tensor<77x65xf32>
    %1 = td.reduce "sum", %0 axes [0, 1] : tensor<77x65xf32> -> tensor<f32>
    return %1 : tensor<f32>
  })";
  ExpectMatches(text, 1e-5, {1});
  auto kernel = TestKernel::Create(text, "avx512");
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  EXPECT_GT(Count((*kernel)->llvm_ir(), "x float>"), 0) << (*kernel)->llvm_ir();
  EXPECT_EQ(Count((*kernel)->llvm_ir(), "urem"), 0);
}

constexpr char kReluBiasGradient[] = R"(
func.func private @bias_grad(%y: tensor<?x5x6x32xf32>, %dy: tensor<?x5x6x32xf32>) -> (tensor<32xf32>, tensor<?x5x6x32xf32>)
    attributes {td.kernel = "col"} {
  %r = td.relu %y : tensor<?x5x6x32xf32>
  %m = td.mul %dy, %r : tensor<?x5x6x32xf32>
  %s = td.reduce "sum", %m axes [0, 1, 2] : tensor<?x5x6x32xf32> -> tensor<32xf32>
  return %s, %m : tensor<32xf32>, tensor<?x5x6x32xf32>
})";

TEST(ColKernelTest, SumWithBatchedExtraResult) {
  ExpectMatches(kReluBiasGradient, 1e-4, {0, 1, 2, 17});
  auto kernel = TestKernel::Create(kReluBiasGradient, "avx512");
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  EXPECT_GT(Count((*kernel)->llvm_ir(), "fadd <16 x float>"), 0) << (*kernel)->llvm_ir();
  EXPECT_EQ(Count((*kernel)->llvm_ir(), "gather"), 0);
}

TEST(ColKernelTest, EmptyBatchGivesZeros) {
  auto kernel = TestKernel::Create(kReluBiasGradient, "host");
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  std::mt19937 random(2);
  EXPECT_EQ((*kernel)->Run((*kernel)->RandomOperands(0, random), 0, {0, 0})[0], Bytes(32 * 4, 0));
}

TEST(ColKernelTest, OtherAxes) {
  ExpectMatches(
      R"(func.func private @f(%x: tensor<?x3x7xf32>) -> (tensor<3x7xf32>, tensor<7xf32>, tensor<3xf32>, tensor<f32>)
      attributes {td.kernel = "col"} {
    %0 = td.reduce "sum", %x axes [0] : tensor<?x3x7xf32> -> tensor<3x7xf32>
    %1 = td.reduce "max", %x axes [0, 1] : tensor<?x3x7xf32> -> tensor<7xf32>
    %2 = td.reduce "sum", %x axes [0, 2] : tensor<?x3x7xf32> -> tensor<3xf32>
    %3 = td.reduce "min", %x axes [0, 1, 2] : tensor<?x3x7xf32> -> tensor<f32>
    return %0, %1, %2, %3 : tensor<3x7xf32>, tensor<7xf32>, tensor<3xf32>, tensor<f32>
  })",
      1e-5);
}

// Softmax cross-entropy: loss, gradient, accuracy and their sums, all in one kernel.
TEST(ColKernelTest, CrossEntropyWithGradientAndMetrics) {
  ExpectMatches(R"(
func.func private @xent(%x: tensor<?x10xf32>, %label: tensor<?xi64>) -> (tensor<?x10xf32>, tensor<f32>, tensor<f32>, tensor<10xf32>)
    attributes {td.kernel = "col"} {
  %hot = td.one_hot %label : tensor<?xi64> -> tensor<?x10xf32>
  %m = td.reduce "max", %x axes [1] : tensor<?x10xf32> -> tensor<?xf32>
  %mb = td.broadcast %m dims [0] : tensor<?xf32> -> tensor<?x10xf32>
  %d = td.sub %x, %mb : tensor<?x10xf32>
  %e = td.exp %d : tensor<?x10xf32>
  %s = td.reduce "sum", %e axes [1] : tensor<?x10xf32> -> tensor<?xf32>
  %log = td.log %s : tensor<?xf32>
  %dh = td.mul %d, %hot : tensor<?x10xf32>
  %at = td.reduce "sum", %dh axes [1] : tensor<?x10xf32> -> tensor<?xf32>
  %loss = td.sub %log, %at : tensor<?xf32>
  %sb = td.broadcast %s dims [0] : tensor<?xf32> -> tensor<?x10xf32>
  %p = td.div %e, %sb : tensor<?x10xf32>
  %g = td.sub %p, %hot : tensor<?x10xf32>
  %best = td.argmax %x axis 1 : tensor<?x10xf32> -> tensor<?xi64>
  %eq = td.compare "eq", %best, %label : tensor<?xi64> -> tensor<?xi1>
  %hit = td.cast %eq : tensor<?xi1> -> tensor<?xf32>
  %total = td.reduce "sum", %loss axes [0] : tensor<?xf32> -> tensor<f32>
  %hits = td.reduce "sum", %hit axes [0] : tensor<?xf32> -> tensor<f32>
  %db = td.reduce "sum", %g axes [0] : tensor<?x10xf32> -> tensor<10xf32>
  return %g, %total, %hits, %db : tensor<?x10xf32>, tensor<f32>, tensor<f32>, tensor<10xf32>
})",
                1e-5);
}

}  // namespace
}  // namespace tandem

// Elementwise kernels (loop and flat) against the reference semantics of their ops.
#include <cmath>
#include <limits>

#include "graph/ir/dialect.h"
#include "gtest/gtest.h"
#include "mlir/Parser/Parser.h"
#include "passes/codegen/kernel_context.h"
#include "passes/codegen/kernel_test_util.h"
#include "passes/exec/dialect.h"

namespace tandem {
namespace {

constexpr char kRelu[] = R"(
func.func private @relu(%x: tensor<?x3x37xf32>) -> tensor<?x3x37xf32> attributes {exec.kernel = #exec.kernel_kind<loop>} {
  %0 = td.relu %x : tensor<?x3x37xf32>
  return %0 : tensor<?x3x37xf32>
})";

TEST(LoopKernelTest, MatchesReferenceForOddSizes) {
  for (const char* target : {"native", "gpu"}) {
    auto kernel = TestKernel::Create(kRelu, target);
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    std::mt19937 random(1);
    for (int64_t batch : {1, 2, 5, 17}) {
      auto error = (*kernel)->Error((*kernel)->RandomOperands(batch, random), batch);
      ASSERT_TRUE(error.ok()) << error.status();
      EXPECT_EQ(*error, 0) << target << " " << batch;
    }
  }
}

TEST(LoopKernelTest, SplitsGiveTheSameBits) {
  for (const char* target : {"native", "gpu"}) {
    auto kernel = TestKernel::Create(kRelu, target);
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    std::mt19937 random(2);
    auto operands = (*kernel)->RandomOperands(13, random);
    auto whole = (*kernel)->Run(operands, 13, {0, 13});
    EXPECT_EQ((*kernel)->Run(operands, 13, {0, 1, 1, 4, 11, 13}), whole) << target;
    EXPECT_TRUE((*kernel)->gpu_status().ok()) << (*kernel)->gpu_status();
  }
}

TEST(LoopKernelTest, EmptyRangeWritesNothing) {
  for (const char* target : {"native", "gpu"}) {
    auto kernel = TestKernel::Create(kRelu, target);
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    std::mt19937 random(3);
    auto result = (*kernel)->Run((*kernel)->RandomOperands(2, random), 2, {1, 1});
    EXPECT_EQ(result[0], Bytes(2 * 3 * 37 * 4, '\x7f')) << target;
  }
}

TEST(LoopKernelTest, NaNStaysNaN) {
  auto kernel = TestKernel::Create(kRelu, "native");
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  std::mt19937 random(4);
  auto operands = (*kernel)->RandomOperands(1, random);
  operands[0].values[5] = std::numeric_limits<double>::quiet_NaN();
  auto result = (*kernel)->Run(operands, 1, {0, 1});
  float values[111];
  std::memcpy(values, result[0].data(), sizeof(values));
  EXPECT_TRUE(std::isnan(values[5]));
  EXPECT_FALSE(std::isnan(values[4]));
}

// Kernels that compute the same value, one of which has another use for the product in it.
TEST(LoopKernelTest, AValueHasTheSameBitsInEveryKernel) {
  const std::string head = "func.func private @k(%x: tensor<?x37xf32>, %c: tensor<?x37xf32>) -> (";
  const std::string body = R"() attributes {exec.kernel = #exec.kernel_kind<loop>} {
  %p = td.mul %x, %x : tensor<?x37xf32>
  %s = td.add %p, %c : tensor<?x37xf32>
  return )";
  for (const char* target : {"native", "gpu"}) {
    auto alone = TestKernel::Create(head + "tensor<?x37xf32>" + body + "%s : tensor<?x37xf32>\n}", target);
    auto both = TestKernel::Create(
        head + "tensor<?x37xf32>, tensor<?x37xf32>" + body + "%p, %s : tensor<?x37xf32>, tensor<?x37xf32>\n}", target);
    ASSERT_TRUE(alone.ok() && both.ok()) << alone.status() << both.status();
    std::mt19937 random(6);
    const auto operands = (*alone)->RandomOperands(9, random);
    EXPECT_EQ((*alone)->Run(operands, 9, {0, 9})[0], (*both)->Run(operands, 9, {0, 9})[1]) << target;
  }
}

TEST(LoopKernelTest, CollapsesToOneVectorLoop) {
  auto kernel = TestKernel::Create(kRelu, "x86-64-v4");
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  EXPECT_NE((*kernel)->llvm_ir().find("<16 x float>"), std::string::npos) << (*kernel)->llvm_ir();
  EXPECT_EQ((*kernel)->llvm_ir().find("urem"), std::string::npos) << (*kernel)->llvm_ir();
}

TEST(LoopKernelTest, AliasedResultIsVectorised) {
  auto kernel = TestKernel::Create(R"(
    func.func private @inplace(%x: tensor<?xf32>) -> tensor<?xf32>
        attributes {exec.kernel = #exec.kernel_kind<flat>, exec.alias = array<i64: 0>} {
      %0 = td.relu %x : tensor<?xf32>
      return %0 : tensor<?xf32>
    })",
                                   "x86-64-v4");
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  EXPECT_TRUE(MayAlias((*kernel)->function(), 0, 0));
  EXPECT_NE((*kernel)->llvm_ir().find("<16 x float>"), std::string::npos) << (*kernel)->llvm_ir();
  EXPECT_EQ((*kernel)->llvm_ir().find("vector.memcheck"), std::string::npos) << (*kernel)->llvm_ir();
}

TEST(LoopKernelTest, ResultWithoutBatchIsAnError) {
  auto kernel = TestKernel::Create(R"(
    func.func private @bad(%x: tensor<3xf32>) -> tensor<3xf32> attributes {exec.kernel = #exec.kernel_kind<loop>} {
      %0 = td.relu %x : tensor<3xf32>
      return %0 : tensor<3xf32>
    })",
                                   "native");
  EXPECT_EQ(kernel.status().code(), absl::StatusCode::kInternal);
  EXPECT_NE(std::string(kernel.status().message()).find("no batch axis"), std::string::npos);
}

TEST(CompileTest, CompilesAllKernelsOfAModule) {
  mlir::MLIRContext context;
  context.loadDialect<td::TdDialect, exec::ExecDialect, mlir::func::FuncDialect>();
  std::string text;
  for (int i = 0; i < 5; ++i) {
    text += "func.func private @kernel_" + std::to_string(i) + R"((%x: tensor<?x)" + std::to_string(i + 1) +
            R"(xf32>) -> tensor<?x)" + std::to_string(i + 1) +
            R"(xf32> attributes {exec.kernel = #exec.kernel_kind<loop>} {
      %0 = td.relu %x : tensor<?x)" +
            std::to_string(i + 1) + "xf32>\n return %0 : tensor<?x" + std::to_string(i + 1) + "xf32> }\n";
  }
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  ASSERT_TRUE(module);
  auto target = CpuTargetByName("x86-64-v3");
  ASSERT_TRUE(target.ok());
  auto serial = CompileKernels(*module, *target, 1);
  auto parallel = CompileKernels(*module, *target, 3);
  ASSERT_TRUE(serial.ok() && parallel.ok()) << serial.status() << parallel.status();
  ASSERT_EQ(parallel->size(), 5);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ((*parallel)[i].name, "kernel_" + std::to_string(i));
    EXPECT_EQ((*parallel)[i].symbol, (*serial)[i].symbol);
    EXPECT_EQ((*parallel)[i].elf_object, (*serial)[i].elf_object);
    EXPECT_GT((*parallel)[i].seconds.total(), 0);
  }
}

TEST(CpuTargetTest, UnknownNameIsAnError) {
  EXPECT_EQ(CpuTargetByName("vax").status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace tandem

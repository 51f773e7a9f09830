// LLVM IR of kernels: from bitcode to text, and what damage is said to be.
#include "passes/codegen/kernel_ir.h"

#include <string>

#include "gmock/gmock.h"
#include "graph/ir/dialect.h"
#include "gtest/gtest.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "passes/codegen/compile.h"
#include "passes/codegen/cpu_target.h"
#include "passes/exec/dialect.h"

namespace tandem {
namespace {

using ::testing::HasSubstr;

// Bitcode of a kernel that applies `op` to its operand twice.
std::string Bitcode(const std::string& op) {
  mlir::MLIRContext context;
  context.loadDialect<td::TdDialect, exec::ExecDialect, mlir::func::FuncDialect>();
  const std::string text =
      "func.func private @k(%x: tensor<?x4xf32>) -> tensor<?x4xf32> attributes {exec.kernel = #exec.kernel_kind<loop>} "
      "{\n %0 = " +
      op + " %x, %x : tensor<?x4xf32>\n return %0 : tensor<?x4xf32> }\n";
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  auto compiled = CompileKernels(*module, *CpuTargetByName("x86-64-v4"), 1);
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  return compiled.ok() ? compiled->front().bitcode : "";
}

TEST(KernelIrTest, TextHoldsEveryKernelUnderItsName) {
  std::string all;
  AppendKernelIr("kernel_1", Bitcode("td.add"), &all);
  AppendKernelIr("a name", Bitcode("td.mul"), &all);
  absl::StatusOr<std::string> text = KernelIrText(all);
  ASSERT_TRUE(text.ok()) << text.status();
  const size_t second = text->find("; a name\n");
  ASSERT_NE(second, std::string::npos) << *text;
  EXPECT_EQ(text->rfind("; kernel_1\n", 0), 0u) << *text;
  EXPECT_THAT(text->substr(0, second), HasSubstr("fadd <16 x float>"));
  EXPECT_THAT(text->substr(second), HasSubstr("fmul <16 x float>"));
}

TEST(KernelIrTest, NoKernelsAreNoText) { EXPECT_EQ(*KernelIrText(""), ""); }

TEST(KernelIrTest, DamageIsAnError) {
  const std::string bitcode = Bitcode("td.add");
  std::string all;
  AppendKernelIr("kernel_1", bitcode, &all);
  for (const std::string& bytes : {all.substr(0, 5), all.substr(0, all.size() - 1), std::string("kernel_1 x\n"),
                                   "kernel_1 99999999999999999999\n" + bitcode, "kernel_1 4\nabcd" + all}) {
    EXPECT_EQ(KernelIrText(bytes).status().code(), absl::StatusCode::kDataLoss) << bytes.substr(0, 20);
  }
  EXPECT_THAT(std::string(KernelIrText("kernel_1 4\nabcd").status().message()), HasSubstr("kernel_1"));
}

}  // namespace
}  // namespace tandem

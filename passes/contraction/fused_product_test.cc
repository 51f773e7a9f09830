// Expanded products have the values of the product.
#include "passes/base/passes.h"

#include "graph/ir/contract.h"
#include "graph/ir/dialect.h"
#include "graph/reference/interpreter.h"
#include "gtest/gtest.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/exec/dialect.h"

namespace tandem {
namespace {

constexpr char kProgram[] = R"(
func.func @main(%x: tensor<?x3xf64>, %w: tensor<3x1xf64>, %y: tensor<?x1xf64>, %v: tensor<1x3xf64>)
    -> (tensor<?x1xf64>, tensor<?x1xf64>, tensor<?x3xf64>, tensor<?x3xf64>, tensor<3x1xf64>, tensor<1x3xf64>,
        tensor<1x1xf64>) {
  %0 = td.matmul %x, %w : tensor<?x3xf64>, tensor<3x1xf64> -> tensor<?x1xf64>
  %1 = td.matmul %x, %v {transpose_b = true} : tensor<?x3xf64>, tensor<1x3xf64> -> tensor<?x1xf64>
  %2 = td.matmul %y, %v : tensor<?x1xf64>, tensor<1x3xf64> -> tensor<?x3xf64>
  %3 = td.matmul %y, %w {transpose_b = true} : tensor<?x1xf64>, tensor<3x1xf64> -> tensor<?x3xf64>
  %4 = td.matmul %x, %y {transpose_a = true} : tensor<?x3xf64>, tensor<?x1xf64> -> tensor<3x1xf64>
  %5 = td.matmul %y, %x {transpose_a = true} : tensor<?x1xf64>, tensor<?x3xf64> -> tensor<1x3xf64>
  %6 = td.matmul %y, %y {transpose_a = true} : tensor<?x1xf64>, tensor<?x1xf64> -> tensor<1x1xf64>
  return %0, %1, %2, %3, %4, %5, %6
    : tensor<?x1xf64>, tensor<?x1xf64>, tensor<?x3xf64>, tensor<?x3xf64>, tensor<3x1xf64>, tensor<1x3xf64>,
      tensor<1x1xf64>
})";

TEST(FusedProduct, KeepsTheValues) {
  mlir::MLIRContext context;
  context.loadDialect<td::TdDialect, exec::ExecDialect, mlir::func::FuncDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(kProgram, &context);
  ASSERT_TRUE(module);
  InterpreterInputs in;
  in.batch = 2;
  in.arguments = {{DType::kFloat64, {2, 3}, {1, -2, 3, 0.5, 4, 7}},
                  {DType::kFloat64, {3, 1}, {2, 5, -1}},
                  {DType::kFloat64, {2, 1}, {3, -4}},
                  {DType::kFloat64, {1, 3}, {-6, 1, 8}}};
  auto before = Interpret(module->lookupSymbol<mlir::func::FuncOp>("main"), in);
  ASSERT_TRUE(before.ok()) << before.status();

  mlir::PassManager passes(&context);
  passes.addPass(createChooseContractionsPass());
  passes.addPass(createExpandContractionsPass());
  ASSERT_TRUE(mlir::succeeded(passes.run(*module)));
  module->walk([](td::MatMulOp op) { ADD_FAILURE() << "a td.matmul is left"; });
  auto after = Interpret(module->lookupSymbol<mlir::func::FuncOp>("main"), in);
  ASSERT_TRUE(after.ok()) << after.status();

  ASSERT_EQ(before->results.size(), 7);
  ASSERT_EQ(after->results.size(), 7);
  for (size_t r = 0; r < 7; ++r) {
    EXPECT_EQ(before->results[r].shape, after->results[r].shape);
    ASSERT_EQ(before->results[r].values.size(), after->results[r].values.size());
    for (size_t i = 0; i < before->results[r].values.size(); ++i) {
      EXPECT_NEAR(before->results[r].values[i], after->results[r].values[i], 1e-12) << "result " << r << ", " << i;
    }
  }
}

}  // namespace
}  // namespace tandem

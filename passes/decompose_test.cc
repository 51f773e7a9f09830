// Composite ops and what they fall apart into have the same values.
#include "passes/decompose.h"

#include "graph/interpreter/interpreter.h"
#include "graph/ir/dialect.h"
#include "graph/ir/interfaces.h"
#include "gtest/gtest.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

namespace tandem {
namespace {

constexpr char kProgram[] = R"(
func.func @main(%x: tensor<?x3xf64>, %labels: tensor<?x3xf64>, %index: tensor<?xi32>, %n: tensor<f64>)
    -> (tensor<?x3xf64>, tensor<?x3xf64>, tensor<?xf64>, tensor<?xf64>, tensor<3xf64>, tensor<3xf64>) {
  %0 = td.softmax %x : tensor<?x3xf64>
  %1 = td.log_softmax %x : tensor<?x3xf64>
  %2 = td.softmax_cross_entropy %labels, %x : tensor<?x3xf64>, tensor<?x3xf64> -> tensor<?xf64>
  %3 = td.sparse_softmax_cross_entropy %index, %x : tensor<?xi32>, tensor<?x3xf64> -> tensor<?xf64>
  %4, %5 = td.batch_moments %x, %n scope "replica" : tensor<?x3xf64>, tensor<f64> -> tensor<3xf64>, tensor<3xf64>
  return %0, %1, %2, %3, %4, %5
    : tensor<?x3xf64>, tensor<?x3xf64>, tensor<?xf64>, tensor<?xf64>, tensor<3xf64>, tensor<3xf64>
})";

TEST(Decompose, KeepsTheValues) {
  mlir::MLIRContext context;
  context.loadDialect<td::TdDialect, mlir::func::FuncDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(kProgram, &context);
  ASSERT_TRUE(module);
  InterpreterInputs in;
  in.batch = 3;
  // The second row overflows exp unless it is shifted, the third has equal maxima.
  in.arguments = {{DType::kFloat64, {3, 3}, {1, 2, 3, 1000, 1001, 998, -5, 4, 4}},
                  {DType::kFloat64, {3, 3}, {0.25, 0.25, 0.5, 0, 1, 0, 0.5, 0, 1}},
                  {DType::kInt32, {3}, {2, 0, 1}},
                  {DType::kFloat64, {}, {3}}};
  auto before = Interpret(module->lookupSymbol<mlir::func::FuncOp>("main"), in);
  ASSERT_TRUE(before.ok()) << before.status();

  mlir::PassManager passes(&context);
  passes.addPass(createDecomposePass());
  ASSERT_TRUE(mlir::succeeded(passes.run(*module)));
  module->walk([](td::DecomposeOp op) { ADD_FAILURE() << "left: " << op->getName().getStringRef().str(); });
  auto after = Interpret(module->lookupSymbol<mlir::func::FuncOp>("main"), in);
  ASSERT_TRUE(after.ok()) << after.status();

  ASSERT_EQ(before->results.size(), 6);
  ASSERT_EQ(after->results.size(), 6);
  for (size_t r = 0; r < 6; ++r) {
    EXPECT_EQ(before->results[r].shape, after->results[r].shape);
    ASSERT_EQ(before->results[r].values.size(), after->results[r].values.size());
    for (size_t i = 0; i < before->results[r].values.size(); ++i) {
      EXPECT_NEAR(before->results[r].values[i], after->results[r].values[i], 1e-9) << "result " << r << ", " << i;
    }
  }
}

}  // namespace
}  // namespace tandem

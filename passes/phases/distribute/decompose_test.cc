// Composite ops and what they fall apart into have the same values.
#include "passes/base/passes.h"

#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "graph/ir/dialect.h"
#include "graph/ir/interfaces.h"
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
func.func @main(%x: tensor<?x3xf64>, %labels: tensor<?x3xf64>, %index: tensor<?xi32>, %n: tensor<f64>)
    -> (tensor<?x3xf64>, tensor<?x3xf64>, tensor<?xf64>, tensor<?xf64>, tensor<3xf64>, tensor<3xf64>,
        tensor<?x3xf64>, tensor<?xf64>) {
  %0 = td.softmax %x : tensor<?x3xf64>
  %1 = td.log_softmax %x : tensor<?x3xf64>
  %2 = td.softmax_cross_entropy %labels, %x : tensor<?x3xf64>, tensor<?x3xf64> -> tensor<?xf64>
  %3 = td.sparse_softmax_cross_entropy %index, %x : tensor<?xi32>, tensor<?x3xf64> -> tensor<?xf64>
  %4, %5 = td.batch_moments %x, %n scope replica : tensor<?x3xf64>, tensor<f64> -> tensor<3xf64>, tensor<3xf64>
  %6, %7 = td.layer_norm %x epsilon 1.0e-3 : tensor<?x3xf64> -> tensor<?x3xf64>, tensor<?xf64>
  return %0, %1, %2, %3, %4, %5, %6, %7
    : tensor<?x3xf64>, tensor<?x3xf64>, tensor<?xf64>, tensor<?xf64>, tensor<3xf64>, tensor<3xf64>, tensor<?x3xf64>,
      tensor<?xf64>
})";

class Program {
 public:
  explicit Program(const char* text) {
    context_.loadDialect<td::TdDialect, exec::ExecDialect, mlir::func::FuncDialect>();
    module_ = mlir::parseSourceString<mlir::ModuleOp>(text, &context_);
    EXPECT_TRUE(module_);
  }

  // A pass that leaves no composite op.
  void Run(std::unique_ptr<mlir::Pass> pass) {
    mlir::PassManager passes(&context_);
    passes.addPass(std::move(pass));
    EXPECT_TRUE(mlir::succeeded(passes.run(*module_)));
    module_->walk([](td::DecomposeOp op) { ADD_FAILURE() << "left: " << op->getName().getStringRef().str(); });
  }
  auto Values(const InterpreterInputs& in) { return Interpret(module_->lookupSymbol<mlir::func::FuncOp>("main"), in); }

 private:
  mlir::MLIRContext context_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
};

TEST(Decompose, KeepsTheValues) {
  Program program(kProgram);
  InterpreterInputs in;
  in.batch = 3;
  // The second row overflows exp unless it is shifted, the third has equal maxima.
  in.arguments = {{DType::kFloat64, {3, 3}, {1, 2, 3, 1000, 1001, 998, -5, 4, 4}},
                  {DType::kFloat64, {3, 3}, {0.25, 0.25, 0.5, 0, 1, 0, 0.5, 0, 1}},
                  {DType::kInt32, {3}, {2, 0, 1}},
                  {DType::kFloat64, {}, {3}}};
  auto before = program.Values(in);
  ASSERT_TRUE(before.ok()) << before.status();

  program.Run(createDecomposePass());
  auto after = program.Values(in);
  ASSERT_TRUE(after.ok()) << after.status();

  ASSERT_EQ(before->results.size(), 8);
  ASSERT_EQ(after->results.size(), 8);
  for (size_t r = 0; r < 8; ++r) {
    EXPECT_EQ(before->results[r].shape, after->results[r].shape);
    ASSERT_EQ(before->results[r].values.size(), after->results[r].values.size());
    for (size_t i = 0; i < before->results[r].values.size(); ++i) {
      EXPECT_NEAR(before->results[r].values[i], after->results[r].values[i], 1e-9) << "result " << r << ", " << i;
    }
  }
}

// Of float32 elements whose mean is 10,000 deviations, against what the op is.
TEST(Decompose, MomentsOfOneReadAreThoseOfTwo) {
  constexpr char kMoments[] = R"(
module attributes {exec.config = #exec.config<devices = ["gpu:0"], machine_model = "h200", target = <backend = cuda>>} {
  func.func @main(%x: tensor<?x5x2xf32>, %n: tensor<f32>) -> (tensor<2xf32>, tensor<2xf32>) {
    %m, %v = td.batch_moments %x, %n scope replica : tensor<?x5x2xf32>, tensor<f32> -> tensor<2xf32>, tensor<2xf32>
    return %m, %v : tensor<2xf32>, tensor<2xf32>
  }
})";
  Program program(kMoments);
  InterpreterInputs in;
  in.batch = 4;
  in.arguments = {{DType::kFloat32, {4, 5, 2}, {}}, {DType::kFloat32, {}, {4}}};
  for (int i = 0; i < 20; ++i) {
    in.arguments[0].values.push_back(10000 + std::sin(i));
    in.arguments[0].values.push_back(7);  // of no variance
  }
  auto before = program.Values(in);
  ASSERT_TRUE(before.ok()) << before.status();
  program.Run(createSumMomentsAtOncePass());
  auto after = program.Values(in);
  ASSERT_TRUE(after.ok()) << after.status();
  for (int c = 0; c < 2; ++c) {
    EXPECT_NEAR(after->results[0].values[c], before->results[0].values[c], 1e-3);
    EXPECT_NEAR(after->results[1].values[c], before->results[1].values[c], 1e-6);
  }
}

// A masked class has the logit -inf: it counts nothing, in the loss and in the gradient.
TEST(Decompose, MaskedClassesGiveNoNaN) {
  constexpr char kMasked[] = R"(
func.func @main(%x: tensor<?x3xf64>, %labels: tensor<?x3xf64>, %index: tensor<?xi32>)
    -> (tensor<?x3xf64>, tensor<?xf64>, tensor<?xf64>) {
  %0 = td.softmax %x : tensor<?x3xf64>
  %1 = td.softmax_cross_entropy %labels, %x : tensor<?x3xf64>, tensor<?x3xf64> -> tensor<?xf64>
  %2 = td.sparse_softmax_cross_entropy %index, %x : tensor<?xi32>, tensor<?x3xf64> -> tensor<?xf64>
  return %0, %1, %2 : tensor<?x3xf64>, tensor<?xf64>, tensor<?xf64>
})";
  Program program(kMasked);
  program.Run(createDecomposePass());
  const double inf = std::numeric_limits<double>::infinity();
  InterpreterInputs in;
  in.batch = 2;
  in.arguments = {{DType::kFloat64, {2, 3}, {std::log(3), -inf, 0, -inf, -inf, 5}},
                  {DType::kFloat64, {2, 3}, {0.5, 0, 0.5, 0, 0, 1}},
                  {DType::kInt32, {2}, {0, 2}}};
  auto run = program.Values(in);
  ASSERT_TRUE(run.ok()) << run.status();
  const std::vector<std::vector<double>> want = {
      {0.75, 0, 0.25, 0, 0, 1}, {-0.5 * std::log(0.75) - 0.5 * std::log(0.25), 0}, {-std::log(0.75), 0}};
  for (size_t r = 0; r < want.size(); ++r) {
    ASSERT_EQ(run->results[r].values.size(), want[r].size());
    for (size_t i = 0; i < want[r].size(); ++i) {
      EXPECT_NEAR(run->results[r].values[i], want[r][i], 1e-12) << "result " << r << ", " << i;
    }
  }
}

}  // namespace
}  // namespace tandem

// Fused programs compute what their ops say: every launch is compiled and run, and the result compared with the
// reference semantics of the graph before fusion.
#include "absl/strings/str_replace.h"
#include "base/status_macros.h"
#include "graph/ir/dialect.h"
#include "gtest/gtest.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/base/passes.h"
#include "passes/codegen/kernel_test_util.h"
#include "passes/exec/dialect.h"

namespace tandem {
namespace {

class Fused {
 public:
  explicit Fused(const std::string& text) {
    context_.loadDialect<td::TdDialect, exec::ExecDialect, mlir::func::FuncDialect>();
    plain_ = mlir::parseSourceString<mlir::ModuleOp>(text, &context_);
    fused_ = mlir::parseSourceString<mlir::ModuleOp>(text, &context_);
    mlir::PassManager passes(&context_);
    passes.addPass(createFormFusionsPass());
    passes.addPass(createOutlineKernelsPass());
    ok_ = plain_ && fused_ && mlir::succeeded(passes.run(*fused_));
  }

  // Number of launches in the function; -1 when fusion failed.
  int Launches() {
    int n = 0;
    if (ok_) (*Main(*fused_)).walk([&](exec::LaunchOp) { ++n; });
    return ok_ ? n : -1;
  }

  // The largest relative error over all results, with kernels for `target`.
  absl::StatusOr<double> Error(int64_t batch, unsigned seed, const char* target) {
    mlir::func::FuncOp plain = Main(*plain_), fused = Main(*fused_);
    std::mt19937 random(seed);
    std::vector<td::RefTensor> operands = RandomTensors(plain.getArgumentTypes(), batch, random);
    td::RefContext context{.batch = batch};
    TD_ASSIGN_OR_RETURN(auto expected, EvaluateReference(plain, operands, context));
    llvm::DenseMap<mlir::Value, td::RefTensor> values;
    for (auto [argument, operand] : llvm::zip(fused.getArguments(), operands)) values[argument] = operand;
    for (mlir::Operation& op : fused.getBody().front().without_terminator()) {
      std::vector<td::RefTensor> inputs, results(op.getNumResults());
      for (mlir::Value v : op.getOperands()) inputs.push_back(values[v]);
      if (auto launch = mlir::dyn_cast<exec::LaunchOp>(op)) {
        auto kernel = fused_->lookupSymbol<mlir::func::FuncOp>(launch.getKernel());
        TD_ASSIGN_OR_RETURN(auto compiled, TestKernel::Create(kernel, target));
        std::vector<Shape> shapes;
        for (mlir::Type t : op.getResultTypes()) shapes.push_back(RunShape(t, batch));
        results = compiled->RunOnce(inputs, shapes, batch);
        TD_RETURN_IF_ERROR(compiled->gpu_status());
      } else {
        std::vector<const td::RefTensor*> pointers;
        for (const auto& t : inputs) pointers.push_back(&t);
        TD_RETURN_IF_ERROR(mlir::cast<td::ReferenceOp>(op).evaluate(pointers, context, results));
      }
      for (unsigned i = 0; i < results.size(); ++i) values[op.getResult(i)] = results[i];
    }
    std::vector<td::RefTensor> actual;
    for (mlir::Value v : fused.getBody().front().getTerminator()->getOperands()) actual.push_back(values[v]);
    return LargestError(actual, expected);
  }

 private:
  static mlir::func::FuncOp Main(mlir::ModuleOp module) { return module.lookupSymbol<mlir::func::FuncOp>("main"); }

  mlir::MLIRContext context_;
  mlir::OwningOpRef<mlir::ModuleOp> plain_, fused_;
  bool ok_ = false;
};

void ExpectFused(const std::string& text, int launches, double tolerance) {
  Fused fused(text);
  EXPECT_EQ(fused.Launches(), launches);
  ASSERT_GE(fused.Launches(), 0);
  for (const char* target : {"native", "gpu"}) {
    for (int64_t batch : {1, 7}) {
      auto error = fused.Error(batch, 3, target);
      ASSERT_TRUE(error.ok()) << error.status();
      EXPECT_LE(*error, tolerance) << target << ", batch " << batch;
    }
  }
}

TEST(FusionSemanticsTest, LayerNormWithParameterGradients) {
  ExpectFused(R"(
func.func @main(%x: tensor<?x6x16xf32>, %gamma: tensor<16xf32>, %dy: tensor<?x6x16xf32>)
    -> (tensor<?x6x16xf32>, tensor<16xf32>) {
  %n = td.constant dense<6.25e-2> : tensor<f32>
  %nb = td.broadcast %n dims [] : tensor<f32> -> tensor<?x6xf32>
  %s = td.reduce sum, %x axes [2] : tensor<?x6x16xf32> -> tensor<?x6xf32>
  %mean = td.mul %s, %nb : tensor<?x6xf32>
  %mb = td.broadcast %mean dims [0, 1] : tensor<?x6xf32> -> tensor<?x6x16xf32>
  %d = td.sub %x, %mb : tensor<?x6x16xf32>
  %sq = td.mul %d, %d : tensor<?x6x16xf32>
  %ss = td.reduce sum, %sq axes [2] : tensor<?x6x16xf32> -> tensor<?x6xf32>
  %var = td.mul %ss, %nb : tensor<?x6xf32>
  %r = td.rsqrt %var : tensor<?x6xf32>
  %rb = td.broadcast %r dims [0, 1] : tensor<?x6xf32> -> tensor<?x6x16xf32>
  %hat = td.mul %d, %rb : tensor<?x6x16xf32>
  %gb = td.broadcast %gamma dims [2] : tensor<16xf32> -> tensor<?x6x16xf32>
  %y = td.mul %hat, %gb : tensor<?x6x16xf32>
  %p = td.mul %hat, %dy : tensor<?x6x16xf32>
  %dgamma = td.reduce sum, %p axes [0, 1] : tensor<?x6x16xf32> -> tensor<16xf32>
  return %y, %dgamma : tensor<?x6x16xf32>, tensor<16xf32>
})",
              2, 1e-4);
}

TEST(FusionSemanticsTest, DiamondAroundAMatmul) {
  ExpectFused(R"(
func.func @main(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>, %b: tensor<8xf32>) -> (tensor<?x8xf32>, tensor<8xf32>, tensor<?x64xf32>) {
  %bb = td.broadcast %b dims [1] : tensor<8xf32> -> tensor<?x8xf32>
  %a = td.add %x, %bb : tensor<?x8xf32>
  %r = td.relu %a : tensor<?x8xf32>
  %t = td.tanh %r : tensor<?x8xf32>
  %z = td.matmul %t, %w : tensor<?x8xf32>, tensor<8x8xf32> -> tensor<?x8xf32>
  %g = td.mul %z, %r : tensor<?x8xf32>
  %s = td.reduce sum, %g axes [0] : tensor<?x8xf32> -> tensor<8xf32>
  %sb = td.broadcast %s dims [1] : tensor<8xf32> -> tensor<?x8xf32>
  %late = td.add %sb, %g : tensor<?x8xf32>
  %wide = td.broadcast %late dims [0, 2] : tensor<?x8xf32> -> tensor<?x8x8xf32>
  %flat = td.reshape %wide : tensor<?x8x8xf32> -> tensor<?x64xf32>
  return %g, %s, %flat : tensor<?x8xf32>, tensor<8xf32>, tensor<?x64xf32>
})",
              3, 1e-4);
}

TEST(FusionSemanticsTest, UpdatesAreFlatAndSeparate) {
  ExpectFused(R"(
func.func @main(%w: tensor<5x7xf32>, %m: tensor<5x7xf32>, %v: tensor<5x7xf32>, %g: tensor<5x7xf32>, %b: tensor<3xf32>,
                %db: tensor<3xf32>, %lr: tensor<f32>) -> (tensor<5x7xf32>, tensor<5x7xf32>, tensor<5x7xf32>, tensor<3xf32>) {
  %v2 = td.mul %v, %v : tensor<5x7xf32>
  %half = td.broadcast %lr dims [] : tensor<f32> -> tensor<5x7xf32>
  %scaled = td.mul %g, %half : tensor<5x7xf32>
  %0:3 = td.apply_adam %w, %m, %v2, %scaled, %lr {beta1 = 0.9, beta2 = 0.999, epsilon = 1.0e-3}
      : (tensor<5x7xf32>, tensor<5x7xf32>, tensor<5x7xf32>, tensor<5x7xf32>, tensor<f32>)
      -> (tensor<5x7xf32>, tensor<5x7xf32>, tensor<5x7xf32>)
  %1 = td.apply_sgd %b, %db, %lr : (tensor<3xf32>, tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  return %0#0, %0#1, %0#2, %1 : tensor<5x7xf32>, tensor<5x7xf32>, tensor<5x7xf32>, tensor<3xf32>
})",
              2, 1e-4);
}

// Bias, relu and pooling are one kernel; backward, the activation is computed again, and relu's, pooling's and the
// bias' gradients are one kernel.
TEST(FusionSemanticsTest, PoolingForwardAndBackward) {
  ExpectFused(R"(
func.func @main(%x: tensor<?x6x6x32xf32>, %b: tensor<32xf32>, %w: tensor<288x288xf32>) -> (tensor<?x6x6x32xf32>, tensor<32xf32>) {
  %bb = td.broadcast %b dims [3] : tensor<32xf32> -> tensor<?x6x6x32xf32>
  %a = td.add %x, %bb : tensor<?x6x6x32xf32>
  %r = td.relu %a : tensor<?x6x6x32xf32>
  %p = td.max_pool %r window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x6x6x32xf32> -> tensor<?x3x3x32xf32>
  %f = td.reshape %p : tensor<?x3x3x32xf32> -> tensor<?x288xf32>
  %z = td.matmul %f, %w : tensor<?x288xf32>, tensor<288x288xf32> -> tensor<?x288xf32>
  %dy = td.reshape %z : tensor<?x288xf32> -> tensor<?x3x3x32xf32>
  %g = td.max_pool_grad %r, %dy window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x6x6x32xf32>, tensor<?x3x3x32xf32> -> tensor<?x6x6x32xf32>
  %m = td.mul %g, %r : tensor<?x6x6x32xf32>
  %db = td.reduce sum, %m axes [0, 1, 2] : tensor<?x6x6x32xf32> -> tensor<32xf32>
  return %m, %db : tensor<?x6x6x32xf32>, tensor<32xf32>
})",
              2, 1e-3);
}

// A convolution of few taps, its bias, relu and pooling with the places of the maxima are one kernel; backward, the
// gradients of pooling, bias and filter are one, and the convolution's own gradient is not stored.
TEST(FusionSemanticsTest, DirectConvolutionForwardAndBackward) {
  for (const char* pads : {"low [0, 0] high [2, 2]", "low [1, 1] high [1, 1]"}) {
    ExpectFused(absl::StrReplaceAll(R"(
func.func @main(%x: tensor<?x9x8x1xf32>, %k: tensor<3x3x1x16xf32>, %b: tensor<16xf32>, %w: tensor<256x256xf32>)
    -> (tensor<3x3x1x16xf32>, tensor<16xf32>) {
  %y = exec.contraction conv2d %x, %k by few_taps strides [1, 1] PADS : (tensor<?x9x8x1xf32>, tensor<3x3x1x16xf32>) -> tensor<?x9x8x16xf32>
  %bb = td.broadcast %b dims [3] : tensor<16xf32> -> tensor<?x9x8x16xf32>
  %a = td.add %y, %bb : tensor<?x9x8x16xf32>
  %r = td.relu %a : tensor<?x9x8x16xf32>
  %p = td.max_pool %r window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x9x8x16xf32> -> tensor<?x4x4x16xf32>
  %i = td.max_pool_argmax %r window [2, 2] strides [2, 2] low [0, 0] high [0, 0] {positive = true} : tensor<?x9x8x16xf32> -> tensor<?x4x4x16xui8>
  %f = td.reshape %p : tensor<?x4x4x16xf32> -> tensor<?x256xf32>
  %z = td.matmul %f, %w : tensor<?x256xf32>, tensor<256x256xf32> -> tensor<?x256xf32>
  %dp = td.reshape %z : tensor<?x256xf32> -> tensor<?x4x4x16xf32>
  %dy = td.max_pool_argmax_grad %i, %dp size [9, 8] window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x4x4x16xui8>, tensor<?x4x4x16xf32> -> tensor<?x9x8x16xf32>
  %db = td.reduce sum, %dy axes [0, 1, 2] : tensor<?x9x8x16xf32> -> tensor<16xf32>
  %dk = exec.contraction conv2d_filter_grad %dy, %x by few_taps size [3, 3] strides [1, 1] PADS : (tensor<?x9x8x16xf32>, tensor<?x9x8x1xf32>) -> tensor<3x3x1x16xf32>
  return %dk, %db : tensor<3x3x1x16xf32>, tensor<16xf32>
})",
                                    {{"PADS", pads}}),
                2, 1e-3);
  }
}

TEST(FusionSemanticsTest, DirectConvolutionWithStridesAndTwoChannels) {
  ExpectFused(R"(
func.func @main(%x: tensor<?x9x8x2xf32>, %k: tensor<2x3x2x24xf32>, %dy: tensor<?x5x4x24xf32>)
    -> (tensor<?x5x4x24xf32>, tensor<2x3x2x24xf32>) {
  %y = exec.contraction conv2d %x, %k by few_taps strides [2, 2] low [1, 0] high [0, 1] : (tensor<?x9x8x2xf32>, tensor<2x3x2x24xf32>) -> tensor<?x5x4x24xf32>
  %m = td.mul %y, %dy : tensor<?x5x4x24xf32>
  %dk = exec.contraction conv2d_filter_grad %dy, %x by few_taps size [2, 3] strides [2, 2] low [1, 0] high [0, 1] : (tensor<?x5x4x24xf32>, tensor<?x9x8x2xf32>) -> tensor<2x3x2x24xf32>
  return %m, %dk : tensor<?x5x4x24xf32>, tensor<2x3x2x24xf32>
})",
              1, 1e-4);
}

// A bias per place is summed in other columns than the taps are.
TEST(FusionSemanticsTest, FilterGradientAndBiasOfPlaces) {
  ExpectFused(R"(
func.func @main(%x: tensor<?x9x8x1xf32>, %y: tensor<?x7x6x16xf32>, %z: tensor<?x7x6x16xf32>)
    -> (tensor<3x3x1x16xf32>, tensor<7x6x16xf32>, tensor<16xf32>) {
  %dy = td.mul %y, %z : tensor<?x7x6x16xf32>
  %places = td.reduce sum, %dy axes [0] : tensor<?x7x6x16xf32> -> tensor<7x6x16xf32>
  %channels = td.reduce sum, %dy axes [0, 1, 2] : tensor<?x7x6x16xf32> -> tensor<16xf32>
  %dk = exec.contraction conv2d_filter_grad %dy, %x by few_taps size [3, 3] strides [1, 1] low [0, 0] high [0, 0] : (tensor<?x7x6x16xf32>, tensor<?x9x8x1xf32>) -> tensor<3x3x1x16xf32>
  return %dk, %places, %channels : tensor<3x3x1x16xf32>, tensor<7x6x16xf32>, tensor<16xf32>
})",
              2, 1e-4);
}

// Three images under one gradient, of 27 taps each: two share a kernel.
TEST(FusionSemanticsTest, MoreTapsThanAThreadSumsUp) {
  ExpectFused(R"(
func.func @main(%a: tensor<?x5x6x3xf32>, %b: tensor<?x5x6x3xf32>, %c: tensor<?x5x6x3xf32>, %dy: tensor<?x5x6x16xf32>)
    -> (tensor<3x3x3x16xf32>, tensor<3x3x3x16xf32>, tensor<3x3x3x16xf32>) {
  %da = exec.contraction conv2d_filter_grad %dy, %a by few_taps size [3, 3] strides [1, 1] low [1, 1] high [1, 1] : (tensor<?x5x6x16xf32>, tensor<?x5x6x3xf32>) -> tensor<3x3x3x16xf32>
  %db = exec.contraction conv2d_filter_grad %dy, %b by few_taps size [3, 3] strides [1, 1] low [1, 1] high [1, 1] : (tensor<?x5x6x16xf32>, tensor<?x5x6x3xf32>) -> tensor<3x3x3x16xf32>
  %dc = exec.contraction conv2d_filter_grad %dy, %c by few_taps size [3, 3] strides [1, 1] low [1, 1] high [1, 1] : (tensor<?x5x6x16xf32>, tensor<?x5x6x3xf32>) -> tensor<3x3x3x16xf32>
  return %da, %db, %dc : tensor<3x3x3x16xf32>, tensor<3x3x3x16xf32>, tensor<3x3x3x16xf32>
})",
              2, 1e-4);
}

}  // namespace
}  // namespace tandem

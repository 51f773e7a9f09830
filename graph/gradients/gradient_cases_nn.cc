// Cases for contractions, softmax, cross-entropies and batch moments.
#include "graph/gradients/gradient_cases.h"

namespace tandem {
namespace {

// Returns the case of a function with one op, `expr`, on %x of type `from` and the arguments in `more_arguments`.
GradientCase Case(const std::string& op, const std::string& expr, const std::string& from, const std::string& to,
                  const std::string& more_arguments = "") {
  return {.op = "td." + op,
          .function = "func.func @main(%x: " + from + more_arguments + ") -> " + to + " {\n  %y = td." + expr +
                      "\n  return %y : " + to + "\n}"};
}

GradientCase MatMul(const std::string& a, const std::string& b, const std::string& to, bool ta, bool tb) {
  std::string attrs =
      std::string(" {transpose_a = ") + (ta ? "true" : "false") + ", transpose_b = " + (tb ? "true" : "false") + "} : ";
  return Case("matmul", "matmul %x, %b" + attrs + a + ", " + b + " -> " + to, a, to, ", %b: " + b);
}

// Returns a case that differentiates both operands (types `a` and `b`) of a convolution, or of one of its gradients.
// `window` is the text of strides, pads and, where the op has it, the window's size.
GradientCase Conv(const std::string& op, const std::string& window, const std::string& a, const std::string& b,
                  const std::string& to) {
  return Case(op, op + " %x, %b " + window + " : " + a + ", " + b + " -> " + to, a, to, ", %b: " + b);
}

// Returns a case that differentiates both operands of a td.batch_matmul. `set` names the attributes that are true.
GradientCase BatchMatMul(const std::string& a, const std::string& b, const std::string& to,
                         const std::vector<std::string>& set) {
  std::string attrs;
  for (const std::string& flag : set) attrs += (attrs.empty() ? " {" : ", ") + flag + " = true";
  if (!attrs.empty()) attrs += "}";
  return Case("batch_matmul", "batch_matmul %x, %b" + attrs + " : " + a + ", " + b + " -> " + to, a, to, ", %b: " + b);
}

const char kOdd[] = "strides [2, 1] low [0, 1] high [1, 1]";

const bool kContract = AddGradientCases({
    MatMul("tensor<?x3xf64>", "tensor<3x2xf64>", "tensor<?x2xf64>", false, false),
    MatMul("tensor<?x3xf64>", "tensor<2x3xf64>", "tensor<?x2xf64>", false, true),
    MatMul("tensor<?x3xf64>", "tensor<?x2xf64>", "tensor<3x2xf64>", true, false),
    MatMul("tensor<4x3xf64>", "tensor<2x4xf64>", "tensor<3x2xf64>", true, true),
    MatMul("tensor<?x2x3xf64>", "tensor<3x2xf64>", "tensor<?x2x2xf64>", false, false),
    MatMul("tensor<?x2x3xf64>", "tensor<2x3xf64>", "tensor<?x2x2xf64>", false, true),
    MatMul("tensor<?x2x3xf64>", "tensor<?x2x2xf64>", "tensor<3x2xf64>", true, false),
    BatchMatMul("tensor<?x2x3xf64>", "tensor<?x3x4xf64>", "tensor<?x2x4xf64>", {}),
    BatchMatMul("tensor<2x2x3xf64>", "tensor<2x4x3xf64>", "tensor<2x2x4xf64>", {"transpose_b"}),
    BatchMatMul("tensor<?x2x3x2xf64>", "tensor<?x2x3x4xf64>", "tensor<?x2x2x4xf64>", {"transpose_a"}),
    BatchMatMul("tensor<?x2x3x2xf64>", "tensor<?x2x4x3xf64>", "tensor<?x2x2x4xf64>", {"transpose_a", "transpose_b"}),
    BatchMatMul("tensor<?x3x2x4xf64>", "tensor<?x5x2x4xf64>", "tensor<?x2x3x5xf64>",
                {"swap_a", "swap_b", "transpose_b"}),
    BatchMatMul("tensor<?x2x3x5xf64>", "tensor<?x5x2x4xf64>", "tensor<?x3x2x4xf64>", {"swap_b", "swap_output"}),
    BatchMatMul("tensor<?x5x2x3xf64>", "tensor<?x2x4x5xf64>", "tensor<?x3x2x4xf64>",
                {"swap_a", "transpose_a", "transpose_b", "swap_output"}),
    Conv("conv2d", "strides [1, 1] low [0, 0] high [0, 0]", "tensor<?x4x5x2xf64>", "tensor<3x2x2x3xf64>",
         "tensor<?x2x4x3xf64>"),
    Conv("conv2d", kOdd, "tensor<?x4x4x2xf64>", "tensor<3x3x2x2xf64>", "tensor<?x2x4x2xf64>"),
    Conv("conv2d_input_grad", std::string("size [4, 4] ") + kOdd, "tensor<?x2x4x2xf64>", "tensor<3x3x2x2xf64>",
         "tensor<?x4x4x2xf64>"),
    Conv("conv2d_filter_grad", std::string("size [3, 3] ") + kOdd, "tensor<?x4x4x2xf64>", "tensor<?x2x4x2xf64>",
         "tensor<3x3x2x2xf64>"),
    Conv("depthwise_conv2d", "strides [1, 1] low [1, 1] high [1, 1]", "tensor<?x4x5x3xf64>", "tensor<3x2x1x3xf64>",
         "tensor<?x4x6x3xf64>"),
    Conv("depthwise_conv2d", kOdd, "tensor<?x4x4x2xf64>", "tensor<3x3x1x4xf64>", "tensor<?x2x4x4xf64>"),
    Conv("depthwise_conv2d_input_grad", std::string("size [4, 4, 2] ") + kOdd, "tensor<?x2x4x4xf64>",
         "tensor<3x3x1x4xf64>", "tensor<?x4x4x2xf64>"),
    Conv("depthwise_conv2d_filter_grad", std::string("size [3, 3] ") + kOdd, "tensor<?x2x4x4xf64>",
         "tensor<?x4x4x2xf64>", "tensor<3x3x1x4xf64>"),
});

const bool kNorm = AddGradientCases({
    Case("softmax", "softmax %x : tensor<?x4xf64>", "tensor<?x4xf64>", "tensor<?x4xf64>"),
    Case("softmax", "softmax %x : tensor<2x3x4xf64>", "tensor<2x3x4xf64>", "tensor<2x3x4xf64>"),
    Case("log_softmax", "log_softmax %x : tensor<?x4xf64>", "tensor<?x4xf64>", "tensor<?x4xf64>"),
    {.op = "td.layer_norm",
     .function = R"(func.func @main(%x: tensor<?x2x4xf64>) -> (tensor<?x2x4xf64>, tensor<?x2xf64>) {
       %y, %r = td.layer_norm %x epsilon 1.0e-2 : tensor<?x2x4xf64> -> tensor<?x2x4xf64>, tensor<?x2xf64>
       return %y, %r : tensor<?x2x4xf64>, tensor<?x2xf64>
     })"},
    {.op = "td.layer_norm", .function = R"(func.func @main(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
       %y, %r = td.layer_norm %x epsilon 1.0e-2 : tensor<3x4xf32> -> tensor<3x4xf32>, tensor<3xf32>
       return %y : tensor<3x4xf32>
     })"},
    {.op = "td.softmax_cross_entropy",
     .function = R"(func.func @main(%x: tensor<?x4xf64>, %l: tensor<?x4xf64>) -> tensor<?xf64> {
       %y = td.softmax_cross_entropy %l, %x : tensor<?x4xf64>, tensor<?x4xf64> -> tensor<?xf64>
       return %y : tensor<?xf64>
     })"},
    Case("sparse_softmax_cross_entropy",
         "sparse_softmax_cross_entropy %l, %x : tensor<?xi64>, tensor<?x3xf64> -> tensor<?xf64>", "tensor<?x3xf64>",
         "tensor<?xf64>", ", %l: tensor<?xi64>"),
    {.op = "td.batch_moments", .function = R"(func.func @main(%x: tensor<?x2x3xf64>) -> (tensor<3xf64>, tensor<3xf64>) {
       %n = td.constant dense<3.0> : tensor<f64>
       %m, %v = td.batch_moments %x, %n scope replica
         : tensor<?x2x3xf64>, tensor<f64> -> tensor<3xf64>, tensor<3xf64>
       return %m, %v : tensor<3xf64>, tensor<3xf64>
     })"},
    {.op = "td.batch_moments", .function = R"(func.func @main(%x: tensor<4x3xf64>) -> tensor<3xf64> {
       %n = td.constant dense<4.0> : tensor<f64>
       %m, %v = td.batch_moments %x, %n scope global
         : tensor<4x3xf64>, tensor<f64> -> tensor<3xf64>, tensor<3xf64>
       return %v : tensor<3xf64>
     })"},
    {.op = "td.cross_replica", .function = R"(func.func @main(%x: tensor<3xf64>) -> (tensor<3xf64>, tensor<3xf64>) {
       %s = td.cross_replica sum %x : tensor<3xf64>
       %m = td.cross_replica mean %x : tensor<3xf64>
       return %s, %m : tensor<3xf64>, tensor<3xf64>
     })"},
});

}  // namespace
}  // namespace tandem
